//! What chosen samples add up to in each row, on one thread or two: of a click, this is what takes longest.

use super::row_paths::RowPaths;
use super::rows::Numbers;
use crate::both::both;
use crate::view::flame_tree::Sum;

/// Rows of which each may have got something.
pub(super) type RowNumbers = [Option<Numbers>];

/// How samples are added up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Adding {
    pub(super) by_mode: bool,
    /// Whether rows have sums over their stacks.
    pub(super) children: bool,
    pub(super) threads: usize,
}

impl RowPaths {
    /// Adds samples to their rows. `sums` has what those of each group of the event add up to; `parts` is room for sums on the way.
    pub(super) fn add_up(&self, sums: &[Sum], adding: Adding, parts: &mut [Sum], rows: &mut RowNumbers) {
        if !adding.children {
            return self.add_own(sums, adding, rows);
        }
        both(adding.threads, || self.add_to_parts(sums, parts), || self.add_own(sums, adding, rows));
        // Each thread has half of the rows: what is added to them lies anywhere in a large table.
        let middle = rows.len() / 2;
        let (first, second) = rows.split_at_mut(middle);
        let start = u32::try_from(middle).unwrap_or(u32::MAX);
        match adding.threads {
            0 | 1 => self.add_parts(parts, 0, rows),
            threads => {
                let parts = &*parts;
                both(threads, || self.add_parts(parts, start, second), || self.add_parts(parts, 0, first));
            }
        }
    }

    /// Adds to rows what was taken in them.
    fn add_own(&self, sums: &[Sum], adding: Adding, rows: &mut RowNumbers) {
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

    /// Adds what went through each part of a stack to the rows that it is the outermost of, as far as they are among `rows`, which begin
    /// with this number.
    fn add_parts(&self, parts: &[Sum], start: u32, rows: &mut RowNumbers) {
        for (sum, part) in parts.iter().zip(0..).filter(|(sum, _)| sum.samples > 0) {
            for row in self.parts.of(part) {
                if let Some(row) = row.checked_sub(start).and_then(|at| rows.get_mut(at as usize)) {
                    let row = row.get_or_insert_default();
                    row.total_period = row.total_period.wrapping_add(sum.period);
                }
            }
        }
    }
}
