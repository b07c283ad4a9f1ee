//! What is known of a recording that is to be merged with others.

use super::kernels::KernelMap;
use super::{Error, Source};
use crate::role::Role;
use perffile::wire::attr::AttrFlags;
use perffile::wire::record::kind;
use perffile::write::{Gathered, Head};
use perffile::{ByteOrder, Issues, Metadata, Ordering, Recording, Result};

/// What is known of a recording that is to be merged with others.
#[derive(Debug)]
pub struct Survey {
    pub(super) head: Head,
    pub(super) metadata: Metadata,
    pub(super) left_out: Issues,
    pub(super) kernel: Vec<KernelMap>,
    pub(super) highest_pid: u32,
    /// Whether mappings of user code are told by MMAP, which has no room for a build-id.
    pub(super) has_old_maps: bool,
    /// First and last time of a sample, ns.
    pub(super) times_ns: Option<(u64, u64)>,
    pub(super) traces: u64,
    pub(super) counts: u64,
}

impl Survey {
    /// Reads a recording that can be read again. Its features are kept in this byte order. `progress` is told how many bytes were
    /// walked of how many.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn of(
        recording: &Recording,
        order: ByteOrder,
        mut progress: impl FnMut((u64, u64)),
    ) -> Result<Survey> {
        let mut gathered = Gathered::new(recording.metadata());
        let (mut kernel, mut highest_pid, mut times_ns) = (Vec::new(), 0, None::<(u64, u64)>);
        let (mut traces, mut counts, mut has_old_maps) = (0, 0, false);
        let mut batches = recording.batches(Ordering::Time)?;
        while let Some(batch) = batches.next() {
            for event in batch.iter().filter(|event| !gathered.takes(event)) {
                match Role::of(&event) {
                    Role::Sample => {
                        let pid =
                            event.sample().and_then(|sample| sample.pid()).filter(|pid| *pid != u32::MAX);
                        highest_pid = highest_pid.max(pid.unwrap_or(0));
                        if let Some(time) = event.time().filter(|_| !event.has_stray_time()) {
                            let (first, last) = times_ns.unwrap_or((time, time));
                            times_ns = Some((first.min(time), last.max(time)));
                        }
                    }
                    Role::State { pid, parent } => {
                        highest_pid = highest_pid.max(pid).max(parent.unwrap_or(0));
                        has_old_maps |= event.head().kind == kind::MMAP;
                    }
                    Role::Common => kernel.extend(KernelMap::of(&event)),
                    Role::Trace => traces += 1,
                    Role::Mark { .. } => counts += u64::from(event.head().kind == kind::STAT),
                    Role::Round => {}
                }
            }
            progress(batches.progress());
        }
        let metadata = batches.metadata().clone();
        let (head, left_out) = gathered.head(&metadata, order)?;
        Ok(Survey { head, metadata, left_out, kernel, highest_pid, has_old_maps, times_ns, traces, counts })
    }

    /// What is known of the recording, all of it read.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What it says of itself and cannot be said in the other byte order.
    pub fn left_out(&self) -> &Issues {
        &self.left_out
    }

    /// Records of AUX traces, which are left out: those of several recordings cannot be one.
    pub fn traces(&self) -> u64 {
        self.traces
    }

    /// Whether it has no addresses of the kernel.
    pub(super) fn is_of_user_code(&self) -> bool {
        self.metadata.schema.events().iter().all(|event| event.attr.flags.has(AttrFlags::exclude_kernel))
    }

    /// Whether all of its records say when they were written.
    pub(super) fn is_timed(&self) -> bool {
        let flags = |event: &perffile::EventDescription| event.attr.flags.has(AttrFlags::sample_id_all);
        self.metadata.schema.events().iter().all(flags)
    }

    /// Whether both are of the same boot of the same machine, as far as host name and place of the kernel tell. Without a name of the
    /// host nothing is known.
    pub(super) fn is_of_one_machine(&self, other: &Survey) -> bool {
        let (own, its) = (&self.head.features, &other.head.features);
        let place = |kernel: &'_ [KernelMap]| -> Option<u64> {
            kernel.iter().find_map(KernelMap::reference).map(|told| told.1)
        };
        let (here, there) = (place(&self.kernel), place(&other.kernel));
        own.hostname().is_some()
            && own.hostname() == its.hostname()
            && own.osrelease() == its.osrelease()
            && (here == there || here.is_none() || there.is_none())
    }
}

/// Refuses what cannot become one recording.
pub(super) fn check(sources: &[Source<'_>]) -> std::result::Result<(), Error> {
    let refused = |why: String| Err(Error::Refused(why));
    let Some(first) = sources.first() else { return refused("there is nothing to merge".to_owned()) };
    for source in sources {
        let survey = source.survey;
        let of = |survey: &Survey| survey.head.features.arch().map(|arch| arch.into_owned());
        if survey.counts > 0 {
            return refused(format!(
                "{}: a recording of `perf stat record` has counts of a run, which cannot be added to those of another",
                source.name
            ));
        }
        if let (Some(arch), Some(other)) = (of(first.survey), of(survey))
            && arch != other
        {
            return refused(format!(
                "{} is of {arch}, {} of {other}: a recording is of one architecture",
                first.name, source.name
            ));
        }
        if survey.is_timed() != first.survey.is_timed() {
            let (with, without) = if survey.is_timed() { (source, first) } else { (first, source) };
            return refused(format!(
                "all records of {} say when they were written (sample_id_all), those of {} do not: a recording has one or the other",
                with.name, without.name
            ));
        }
    }
    Ok(())
}
