//! The rows that each part of a stack is the outermost of. Behind a change of stacks most parts have those that they had: what has changed
//! lies over what was there.

use std::sync::Arc;

/// Lists of rows, one behind the other.
#[derive(Clone, Debug, Default)]
pub(super) struct RowLists {
    /// Where each ends.
    ends: Vec<u32>,
    rows: Vec<u32>,
}

impl RowLists {
    /// A list by its number.
    #[inline]
    pub(super) fn of(&self, number: u32) -> &[u32] {
        let end =
            |number: Option<u32>| number.and_then(|at| self.ends.get(at as usize)).copied().unwrap_or(0);
        self.rows.get(end(number.checked_sub(1)) as usize..end(Some(number)) as usize).unwrap_or_default()
    }

    /// Adds a row to the list that is last, and has no end yet.
    pub(super) fn push(&mut self, row: u32) {
        self.rows.push(row);
    }

    /// The rows that were added last are all of the next list.
    pub(super) fn end(&mut self) {
        self.ends.push(u32::try_from(self.rows.len()).unwrap_or(u32::MAX));
    }

    /// Gives rows other numbers, by number.
    pub(super) fn renumber(&mut self, numbers: &[u32]) {
        for row in &mut self.rows {
            *row = numbers.get(*row as usize).copied().unwrap_or(u32::MAX);
        }
    }
}

/// The rows of parts.
#[derive(Clone, Debug, Default)]
pub(super) struct PartRows {
    first: Arc<RowLists>,
    /// The parts that have other rows than at first.
    changed: Ranks,
    /// Theirs, in the order of the parts.
    rows: RowLists,
}

impl PartRows {
    pub(super) fn new(lists: RowLists) -> PartRows {
        PartRows { first: Arc::new(lists), ..PartRows::default() }
    }

    /// The same where some parts, and those that have changed before, get rows anew: one after the other ([`PartRows::changed`]).
    pub(super) fn changing(&self, is_changed: impl Fn(u32) -> bool) -> PartRows {
        let parts = self.first.ends.len();
        let changed = Ranks::new(parts, |part| is_changed(part) || self.changed.rank(part).is_some());
        PartRows { first: Arc::clone(&self.first), changed, rows: RowLists::default() }
    }

    /// The parts that have other rows than at first.
    pub(super) fn changed(&self) -> impl Iterator<Item = u32> + use<> {
        self.changed.clone().into_numbers()
    }

    /// Gives the next of the changed parts its rows.
    pub(super) fn push(&mut self, rows: &[u32]) {
        self.rows.rows.extend_from_slice(rows);
        self.rows.end();
    }

    /// The rows of a part.
    #[inline]
    pub(super) fn of(&self, part: u32) -> &[u32] {
        match self.changed.rank(part) {
            Some(rank) => self.rows.of(rank),
            None => self.first.of(part),
        }
    }
}

/// Some numbers, each with its rank among them.
#[derive(Clone, Debug, Default)]
struct Ranks {
    /// By 64 numbers: a bit for each that is in, and how many are before them.
    words: Vec<(u64, u32)>,
}

impl Ranks {
    /// Those below a limit that are in.
    fn new(limit: usize, is_in: impl Fn(u32) -> bool) -> Ranks {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        let mut before = 0;
        let word = |at: u32| {
            let numbers = (0..u64::BITS).map(|bit| (bit, at.saturating_mul(u64::BITS).saturating_add(bit)));
            let is_in = |(_, number): &(u32, u32)| *number < limit && is_in(*number);
            let bits = numbers.filter(is_in).fold(0, |bits, (bit, _)| bits | 1_u64 << bit);
            let word = (bits, before);
            before += bits.count_ones();
            word
        };
        Ranks { words: (0..limit.div_ceil(u64::BITS)).map(word).collect() }
    }

    #[inline]
    fn rank(&self, number: u32) -> Option<u32> {
        let (bits, before) = self.words.get((number / u64::BITS) as usize)?;
        let bit = 1_u64 << (number % u64::BITS);
        (bits & bit != 0).then(|| before + (bits & (bit - 1)).count_ones())
    }

    /// All of them, from the lowest.
    fn into_numbers(self) -> impl Iterator<Item = u32> {
        let of_word = |((mut bits, _), at): ((u64, u32), u32)| {
            std::iter::from_fn(move || {
                let bit = (bits != 0).then(|| bits.trailing_zeros())?;
                bits &= bits - 1;
                Some(at * u64::BITS + bit)
            })
        };
        self.words.into_iter().zip(0..).flat_map(of_word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Lists = Vec<Vec<u32>>;

    fn all(parts: &PartRows, count: usize) -> Lists {
        (0..).take(count).map(|part| parts.of(part).to_vec()).collect()
    }

    proptest! {
        #[test]
        fn changes_lie_over_what_was_there(
            first in proptest::collection::vec(proptest::collection::vec(0..9_u32, 0..4), 0..200),
            changes in proptest::collection::vec((0..20_u32, proptest::collection::vec(0..9_u32, 0..3)), 0..4),
        ) {
            let mut lists = RowLists::default();
            for list in &first {
                list.iter().for_each(|row| lists.push(*row));
                lists.end();
            }
            let (mut parts, mut expected) = (PartRows::new(lists), first.clone());
            for (step, rows) in changes {
                let is_changed = |part: u32| part % 20 == step;
                let mut next = parts.changing(is_changed);
                for part in next.changed() {
                    let rows = if is_changed(part) { rows.as_slice() } else { parts.of(part) };
                    next.push(rows);
                    expected[part as usize] = rows.to_vec();
                }
                parts = next;
                prop_assert_eq!(&all(&parts, first.len()), &expected);
            }
        }
    }
}
