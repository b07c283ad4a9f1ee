//! The flame graph in order of time: what is the same in one sample after the other is one frame.

use crate::flame::Flame;
use crate::ground::{FlameGround, Telling};
use crate::made::Made;
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
    /// By row of the event: the end of its stack.
    ends: Vec<NodeIndex>,
    /// By node.
    places: Vec<Place>,
}

/// Where a node of the merged stacks is.
#[derive(Clone, Copy, Debug)]
struct Place {
    caller: NodeIndex,
    /// How many frames lead to it, itself included.
    depth: u32,
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
        let ends = made.samples().map(|(at, _)| ground.paths.end_of(&chosen, groups.of_row(at))).collect();
        let flame = Flame::upright(ground, chosen.tree, made.state.weight);
        // Callers come before what they call.
        let mut places: Vec<Place> = Vec::with_capacity(flame.tree.nodes().len());
        for node in flame.tree.nodes() {
            let below = places.get(node.parent as usize).map_or(0, |caller| caller.depth);
            places.push(Place { caller: node.parent, depth: below.saturating_add(1) });
        }
        TimeFlame { flame, ends, places }
    }

    /// A part of it. `rows` are those of which it was made.
    pub(crate) fn window<'p>(
        &self,
        rows: impl Iterator<Item = &'p SampleRow>,
        asked: &TimeAsked,
    ) -> TimeWindow {
        let is_asked = |(row, _): &(&SampleRow, NodeIndex)| {
            asked.range_ns.contains(&row.time_ns) && (asked.thread.is_none() || row.thread == asked.thread)
        };
        let wanted: Vec<(&SampleRow, NodeIndex)> =
            rows.zip(self.ends.iter().copied()).filter(is_asked).collect();
        let mut whole = Sum::default();
        wanted.iter().for_each(|(row, _)| whole.add(sum_of(row)));
        let weight = self.flame.weight;
        let least = weight.of_sum(&whole).div_ceil(u64::from(asked.columns.max(1)));
        let mut sweep = Sweep::new(self, least.max(1), asked.rows as usize);
        match asked.by_thread {
            false => wanted.iter().for_each(|(row, end)| sweep.take(row, *end)),
            true => {
                for rows in by_thread(&wanted, weight) {
                    rows.iter().for_each(|(row, end)| sweep.take(row, *end));
                    sweep.close_to(0);
                }
            }
        }
        sweep.finish(&wanted, whole)
    }
}

type Row<'p> = (&'p SampleRow, NodeIndex);

/// The rows of each thread, in order of time; the thread with most first.
fn by_thread<'p>(rows: &[Row<'p>], weight: Weight) -> Vec<Vec<Row<'p>>> {
    let mut threads: FxHashMap<Option<ThreadId>, (Sum, Vec<Row<'p>>)> = FxHashMap::default();
    for (row, end) in rows {
        let (sum, of_thread) = threads.entry(row.thread).or_default();
        sum.add(sum_of(row));
        of_thread.push((row, *end));
    }
    let mut list: Vec<_> = threads.into_iter().collect();
    list.sort_by_key(|(thread, (sum, _))| (Reverse(weight.of_sum(sum)), *thread));
    list.into_iter().map(|(_, (_, rows))| rows).collect()
}

fn sum_of(row: &SampleRow) -> Sum {
    Sum { period: row.period, samples: row.samples }
}

fn less(sum: Sum, before: Sum) -> Sum {
    Sum { period: sum.period.wrapping_sub(before.period), samples: sum.samples.wrapping_sub(before.samples) }
}

/// A frame that is in the sample at hand.
#[derive(Clone, Copy, Debug)]
struct Open {
    node: NodeIndex,
    /// What came before it.
    before: Sum,
    own: Sum,
    from_ns: u64,
    thread: Option<ThreadId>,
}

/// Frames too narrow to be seen, one behind the other.
#[derive(Clone, Copy, Debug)]
struct Narrow {
    before: Sum,
    after: Sum,
    count: u64,
    times_ns: (u64, u64),
    thread: Option<ThreadId>,
}

/// Goes from sample to sample.
struct Sweep<'f> {
    places: &'f [Place],
    weight: Weight,
    /// What a frame weighs at least to be seen.
    least: u64,
    rows: usize,
    open: Vec<Open>,
    /// By depth: what is left out there behind the last frame that is seen.
    narrow: Vec<Option<Narrow>>,
    /// What came up to now, and when the last of it was.
    done: Sum,
    last_ns: u64,
    path: Vec<NodeIndex>,
    cells: Vec<TimeCell>,
    left_out: u64,
}

impl<'f> Sweep<'f> {
    fn new(time: &'f TimeFlame, least: u64, rows: usize) -> Sweep<'f> {
        Sweep {
            places: &time.places,
            weight: time.flame.weight,
            least,
            rows,
            open: Vec::new(),
            narrow: Vec::new(),
            done: Sum::default(),
            last_ns: 0,
            path: Vec::new(),
            cells: Vec::new(),
            left_out: 0,
        }
    }

    fn take(&mut self, row: &SampleRow, end: NodeIndex) {
        let same = self.climb(end);
        self.close_to(same);
        for node in self.path.iter().rev().take(self.rows.saturating_sub(same)) {
            self.open.push(Open {
                node: *node,
                before: self.done,
                own: Sum::default(),
                from_ns: row.time_ns,
                thread: row.thread,
            });
        }
        let sum = sum_of(row);
        if let Some(innermost) = self.open.last_mut() {
            innermost.own.add(sum);
        }
        self.done.add(sum);
        self.last_ns = row.time_ns;
    }

    /// Goes from the end of a stack to what it has in common with the sample before, and notes the frames on the way, the innermost
    /// first; how many there are in common.
    fn climb(&mut self, end: NodeIndex) -> usize {
        self.path.clear();
        let mut here = end;
        while let Some(Place { caller, depth }) = self.places.get(here as usize).copied() {
            let depth = depth as usize;
            let at_depth = depth.checked_sub(1).and_then(|below| self.open.get(below));
            if at_depth.is_some_and(|open| open.node == here) {
                return depth;
            }
            self.path.push(here);
            here = caller;
        }
        0
    }

    /// Frames above so many others have come to their end.
    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let depth = self.open.len();
        let total = less(self.done, open.before);
        let times_ns = (open.from_ns, self.last_ns);
        let above = self.narrow.get_mut(depth + 1).and_then(Option::take);
        if self.weight.of_sum(&total) >= self.least {
            if let Some(above) = above {
                self.show_narrow(above, depth + 1);
            }
            self.cells.push(TimeCell {
                node: Some(open.node),
                depth: shown_depth(depth),
                from: self.weight.of_sum(&open.before),
                total,
                own: open.own,
                times_ns,
                thread: open.thread,
                count: 1,
            });
            return;
        }
        // What stands on it is left out with it.
        let count = 1 + above.map_or(0, |above| above.count);
        if self.narrow.len() <= depth {
            self.narrow.resize(depth + 1, None);
        }
        let here = self.narrow.get_mut(depth).and_then(Option::take);
        let narrow = match here {
            Some(narrow) if narrow.after == open.before => Narrow {
                after: self.done,
                count: narrow.count + count,
                times_ns: (narrow.times_ns.0, times_ns.1),
                ..narrow
            },
            other => {
                if let Some(other) = other {
                    self.show_narrow(other, depth);
                }
                Narrow { before: open.before, after: self.done, count, times_ns, thread: open.thread }
            }
        };
        if let Some(slot) = self.narrow.get_mut(depth) {
            *slot = Some(narrow);
        }
    }

    /// What is left out is a box of its own where that is wide enough.
    fn show_narrow(&mut self, narrow: Narrow, depth: usize) {
        self.left_out += narrow.count;
        let total = less(narrow.after, narrow.before);
        if self.weight.of_sum(&total) < self.least {
            return;
        }
        self.cells.push(TimeCell {
            node: None,
            depth: shown_depth(depth),
            from: self.weight.of_sum(&narrow.before),
            total,
            own: Sum::default(),
            times_ns: narrow.times_ns,
            thread: narrow.thread,
            count: narrow.count,
        });
    }

    fn finish(mut self, rows: &[Row<'_>], whole: Sum) -> TimeWindow {
        self.close_to(0);
        if let Some(narrow) = self.narrow.first_mut().and_then(Option::take) {
            self.show_narrow(narrow, 0);
        }
        let time = |row: Option<&Row<'_>>| row.map_or(0, |(row, _)| row.time_ns);
        self.cells.push(TimeCell {
            node: Some(ROOT),
            depth: 0,
            from: 0,
            total: whole,
            own: Sum::default(),
            times_ns: (time(rows.first()), time(rows.last())),
            thread: None,
            count: 1,
        });
        // A caller begins where the first that it calls does, or before.
        self.cells.sort_by_key(|cell| (cell.from, cell.depth));
        TimeWindow { cells: self.cells, left_out: self.left_out }
    }
}

/// The whole is below all frames.
fn shown_depth(depth: usize) -> u32 {
    u32::try_from(depth + 1).unwrap_or(u32::MAX)
}
