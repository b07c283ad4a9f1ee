//! The flame graph in order of time: what is the same in one sample after the other is one frame.

use crate::flame::Flame;
use crate::ground::{FlameGround, Telling};
use crate::made::Made;
use crate::time_sweep::{Place, Sample, Sweep};
use readperf_profile::view::flame_tree::{NodeIndex, ROOT, Sum};
use readperf_profile::view::row_paths::Room;
use readperf_profile::{SampleRow, Weight};
use readperf_session::ThreadId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::ops::RangeInclusive;

/// What is needed to draw it: the merged stacks, and where in them each sample is.
#[derive(Debug)]
pub struct TimeFlame {
    /// What the frames are called. Its sums are of all samples.
    pub flame: Flame,
    /// By group of samples: the end of their stack.
    ends: Vec<NodeIndex>,
    /// By node.
    places: Vec<Place>,
}

/// Which part of it is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeAsked {
    /// Whether each thread stands on its own, that with most first; else all of them are one sequence.
    pub by_thread: bool,
    /// Only of this thread.
    pub thread: Option<ThreadId>,
    /// Only of this time, ns of the recording's clock.
    pub range_ns: RangeInclusive<u64>,
    /// What is narrower than one of so many columns is left out.
    pub columns: u32,
    /// Most frames above each other.
    pub rows: u32,
}

/// A frame for as long as it was in every sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeCell {
    /// What it is; nothing where frames were left out, since they are too narrow.
    pub node: Option<NodeIndex>,
    /// How many frames are below it, from 0: the whole.
    pub depth: u32,
    /// What samples before it add up to.
    pub from: u64,
    /// The samples with it in their stack, one after the other.
    pub total: Sum,
    /// Those in the frame itself.
    pub own: Sum,
    /// Times of its first and its last sample, ns.
    pub times_ns: (u64, u64),
    /// The thread of its first sample.
    pub thread: Option<ThreadId>,
    /// How many frames it stands for.
    pub count: u64,
}

/// The part that was asked for.
#[derive(Clone, Debug, Default)]
pub struct TimeWindow {
    /// Callers before what they call, from left to right; the first is the whole.
    pub cells: Vec<TimeCell>,
    /// How many frames are too narrow to be among them.
    pub left_out: u64,
}

impl TimeFlame {
    pub(crate) fn new(made: &Made, ground: &FlameGround, room: &mut Room) -> TimeFlame {
        let chosen = ground.paths.tree(made.flame_sums(), room);
        let groups = made.ground.groups(Telling::default());
        let ends = (0..groups.len()).map(|group| ground.paths.end_of(&chosen, group)).collect();
        let flame = Flame::upright(ground, chosen.tree, made.state.weight);
        // Callers come before what they call.
        let mut places: Vec<Place> = Vec::with_capacity(flame.tree.nodes().len());
        for node in flame.tree.nodes() {
            let below = places.get(node.parent as usize).map_or(0, |caller| caller.depth);
            places.push(Place { caller: node.parent, depth: below.saturating_add(1) });
        }
        TimeFlame { flame, ends, places }
    }

    /// A part of it. `rows` are those of which it was made, each with its group.
    pub(crate) fn window(
        &self,
        rows: impl Iterator<Item = (usize, SampleRow)> + Clone,
        asked: &TimeAsked,
    ) -> TimeWindow {
        let is_asked = |(_, sample): &(usize, Sample)| {
            asked.range_ns.contains(&sample.time_ns)
                && (asked.thread.is_none() || sample.thread == asked.thread)
        };
        // They are gone over twice: to write a list of them takes longer.
        let wanted = rows.map(|(group, row)| (group, sample_of(&row))).filter(is_asked);
        let (mut whole, mut times_ns) = (Sum::default(), None);
        for (_, Sample { sum, time_ns, .. }) in wanted.clone() {
            whole.add(sum);
            let (first, _) = times_ns.unwrap_or((time_ns, time_ns));
            times_ns = Some((first, time_ns));
        }
        let wanted = wanted.map(|(group, sample)| (sample, self.ends.get(group).copied().unwrap_or(ROOT)));
        let weight = self.flame.weight;
        let least = weight.of_sum(&whole).div_ceil(u64::from(asked.columns.max(1)));
        let mut sweep = Sweep::new(&self.places, weight, least.max(1), asked.rows as usize);
        match asked.by_thread {
            false => wanted.for_each(|(sample, end)| sweep.take(sample, end)),
            true => {
                for samples in by_thread(wanted, weight) {
                    samples.into_iter().for_each(|(sample, end)| sweep.take(sample, end));
                    sweep.close_to(0);
                }
            }
        }
        sweep.finish(times_ns.unwrap_or_default(), whole)
    }
}

/// A sample, and where its stack ends.
type Ended = (Sample, NodeIndex);

/// The samples of each thread, in order of time; the thread with most first.
fn by_thread(samples: impl Iterator<Item = Ended>, weight: Weight) -> Vec<Vec<Ended>> {
    let mut threads: FxHashMap<Option<ThreadId>, (Sum, Vec<Ended>)> = FxHashMap::default();
    for (sample, end) in samples {
        let (sum, of_thread) = threads.entry(sample.thread).or_default();
        sum.add(sample.sum);
        of_thread.push((sample, end));
    }
    let mut list: Vec<_> = threads.into_iter().collect();
    list.sort_by_key(|(thread, (sum, _))| (Reverse(weight.of_sum(sum)), *thread));
    list.into_iter().map(|(_, (_, samples))| samples).collect()
}

fn sample_of(row: &SampleRow) -> Sample {
    Sample { sum: Sum::of(row), time_ns: row.time_ns, thread: row.thread }
}
