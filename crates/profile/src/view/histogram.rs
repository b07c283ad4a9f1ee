//! Histograms: what samples add up to by sort keys, for the places themselves and with what they call.
//!
//! With stacks every row has two sums: of the samples taken there, and of the samples whose stack it is in, each counted
//! once however often it is. The second is worked out on the tree of stacks: it is the sum of the subtrees of the
//! outermost nodes of the row.

use super::amount::Amount;
use super::calls::{Calls, NONE};
use super::column::compare;
use super::facts::{FactMemory, Facts};
use super::graph::{GraphOptions, Grapher, Room};
use super::key::KeyUse;
use super::packed_graphs::PackedGraphs;
pub use super::place_numbers::Frames;
use super::place_rows::PlaceRows;
use super::rows::NO_GRAPH;
pub use super::rows::{ByMode, Histogram, HistogramRow, LeftOut, Numbers, RowKey, RowValues};
use super::sample_numbers::SampleNumbers;
use super::sums::{PlaceSums, Subtrees, WholeSums};
use crate::profile::SampleRow;
use crate::rows::RowSlice;
use perffile::wire::head::CpuMode;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What histograms are to show.
#[derive(Clone, Debug, Default)]
pub struct HistogramOptions {
    /// What makes a row.
    pub keys: Vec<KeyUse>,
    /// Whether rows have sums over their stacks.
    pub children: bool,
    /// Whether inlined functions are levels of a stack.
    pub inline: bool,
    /// Whether rows have sums by mode of the CPU.
    pub by_mode: bool,
    /// Which call graphs rows get, if any.
    pub graph: Option<GraphOptions>,
    /// For each event the period that is 100 %, for thresholds.
    pub whole: Vec<u64>,
    /// Rows below this share, in percent, are only counted.
    pub percent_limit: f64,
    /// How many threads may add up; one if 0. The result is the same.
    pub threads: usize,
}

/// Samples for which the keys of the sample say the same: their number, and some rows.
type OfSample<'p> = (u32, RowSlice<'p>);

/// Where samples were taken, and in the tree of calls the node of their innermost place; what they add up to.
#[derive(Clone, Copy, Debug)]
struct Taken {
    node: u32,
    place: u32,
    mode: CpuMode,
    amount: Amount,
}

/// Stacks whose rows are gathered before they are added up: what is needed of the tables for so many fits into a cache close
/// to the processor.
const AT_ONCE: usize = 512;

/// Stacks that take longer to add up than a thread takes to start.
const WORTH_A_THREAD: usize = 8 * 1024;

/// Rows that are made of sums at a time.
const ROWS_AT_ONCE: usize = 64 * 1024;

/// Makes histograms of a profile.
#[derive(Debug)]
pub struct Histograms<'f, 'o> {
    /// What is known.
    pub facts: Facts<'f>,
    /// What the keys of rows say.
    pub values: RowValues,
    options: &'o HistogramOptions,
    /// Which rows the places are in.
    places: Arc<PlaceRows>,
    /// What frames of call graphs say.
    frames: Frames,
    calls: Calls,
    sample_numbers: SampleNumbers,
}

/// What histograms leave behind: what is needed to show their rows. It refers to nothing.
#[derive(Clone, Debug, Default)]
pub struct HistogramTables {
    /// What facts have worked out.
    pub memory: FactMemory,
    /// What the keys of rows say.
    pub values: RowValues,
    /// What frames of call graphs say.
    pub frames: Frames,
}

impl<'f, 'o> Histograms<'f, 'o> {
    /// Prepares histograms of all events.
    pub fn new(mut facts: Facts<'f>, options: &'o HistogramOptions) -> Histograms<'f, 'o> {
        let Some(graph) = options.graph else {
            let places = Arc::new(PlaceRows::new(&mut facts, options));
            return Histograms::with_places(facts, options, places);
        };
        let mut frames = Frames::default();
        let (places, levels) = PlaceRows::with_frames(&mut facts, options, graph.key, &mut frames);
        // In the tree of calls a row may have several places.
        let calls = Calls::new(facts.profile.stacks.nodes(), &levels, frames.take_rows());
        Histograms { frames, calls, ..Histograms::with_places(facts, options, Arc::new(places)) }
    }

    /// Prepares histograms without call graphs of all events, where the rows of places are known: those of this profile, by these
    /// options. Facts remember what was worked out with them.
    pub fn with_places(
        mut facts: Facts<'f>,
        options: &'o HistogramOptions,
        places: Arc<PlaceRows>,
    ) -> Histograms<'f, 'o> {
        facts.settle(options);
        Histograms {
            facts,
            values: RowValues::new(&options.keys, Arc::clone(&places)),
            options,
            places,
            frames: Frames::default(),
            calls: Calls::default(),
            sample_numbers: SampleNumbers::new(&options.keys),
        }
    }

    /// What frames of call graphs say.
    pub fn frames(&self) -> &Frames {
        &self.frames
    }

    /// What is needed to show the rows; no other histogram is made.
    pub fn into_tables(self) -> HistogramTables {
        let Histograms { facts, values, frames, .. } = self;
        HistogramTables { memory: facts.into_memory(), values, frames }
    }

    /// The histogram of one event; `None` if it has no samples.
    pub fn of_event(&mut self, event: usize) -> Option<Histogram> {
        let profile = self.facts.profile;
        let rows = profile.rows_of(event);
        if rows.is_empty() {
            return None;
        }
        // The text of a tracepoint depends on the event.
        self.sample_numbers.next_event();
        // Rows are sorted: most of those for which the sample's keys say the same are together already.
        let mut of_samples: Vec<OfSample<'_>> = Vec::new();
        let (mut start, mut end) = (0, 0);
        while let Some(first) = rows.get(end) {
            let Histograms { facts, options, values, sample_numbers, .. } = self;
            let sample = sample_numbers.number(facts, &options.keys, &mut values.samples, &first);
            let before = of_samples.pop_if(|(before, _)| *before == sample);
            start = if before.is_some() { start } else { end };
            end += rows.range(end..usize::MAX).alike(sample_numbers.of_stack());
            of_samples.push((sample, rows.range(start..end)));
        }
        of_samples.sort_by_key(|(sample, _)| *sample);
        let (mut rows, mut left_out) = (Vec::new(), LeftOut::default());
        let room = Room::new(self.options.graph.unwrap_or_default(), self.calls.nodes.len());
        let mut graphs = (PackedGraphs::default(), room);
        let mut subtrees = Subtrees::new(&self.calls);
        // Without call graphs every thread adds up for itself.
        let whole_stacks = self.options.children && self.options.graph.is_none();
        let threads = if whole_stacks { self.options.threads.max(1) } else { 0 };
        let mut whole_sums: Vec<WholeSums> =
            (0..threads).map(|_| WholeSums::new(self.places.len())).collect();
        let mut sums = PlaceSums::new(self.places.len());
        for of_sample in of_samples.chunk_by(|a, b| a.0 == b.0) {
            let all = (&mut subtrees, whole_sums.as_mut_slice(), &mut sums);
            self.add_sample(event, of_sample, all, (&mut rows, &mut graphs, &mut left_out));
        }
        let (graphs, _) = graphs;
        let total = profile.events().get(event).cloned().unwrap_or_default();
        Some(Histogram { event, total, others: Vec::new(), other_events: Vec::new(), rows, graphs, left_out })
    }

    /// Where the samples of a row were taken.
    #[inline]
    fn taken(&self, row: &SampleRow) -> Taken {
        let (place, mode) = match self.options.by_mode {
            true => self.places.taken_at(row.address),
            false => (self.places.row_of(row.address), CpuMode::Unknown),
        };
        let amount = Amount { period: row.period, samples: row.samples };
        Taken { node: NONE, place, mode, amount }
    }

    /// The samples of rows by their nodes in the tree of calls, which are fewer than stacks.
    fn taken_in_tree(&self, of_sample: &[OfSample<'_>]) -> Vec<Taken> {
        let mut amounts: FxHashMap<(u32, u32, CpuMode), Amount> = FxHashMap::default();
        for row in of_sample.iter().flat_map(|(_, rows)| *rows) {
            let Taken { place, mode, amount, .. } = self.taken(&row);
            amounts.entry((self.calls.node_of(row.stack), place, mode)).or_default().add(amount);
        }
        let taken = amounts.into_iter();
        taken.map(|((node, place, mode), amount)| Taken { node, place, mode, amount }).collect()
    }

    /// Adds what samples add up to in the places where they were taken.
    fn add_taken(&self, taken: impl Iterator<Item = Taken>, sums: &mut PlaceSums) {
        let tree = self.options.graph.is_some();
        for Taken { node, place, mode, amount: Amount { period, samples } } in taken {
            let Some(sum) = sums.of(place) else { continue };
            sum.samples += samples;
            sum.self_period = sum.self_period.wrapping_add(period);
            if self.options.by_mode {
                sum.by_mode.get_or_insert_default().add(mode, period);
            }
            // A sample that was taken where its recorded stack is not is there all the same.
            if !self.options.children || tree && !self.calls.has(node, place) {
                sum.total_period = sum.total_period.wrapping_add(period);
            }
        }
    }

    /// Adds the rows of samples for which the keys of the sample say the same.
    fn add_sample(
        &self,
        event: usize,
        of_sample: &[OfSample<'_>],
        (subtrees, whole_sums, sums): (&mut Subtrees<'_>, &mut [WholeSums], &mut PlaceSums),
        (rows, graphs, left_out): (&mut Vec<HistogramRow>, &mut (PackedGraphs, Room), &mut LeftOut),
    ) {
        let whole = self.options.whole.get(event).copied().unwrap_or(0);
        let least = super::graph::least(self.options.percent_limit, whole);
        let tree = self.options.graph.is_some();
        let taken = if tree { self.taken_in_tree(of_sample) } else { Vec::new() };
        let samples = of_sample.iter().flat_map(|(_, rows)| *rows).map(|row| self.taken(&row));
        if tree {
            self.add_taken(taken.iter().copied(), sums);
            subtrees.add_up(taken.iter().map(|taken| (taken.node, taken.amount)));
            let outermost = subtrees.iter().filter(|(node, _)| self.calls.is_outermost(*node));
            for (node, period) in outermost.filter(|_| self.options.children) {
                let row = self.calls.node(node).map_or(NONE, |node| self.calls.row_of(node));
                sums.add_total(row, period);
            }
        } else if self.options.children {
            self.add_whole_stacks(of_sample, whole_sums, (sums, left_out), least);
            if self.options.by_mode {
                for Taken { place, mode, amount, .. } in samples {
                    if let Some(sum) = sums.of_known(place) {
                        sum.by_mode.get_or_insert_default().add(mode, amount.period);
                    }
                }
            }
        } else {
            self.add_taken(samples, sums);
        }
        let sample = of_sample.first().map_or(NONE, |(sample, _)| *sample);
        // Without sums over stacks the total is their own.
        let mut shown = sums.take();
        shown.retain(|(_, numbers)| {
            let is_shown = numbers.total_period >= least;
            if !is_shown {
                left_out.rows += 1;
                left_out.self_period = left_out.self_period.wrapping_add(numbers.self_period);
            }
            is_shown
        });
        let of_rows = self.add_graphs(event, &taken, subtrees, &mut shown, graphs);
        rows.reserve(shown.len());
        // From the end, so that the sums need not stay until the last row is made.
        while !shown.is_empty() {
            let start = shown.len().saturating_sub(ROWS_AT_ONCE);
            rows.extend((start..).zip(shown.drain(start..)).map(|(nr, (place, numbers))| {
                let row = HistogramRow::new(RowKey { sample, place }, numbers);
                HistogramRow { graph: of_rows.get(nr).copied().unwrap_or(NO_GRAPH), ..row }
            }));
            shown.shrink_to_fit();
        }
    }

    /// Adds to each row the samples that were taken there, and those with it in their stack, each once. If there are many, threads share
    /// them. Rows below a period are left out.
    fn add_whole_stacks(
        &self,
        of_sample: &[OfSample<'_>],
        of_threads: &mut [WholeSums],
        (sums, left_out): (&mut PlaceSums, &mut LeftOut),
        least: u64,
    ) {
        let slices: Vec<RowSlice<'_>> =
            of_sample.iter().flat_map(|(_, rows)| rows.chunks(WORTH_A_THREAD)).collect();
        let mut rows = 0;
        let is_enough = |slice: &RowSlice<'_>| {
            rows += slice.len();
            rows >= WORTH_A_THREAD && std::mem::take(&mut rows) > 0
        };
        let parts: Vec<&[RowSlice<'_>]> = slices.split_inclusive(is_enough).collect();
        let next = AtomicUsize::new(0);
        let work = |of_thread: &mut WholeSums| {
            while let Some(part) = parts.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.add_stacks(part, of_thread);
            }
        };
        let Some((of_this, of_others)) = of_threads.split_first_mut() else { return };
        thread::scope(|scope| {
            for of_thread in of_others.iter_mut().take(parts.len().saturating_sub(1)) {
                // If the system has no thread for it, the others do its work.
                let _ = thread::Builder::new().stack_size(2 << 20).spawn_scoped(scope, || work(of_thread));
            }
            work(of_this);
        });
        of_others.iter_mut().for_each(|of_other| of_this.take_over(of_other));
        of_this.drain(|row, total_period, Amount { period, samples }| {
            if total_period < least {
                left_out.rows += 1;
                left_out.self_period = left_out.self_period.wrapping_add(period);
            } else {
                sums.push(row, Numbers { samples, self_period: period, total_period, by_mode: None });
            }
        });
    }

    fn add_stacks(&self, slices: &[RowSlice<'_>], whole_sums: &mut WholeSums) {
        let stacks = &self.facts.profile.stacks;
        let (mut rows, mut samples, mut room) = (Vec::new(), Vec::new(), Vec::new());
        for slice in slices {
            for row in slice.of_stacks() {
                rows.push(self.places.row_of(row.address));
                self.places.append_levels(stacks.places_in(row.stack, &mut room), &mut rows);
                samples.push((rows.len(), Amount { period: row.period, samples: row.samples }));
                if samples.len() == AT_ONCE {
                    whole_sums.add_all(&rows, &samples);
                    rows.clear();
                    samples.clear();
                }
            }
        }
        whole_sums.add_all(&rows, &samples);
    }

    /// Adds the call graphs of the rows of one sample, which are sorted, and tells where they are: where there is not room for
    /// all graphs, the heaviest rows have them.
    fn add_graphs(
        &self,
        event: usize,
        taken: &[Taken],
        subtrees: &Subtrees<'_>,
        shown: &mut [(u32, Numbers)],
        (graphs, room): &mut (PackedGraphs, Room),
    ) -> Vec<u64> {
        let Some(options) = self.options.graph else { return Vec::new() };
        let whole = self.options.whole.get(event).copied().unwrap_or(0);
        let grapher = Grapher { calls: &self.calls, sums: &subtrees.sums, options, whole };
        let row_of = |node: u32| self.calls.node(node).map_or(NONE, |node| self.calls.row_of(node));
        let mut nodes: Vec<(u32, u32)> = subtrees.touched.iter().map(|node| (row_of(*node), *node)).collect();
        nodes.sort_unstable();
        let mut taken: Vec<(u32, u32, Amount)> =
            taken.iter().map(|taken| (taken.place, taken.node, taken.amount)).collect();
        taken.sort_unstable_by_key(|(place, node, _)| (*place, *node));
        // Of the same weight in the order in which addresses were met: this often is the one that rows are sorted by.
        shown.sort_unstable_by_key(|(row, numbers)| {
            (Reverse((numbers.total_period, numbers.self_period)), *row)
        });
        let graph_of = |(row, _): &(u32, Numbers)| {
            let from = nodes.partition_point(|(other, _)| other < row);
            let of_row = nodes.get(from..).unwrap_or_default().iter().take_while(|(other, _)| other == row);
            let of_row: Vec<u32> = of_row.map(|(_, node)| *node).collect();
            let from = taken.partition_point(|(other, ..)| other < row);
            let own = taken.get(from..).unwrap_or_default().iter().take_while(|(other, ..)| other == row);
            let own: Vec<(u32, Amount)> = own.map(|(_, node, amount)| (*node, *amount)).collect();
            let by_name = |a, b| {
                let (a, b) = (self.frames.says(a), self.frames.says(b));
                compare(&self.facts, a, b)
            };
            let graph = grapher.graph(*row, &of_row, &own, self.options.children, room, by_name);
            graphs.push(&graph)
        };
        shown.iter().map(graph_of).collect()
    }
}
