//! Samples chosen by names: of threads and binaries, as they were at the time of the sample.

use crate::lineage::Needed;
use crate::role::Role;
use perffile::wire::record::kind;
use perffile::{Event, Ordering, Recording, Result};
use readperf_session::{Moment, SampleMoment, Session};
use rustc_hash::FxHashSet;

/// Which samples stay, by names. Lists that are empty let everything through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of threads.
    pub comms: Vec<Box<[u8]>>,
    /// Short names or paths of the binaries that samples were taken in.
    pub dsos: Vec<Box<[u8]>>,
}

impl Names {
    /// Whether all pass.
    pub fn is_open(&self) -> bool {
        self.comms.is_empty() && self.dsos.is_empty()
    }

    fn passes(&self, session: &Session, sample: &SampleMoment<'_>) -> bool {
        let binary = || session.binary(sample.code(session).binary?);
        let among = |list: &[Box<[u8]>], name: &[u8]| list.iter().any(|wanted| **wanted == *name);
        (self.comms.is_empty() || among(&self.comms, session.comm(sample.comm)))
            && (self.dsos.is_empty()
                || binary().is_some_and(|binary| {
                    among(&self.dsos, &binary.short_name) || among(&self.dsos, &binary.name)
                }))
    }

    /// The samples of a recording that pass, and the processes that they need something of: all of it is read for that.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn choose(&self, recording: &Recording) -> Result<Chosen> {
        let mut session = Session::new(recording.metadata());
        let (mut chosen, mut told, mut needed) = (Chosen::default(), 0, Needed::default());
        let mut batches = recording.batches(Ordering::Time)?;
        while let Some(batch) = batches.next() {
            let features = &batches.metadata().features;
            // Build-ids of a pipe may come at any time; names do not depend on what is told twice.
            let bits = features.bits().count();
            if bits != std::mem::replace(&mut told, bits) {
                session.learn(features);
            }
            let first = batch.schema().events().first();
            let is_ordered = first.is_none_or(|event| event.layout.shape().sample_id_all);
            for event in batch.iter() {
                if let Role::State { pid, parent: Some(parent) } = Role::of(&event) {
                    needed.fork(pid, parent);
                }
                if let Moment::Sample(sample) = session.apply(&event)
                    && event.head().kind == kind::SAMPLE
                    && self.passes(&session, &sample)
                {
                    chosen.add(event.index());
                    needed.add(sample.sample.pid().filter(|_| is_ordered));
                }
            }
        }
        chosen.pids = needed.pids();
        Ok(chosen)
    }
}

/// Samples, and what they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// The numbers of their records, a bit each.
    words: Vec<u64>,
    /// The processes that they need something of, if that is not all.
    pids: Option<FxHashSet<u32>>,
}

impl Chosen {
    fn add(&mut self, index: u64) {
        let Ok(at) = usize::try_from(index / 64) else { return };
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (index % 64);
        }
    }

    /// Whether a record that is no sample says something of a process that they need nothing of.
    pub(crate) fn has_no_need_of(&self, event: &Event<'_>) -> bool {
        let Some(pids) = &self.pids else { return false };
        let pid = match Role::of(event) {
            Role::State { pid, .. } => Some(pid),
            Role::Mark { of_thread: true } => event.sample_id().and_then(|id| id.pid),
            _ => None,
        };
        pid.is_some_and(|pid| !pids.contains(&pid))
    }

    /// Whether the record with this number is one of them.
    pub fn has(&self, index: u64) -> bool {
        let word = usize::try_from(index / 64).ok().and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}
