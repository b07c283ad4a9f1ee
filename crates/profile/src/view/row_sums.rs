//! What chosen samples add up to in each row, on one thread or two: of a click, this is what takes longest.

use super::flame_tree::Sum;
use super::row_paths::{RowPaths, make_room};
use super::rows::Numbers;
use crate::both::both;

/// How samples are added up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adding {
    pub(super) by_mode: bool,
    /// Whether rows have sums over their stacks.
    pub(super) children: bool,
    pub(super) threads: usize,
}

/// Sums by row over stacks. They are apart from the other numbers: what adds to them lies anywhere, so the table is to be small.
#[derive(Clone, Debug, Default)]
pub(super) struct StackSums {
    periods: Vec<u64>,
    /// Whether there are samples at all.
    met: Vec<bool>,
}

/// Some of them, one behind the other.
struct SomeSums<'s> {
    /// The number of the first row.
    start: u32,
    periods: &'s mut [u64],
    met: &'s mut [bool],
}

impl StackSums {
    /// Sums of so many rows, all empty.
    fn make_room(&mut self, rows: usize) {
        make_room(&mut self.periods, rows);
        self.periods.resize(rows, 0);
        make_room(&mut self.met, rows);
        self.met.resize(rows, false);
    }

    fn halves(&mut self) -> (SomeSums<'_>, SomeSums<'_>) {
        let middle = self.periods.len() / 2;
        let (first, second) = self.periods.split_at_mut(middle);
        let (first_met, second_met) = self.met.split_at_mut(middle);
        let start = u32::try_from(middle).unwrap_or(u32::MAX);
        let first = SomeSums { start: 0, periods: first, met: first_met };
        (first, SomeSums { start, periods: second, met: second_met })
    }

    fn all(&mut self) -> SomeSums<'_> {
        SomeSums { start: 0, periods: &mut self.periods, met: &mut self.met }
    }

    /// Adds them to the numbers of the rows.
    fn add_to(&self, rows: &mut [Option<Numbers>]) {
        for ((row, period), _) in rows.iter_mut().zip(&self.periods).zip(&self.met).filter(|(_, met)| **met) {
            let row = row.get_or_insert_default();
            row.total_period = row.total_period.wrapping_add(*period);
        }
    }
}

impl SomeSums<'_> {
    #[inline]
    fn add(&mut self, row: u32, period: u64) {
        let Some(at) = row.checked_sub(self.start).map(|at| at as usize) else { return };
        if let (Some(sum), Some(met)) = (self.periods.get_mut(at), self.met.get_mut(at)) {
            *sum = sum.wrapping_add(period);
            *met = true;
        }
    }
}

impl RowPaths {
    /// Adds samples to their rows. `sums` has what those of each group of the event add up to; the others are room for sums on the way.
    pub(super) fn add_up(
        &self,
        sums: &[Sum],
        adding: Adding,
        (parts, over_stacks): (&mut [Sum], &mut StackSums),
        rows: &mut [Option<Numbers>],
    ) {
        if !adding.children {
            return self.add_own(sums, adding, rows);
        }
        over_stacks.make_room(rows.len());
        both(adding.threads, || self.add_to_parts(sums, parts), || self.add_own(sums, adding, rows));
        let parts = &*parts;
        if adding.threads > 1 {
            let (first, second) = over_stacks.halves();
            both(adding.threads, || self.add_parts(parts, second), || self.add_parts(parts, first));
        } else {
            self.add_parts(parts, over_stacks.all());
        }
        over_stacks.add_to(rows);
    }

    /// Adds to rows what was taken in them.
    fn add_own(&self, sums: &[Sum], adding: Adding, rows: &mut [Option<Numbers>]) {
        for (taken, sum) in self.taken.iter().zip(sums).filter(|(_, sum)| sum.samples > 0) {
            let Some(row) = rows.get_mut(taken.row as usize) else { continue };
            let row = row.get_or_insert_default();
            row.samples = row.samples.wrapping_add(sum.samples);
            row.self_period = row.self_period.wrapping_add(sum.period);
            if adding.by_mode {
                row.by_mode.get_or_insert_default().add(taken.mode, sum.period);
            }
            if taken.apart || !adding.children {
                row.total_period = row.total_period.wrapping_add(sum.period);
            }
        }
    }

    /// Adds up what went through each part of a stack.
    fn add_to_parts(&self, sums: &[Sum], parts: &mut [Sum]) {
        for (taken, sum) in self.taken.iter().zip(sums).filter(|(_, sum)| sum.samples > 0) {
            if let Some(part) = parts.get_mut(taken.part as usize) {
                part.add(*sum);
            }
        }
        // Callers come before what they call.
        for (part, caller) in self.ways.callers.iter().enumerate().rev() {
            let sum = parts.get(part).copied().unwrap_or_default();
            if let Some(caller) = parts.get_mut(*caller as usize).filter(|_| sum.samples > 0) {
                caller.add(sum);
            }
        }
    }

    /// Adds what went through each part of a stack to the rows that it is the outermost of, as far as they are among these.
    fn add_parts(&self, parts: &[Sum], mut rows: SomeSums<'_>) {
        for (sum, part) in parts.iter().zip(0..).filter(|(sum, _)| sum.samples > 0) {
            self.parts.of(part).iter().for_each(|row| rows.add(*row, sum.period));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::part_rows::{PartRows, RowLists};
    use crate::view::row_paths::Ways;
    use crate::view::taken::{Taken, TakenAt};
    use perffile::wire::head::CpuMode;
    use proptest::prelude::*;
    use std::sync::Arc;

    proptest! {
        #[test]
        fn each_sample_counts_once_in_each_row_whatever_the_threads(
            // By part: its caller among those before it, and its rows.
            tree in proptest::collection::vec((any::<prop::sample::Index>(), proptest::collection::btree_set(0..12_u32, 0..3)), 1..40),
            taken in proptest::collection::vec((any::<prop::sample::Index>(), 0..12_u32, 0..9_u64, 0..3_u64), 0..40),
        ) {
            let (mut ways, mut lists, mut stacks) = (Ways::default(), RowLists::default(), Vec::<Vec<u32>>::new());
            for (nr, (caller, rows)) in tree.iter().enumerate() {
                let caller = caller.index(nr + 1).checked_sub(1);
                let mut stack = caller.map(|caller| stacks[caller].clone()).unwrap_or_default();
                // Only those that no part below it has.
                for row in rows.iter().filter(|row| !stack.contains(row)).copied().collect::<Vec<_>>() {
                    lists.push(row);
                    stack.push(row);
                }
                lists.end();
                stacks.push(stack);
                ways.callers.push(caller.map_or(u32::MAX, |caller| u32::try_from(caller).unwrap()));
            }
            let (mut at, mut sums, mut expected) = (Vec::new(), Vec::new(), vec![None::<Numbers>; 12]);
            for (part, row, period, samples) in taken {
                let part = part.index(tree.len());
                let apart = !stacks[part].contains(&row);
                at.push(Taken { part: u32::try_from(part).unwrap(), row, mode: CpuMode::User, apart });
                sums.push(Sum { period, samples });
                if samples == 0 {
                    continue;
                }
                let own = expected[row as usize].get_or_insert_default();
                (own.samples, own.self_period) = (own.samples + samples, own.self_period + period);
                for row in stacks[part].iter().copied().chain(apart.then_some(row)) {
                    expected[row as usize].get_or_insert_default().total_period += period;
                }
            }
            let paths = RowPaths {
                taken: TakenAt::new(at),
                ways: Arc::new(ways),
                parts: PartRows::new(lists),
                ..RowPaths::default()
            };
            let mut over_stacks = StackSums::default();
            for threads in [0, 1, 2, 7] {
                let (mut parts, mut rows) = (vec![Sum::default(); tree.len()], vec![None; 12]);
                let adding = Adding { by_mode: false, children: true, threads };
                paths.add_up(&sums, adding, (&mut parts, &mut over_stacks), &mut rows);
                prop_assert_eq!(&rows, &expected, "{} threads", threads);
            }
        }
    }
}
