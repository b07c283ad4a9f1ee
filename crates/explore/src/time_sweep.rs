//! Goes from sample to sample, and makes frames of what is the same in one after the other.

use crate::flame_time::{TimeCell, TimeWindow};
use readperf_profile::Weight;
use readperf_profile::view::flame_tree::{NodeIndex, ROOT, Sum};
use readperf_session::ThreadId;
use std::ops::Range;

/// What is seen of a sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) sum: Sum,
    pub(crate) time_ns: u64,
    pub(crate) thread: Option<ThreadId>,
}

/// Frames that came with one sample, one on the other, as far as they are in the sample at hand.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// How many frames there are up to the innermost of them.
    end: usize,
    /// What came before them.
    before: Sum,
    /// The samples in the innermost.
    own: Sum,
    from_ns: u64,
    thread: Option<ThreadId>,
}

/// What came up to now, without what came before.
fn less(sum: Sum, before: Sum) -> Sum {
    let mut sum = sum;
    sum.subtract(before);
    sum
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

/// Where a node of the merged stacks is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) caller: NodeIndex,
    /// How many frames lead to it, itself included.
    pub(crate) depth: u32,
}

/// Goes from sample to sample.
pub(crate) struct Sweep<'f> {
    places: &'f [Place],
    weight: Weight,
    /// What a frame weighs at least to be seen.
    least: u64,
    rows: usize,
    open: Vec<Open>,
    /// The frames that are open.
    nodes: Vec<NodeIndex>,
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
    pub(crate) fn new(places: &'f [Place], weight: Weight, least: u64, rows: usize) -> Sweep<'f> {
        Sweep {
            places,
            weight,
            least,
            rows,
            open: Vec::new(),
            nodes: Vec::new(),
            narrow: Vec::new(),
            done: Sum::default(),
            last_ns: 0,
            path: Vec::new(),
            cells: Vec::new(),
            left_out: 0,
        }
    }

    pub(crate) fn take(&mut self, sample: Sample, end: NodeIndex) {
        let same = self.climb(end);
        self.close_to(same);
        self.nodes.extend(self.path.iter().rev().take(self.rows.saturating_sub(same)));
        if self.nodes.len() > same {
            let (end, before, own) = (self.nodes.len(), self.done, Sum::default());
            self.open.push(Open { end, before, own, from_ns: sample.time_ns, thread: sample.thread });
        }
        if let Some(innermost) = self.open.last_mut() {
            innermost.own.add(sample.sum);
        }
        self.done.add(sample.sum);
        self.last_ns = sample.time_ns;
    }

    /// Goes from the end of a stack to what it has in common with the sample before, and notes the frames on the way, the innermost
    /// first; how many there are in common.
    fn climb(&mut self, end: NodeIndex) -> usize {
        self.path.clear();
        let mut here = end;
        while let Some(Place { caller, depth }) = self.places.get(here as usize).copied() {
            let depth = depth as usize;
            let at_depth = depth.checked_sub(1).and_then(|below| self.nodes.get(below));
            if at_depth == Some(&here) {
                return depth;
            }
            self.path.push(here);
            here = caller;
        }
        0
    }

    /// Frames above so many others have come to their end.
    pub(crate) fn close_to(&mut self, depth: usize) {
        while let Some(open) = self.open.pop_if(|open| open.end > depth) {
            let start = self.open.last().map_or(0, |below| below.end);
            self.close(&open, depth.max(start)..open.end);
            if start < depth {
                // The others of them stay.
                self.open.push(Open { end: depth, own: Sum::default(), ..open });
            }
        }
        self.nodes.truncate(depth);
    }

    /// Frames that came together have come to their end: they are as wide as each other.
    fn close(&mut self, open: &Open, depths: Range<usize>) {
        let total = less(self.done, open.before);
        match self.weight.of_sum(&total) >= self.least {
            true => depths.rev().for_each(|depth| self.show(open, depth, total)),
            false => self.leave_out(open, depths),
        }
    }

    fn show(&mut self, open: &Open, depth: usize, total: Sum) {
        if let Some(above) = self.narrow.get_mut(depth + 1).and_then(Option::take) {
            self.show_narrow(above, depth + 1);
        }
        self.cells.push(TimeCell {
            node: self.nodes.get(depth).copied(),
            depth: shown_depth(depth),
            from: self.weight.of_sum(&open.before),
            total,
            own: if depth + 1 == open.end { open.own } else { Sum::default() },
            times_ns: (open.from_ns, self.last_ns),
            thread: open.thread,
            count: 1,
        });
    }

    /// Frames that are too narrow are left out, and what stands on them with them.
    fn leave_out(&mut self, open: &Open, depths: Range<usize>) {
        let above = self.narrow.get_mut(depths.end).and_then(Option::take);
        let count = depths.len() as u64 + above.map_or(0, |above| above.count);
        let depth = depths.start;
        if self.narrow.len() <= depth {
            self.narrow.resize(depth + 1, None);
        }
        // Others beside them are only where the outermost is.
        let here = self.narrow.get_mut(depth).and_then(Option::take);
        let narrow = match here {
            Some(narrow) if narrow.after == open.before => Narrow {
                after: self.done,
                count: narrow.count + count,
                times_ns: (narrow.times_ns.0, self.last_ns),
                ..narrow
            },
            other => {
                if let Some(other) = other {
                    self.show_narrow(other, depth);
                }
                let times_ns = (open.from_ns, self.last_ns);
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

    /// All there is, from the time of the first sample to that of the last.
    pub(crate) fn finish(mut self, times_ns: (u64, u64), whole: Sum) -> TimeWindow {
        self.close_to(0);
        if let Some(narrow) = self.narrow.first_mut().and_then(Option::take) {
            self.show_narrow(narrow, 0);
        }
        self.cells.push(TimeCell {
            node: Some(ROOT),
            depth: 0,
            from: 0,
            total: whole,
            own: Sum::default(),
            times_ns,
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A node for each string of up to so many of these digits, callers first.
    const DIGITS: usize = 3;
    const DEEPEST: u32 = 4;

    fn places() -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        let mut callers = vec![ROOT];
        for depth in 1..=DEEPEST {
            let mut next = Vec::new();
            for caller in callers {
                for _ in 0..DIGITS {
                    next.push(NodeIndex::try_from(places.len()).unwrap());
                    places.push(Place { caller, depth });
                }
            }
            callers = next;
        }
        places
    }

    /// From the outermost to a node, as far as there are rows.
    fn path(places: &[Place], end: NodeIndex, rows: usize) -> Vec<NodeIndex> {
        let mut path = Vec::new();
        let mut here = end;
        while let Some(place) = places.get(here as usize) {
            path.push(here);
            here = place.caller;
        }
        path.reverse();
        path.truncate(rows);
        path
    }

    type Taken = (Sample, Vec<NodeIndex>);

    fn cell(node: Option<NodeIndex>, depth: usize, from: u64, samples: &[Taken]) -> TimeCell {
        let mut total = Sum::default();
        samples.iter().for_each(|(sample, _)| total.add(sample.sum));
        let mut own = Sum::default();
        let ends = samples.iter().filter(|(_, path)| node.is_some() && path.len() == depth);
        ends.for_each(|(sample, _)| own.add(sample.sum));
        let times_ns = (samples[0].0.time_ns, samples[samples.len() - 1].0.time_ns);
        TimeCell {
            node,
            depth: u32::try_from(depth).unwrap(),
            from,
            total,
            own,
            times_ns,
            thread: None,
            count: 1,
        }
    }

    /// How many frames some samples have above so many.
    fn frames(samples: &[Taken], depth: usize) -> u64 {
        let runs = samples.chunk_by(|a, b| a.1.get(depth).is_some() && a.1.get(depth) == b.1.get(depth));
        runs.filter(|run| run[0].1.len() > depth).map(|run| 1 + frames(run, depth + 1)).sum()
    }

    /// The frames above so many of samples that have these in common.
    fn plain(samples: &[Taken], depth: usize, mut from: u64, least: u64, window: &mut TimeWindow) {
        let weight = |run: &[Taken]| run.iter().map(|(sample, _)| sample.sum.period).sum::<u64>();
        let runs = samples.chunk_by(|a, b| a.1.get(depth) == b.1.get(depth));
        let runs: Vec<&[Taken]> = runs.collect();
        let is_narrow = |run: &[Taken]| weight(run) < least && run[0].1.len() > depth;
        for some in runs.chunk_by(|a, b| is_narrow(a) && is_narrow(b)) {
            let all = some.concat();
            if is_narrow(some[0]) {
                let count = frames(&all, depth);
                window.left_out += count;
                if weight(&all) >= least {
                    window.cells.push(TimeCell { count, ..cell(None, depth + 1, from, &all) });
                }
            } else if let Some(node) = all[0].1.get(depth) {
                window.cells.push(cell(Some(*node), depth + 1, from, &all));
                plain(&all, depth + 1, from, least, window);
            }
            from += weight(&all);
        }
    }

    proptest! {
        #[test]
        fn frames_are_those_of_samples_one_after_the_other(
            samples in proptest::collection::vec((0..140_u32, 0..5_u64), 1..60),
            least in 1..12_u64,
            rows in 1..6_usize,
        ) {
            let places = places();
            let mut sweep = Sweep::new(&places, Weight::Period, least, rows);
            let mut taken: Vec<Taken> = Vec::new();
            for (time_ns, (end, period)) in (1..).zip(samples) {
                // Some have no frame at all.
                let end = if (end as usize) < places.len() { end } else { ROOT };
                let sample = Sample { sum: Sum { period, samples: 1 }, time_ns, thread: None };
                sweep.take(sample, end);
                taken.push((sample, path(&places, end, rows)));
            }
            let mut whole = cell(Some(ROOT), 0, 0, &taken);
            whole.own = Sum::default();
            let mut expected = TimeWindow { cells: vec![whole], left_out: 0 };
            plain(&taken, 0, 0, least, &mut expected);
            expected.cells.sort_by_key(|cell| (cell.from, cell.depth));
            let mut window = sweep.finish(whole.times_ns, whole.total);
            // A box stands for the frames of its last part that are not told before: these only count as left out.
            let boxes = |cell: &&mut TimeCell| cell.node.is_none();
            window.cells.iter_mut().filter(boxes).for_each(|cell| cell.count = 0);
            expected.cells.iter_mut().filter(boxes).for_each(|cell| cell.count = 0);
            // What weighs nothing may stand anywhere among its like.
            let order = |cell: &TimeCell| (cell.from, cell.depth, cell.times_ns, cell.node);
            expected.cells.sort_by_key(order);
            window.cells.sort_by_key(order);
            prop_assert_eq!(window.left_out, expected.left_out);
            prop_assert_eq!(window.cells, expected.cells);
        }
    }
}
