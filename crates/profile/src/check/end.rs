//! What a concern is shown at the end.

use perffile::wire::record::{USER_RECORDS, kind};
use perffile::{Event, EventDescription, Issues, Metadata};
use readperf_session::{Binary, Moment, Session};
use std::time::Duration;

/// Says of binaries, each with an address of it that was sampled, why its names cannot be found here; `None` where they can,
/// or where that is nobody's fault. One answer a binary, in the same order.
pub type NameLookup<'a> = dyn Fn(&[(&Binary, u64)], &Session, &Metadata) -> Vec<Option<String>> + 'a;

/// A file in which a process dumped the code that it generated, of which not all can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusedDump {
    /// Its path, as recorded.
    pub path: String,
    /// What of it is not used, and why: a phrase each.
    pub what: Vec<String>,
    /// Whether it was found and read.
    pub is_here: bool,
}

/// Says of which files that processes dumped their generated code in not all can be used.
pub type DumpLookup<'a> = dyn Fn(&Session, &Metadata) -> Vec<UnusedDump> + 'a;

/// What is known of a recording besides its bytes.
#[derive(Clone, Default)]
pub struct CheckSurroundings<'a> {
    /// How long ago the file was written last; `None` where that is not known.
    pub written_ago: Option<Duration>,
    /// Where to ask for names; `None` if nothing is to be looked up.
    pub names: Option<&'a NameLookup<'a>>,
    /// Where to ask for what processes dumped of their generated code; `None` if nothing is to be looked up.
    pub dumps: Option<&'a DumpLookup<'a>>,
}

impl std::fmt::Debug for CheckSurroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckSurroundings").field("written_ago", &self.written_ago).finish_non_exhaustive()
    }
}

/// Sums over all records.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Records of any type, samples included.
    pub(crate) records: u64,
    /// Records of the kernel, samples included.
    pub(crate) kernel_records: u64,
    /// Samples, usable or not.
    pub(crate) samples: u64,
    /// Usable samples by event.
    by_event: Vec<u64>,
    /// Times of the first and the last usable sample, ns.
    times_ns: Option<(u64, u64)>,
}

impl Totals {
    pub(crate) fn add(&mut self, event: &Event<'_>, moment: &Moment<'_>) {
        self.records += 1;
        let number = event.head().kind;
        self.kernel_records += u64::from(number < USER_RECORDS);
        self.samples += u64::from(number == kind::SAMPLE);
        let Moment::Sample(sample) = moment else { return };
        if self.by_event.len() <= sample.event {
            self.by_event.resize(sample.event + 1, 0);
        }
        if let Some(count) = self.by_event.get_mut(sample.event) {
            *count += 1;
        }
        if sample.is_timed {
            let (first, last) = self.times_ns.unwrap_or((sample.time_ns, sample.time_ns));
            self.times_ns = Some((first.min(sample.time_ns), last.max(sample.time_ns)));
        }
    }

    /// Usable samples of the event with this index.
    pub(crate) fn of_event(&self, index: usize) -> u64 {
        self.by_event.get(index).copied().unwrap_or_default()
    }

    /// From the first sample to the last, ns.
    pub(crate) fn span_ns(&self) -> u64 {
        self.times_ns.map_or(0, |(first, last)| last - first)
    }
}

/// A recording, all of it seen.
pub(crate) struct End<'a> {
    /// Events and features, as known at the end.
    pub(crate) metadata: &'a Metadata,
    pub(crate) session: &'a Session,
    /// What could not be read.
    pub(crate) issues: &'a Issues,
    pub(crate) totals: &'a Totals,
    pub(crate) surroundings: &'a CheckSurroundings<'a>,
}

impl<'a> End<'a> {
    pub(crate) fn events(&self) -> &'a [EventDescription] {
        self.metadata.schema.events()
    }

    /// Events that have samples, with how many.
    pub(crate) fn sampled(&self) -> impl Iterator<Item = (&'a EventDescription, u64)> + '_ {
        let count = |(index, event)| (event, self.totals.of_event(index));
        self.events().iter().enumerate().map(count).filter(|(_, samples)| *samples > 0)
    }

    /// Whether perf was told to record all CPUs.
    pub(crate) fn system_wide(&self) -> bool {
        let words = self.metadata.features.cmdline().unwrap_or_default();
        // What follows a bare double dash is the workload.
        words.iter().take_while(|word| *word != "--").any(|word| {
            let word = word.as_ref();
            let bundled = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            // A bundle of one-letter options that take no value, as in -ag.
            word == "--all-cpus"
                || bundled
                    .is_some_and(|rest| rest.contains('a') && rest.chars().all(|c| "agvqzRn".contains(c)))
        })
    }
}
