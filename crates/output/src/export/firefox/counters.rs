//! Counters: how often the events that are not in the samples happened in each process, as a graph.
//!
//! The graph is of counts by time since the point before. A point a sample would be a graph of how far samples are apart, so
//! samples are put together in bins of one length.

use super::Source;
use crate::export::Export;
use crate::export::json::JsonWriter;
use crate::text::printable;
use readperf_profile::SampleRow;
use readperf_session::{ProcessId, ThreadId};
use std::collections::BTreeMap;

/// Into how many bins the time of a recording is cut at most.
const MOST_BINS: u64 = 500;
/// How many samples a bin has on average, at least.
const SAMPLES_A_BIN: u64 = 5;
/// Fewer samples than these make no graph: their markers show them.
const FEWEST: usize = 10;
/// A bin is not shorter than this, ns.
const SHORTEST_NS: u64 = 1_000_000;

/// Writes a counter for each event that is neither in the samples nor a tracepoint, and each process with enough samples of it.
pub(super) fn write(
    export: &Export<'_>,
    source: &Source<'_>,
    threads: &[ThreadId],
    json: &mut JsonWriter<'_>,
) {
    let events = 0..export.profile.events().len();
    for event in events.filter(|event| Some(*event) != source.event && !export.is_tracepoint(*event)) {
        let mut processes: BTreeMap<ProcessId, Vec<SampleRow>> = BTreeMap::new();
        for row in export.profile.rows_of(event) {
            let thread = row.thread.and_then(|thread| export.session.thread(thread));
            if let Some(thread) = thread {
                processes.entry(thread.process).or_default().push(row);
            }
        }
        processes.retain(|_, rows| rows.len() >= FEWEST);
        let samples = processes.values().map(Vec::len).max().unwrap_or(0);
        let bins = Bins::new(source.origin_ns, source.end_ns, samples);
        for (process, rows) in processes {
            let of_process = |thread: &ThreadId| {
                export.session.thread(*thread).is_some_and(|thread| thread.process == process)
            };
            let index = threads.iter().position(of_process).unwrap_or(0);
            json.line();
            json.object(|json| {
                write_counter(export, event, process, index, &bins.counts(export, &rows), json)
            });
        }
    }
}

/// How time is cut.
struct Bins {
    origin_ns: u64,
    length_ns: u64,
    width_ns: u64,
}

impl Bins {
    fn new(origin_ns: u64, end_ns: u64, samples: usize) -> Bins {
        let wanted = (u64::try_from(samples).unwrap_or(u64::MAX) / SAMPLES_A_BIN).clamp(1, MOST_BINS);
        let length_ns = end_ns.saturating_sub(origin_ns);
        Bins { origin_ns, length_ns, width_ns: round((length_ns / wanted).max(SHORTEST_NS)) }
    }

    /// The end of each bin, from the origin on, and what was counted in it. Of empty ones in a row the ends are enough.
    fn counts(&self, export: &Export<'_>, rows: &[SampleRow]) -> Vec<(u64, u64)> {
        // The last one ends with the recording: a rest is not one of its own, whose rate would stand out.
        let last = (self.length_ns / self.width_ns).max(1);
        let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
        for row in rows {
            // A time at an edge is the end of the bin before it.
            let nr = row.time_ns.saturating_sub(self.origin_ns).div_ceil(self.width_ns).clamp(1, last);
            let count = bins.entry(nr).or_default();
            *count = count.saturating_add(export.weight(row));
        }
        bins.entry(0).or_default();
        for nr in bins.keys().copied().collect::<Vec<_>>() {
            bins.entry(nr.saturating_sub(1)).or_default();
            bins.entry(nr + 1).or_default();
        }
        let end = |nr: u64| if nr < last { nr.saturating_mul(self.width_ns) } else { self.length_ns };
        bins.into_iter().filter(|(nr, _)| *nr <= last).map(|(nr, count)| (end(nr), count)).collect()
    }
}

/// The next number up that people read easily: 1, 2 or 5 and zeros.
fn round(least: u64) -> u64 {
    let mut unit = 1u64;
    loop {
        let next =
            [1, 2, 5].map(|factor| unit.saturating_mul(factor)).into_iter().find(|width| *width >= least);
        if let Some(width) = next {
            return width;
        }
        unit = unit.saturating_mul(10);
    }
}

fn write_counter(
    export: &Export<'_>,
    event: usize,
    process: ProcessId,
    main_thread_index: usize,
    counts: &[(u64, u64)],
    json: &mut JsonWriter<'_>,
) {
    let pid = export.session.process(process).map_or(0, |process| process.pid.cast_signed());
    json.field("name", printable(export.event_name(event)));
    json.field("category", "Event");
    json.field("description", format!("{} of the process", printable(export.event_name(event))));
    json.field("pid", pid.to_string());
    json.field("mainThreadIndex", main_thread_index);
    json.key("samples").object(|json| {
        json.key("timeDeltas").array(|json| {
            let mut before = 0;
            for (time_ns, _) in counts {
                json.milliseconds(time_ns - before);
                before = *time_ns;
            }
        });
        json.list("count", counts.iter().map(|(_, count)| count));
        json.field("length", counts.len());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_easily_read() {
        assert_eq!(
            [0, 1, 3, 10, 11, 499, 501, 1_200_000].map(round),
            [1, 1, 5, 10, 20, 500, 1000, 2_000_000]
        );
    }

    /// A bin has some samples, and there are not too many of them.
    #[test]
    fn bins_are_neither_empty_nor_many() {
        let width =
            |seconds: u64, samples: usize| Bins::new(7, 7 + seconds * 1_000_000_000, samples).width_ns;
        assert_eq!(width(10, 100), 500_000_000);
        assert_eq!(width(10, 1_000_000), 20_000_000);
        assert_eq!(width(0, 5), 1_000_000);
    }
}
