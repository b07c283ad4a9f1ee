//! The rows that samples of an event may have, in the order of their names. Those that a change of stacks brings stand between the others,
//! which keep their numbers.

use super::rows::RowKey;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// Rows by number, and their order.
#[derive(Clone, Debug, Default)]
pub(super) struct OrderedRows {
    first: Arc<Vec<RowKey>>,
    /// Those that came later: their numbers follow.
    later: Vec<RowKey>,
    /// All numbers in order, in runs.
    order: Vec<Range<u32>>,
}

impl OrderedRows {
    /// Those that are in order.
    pub(super) fn new(rows: Vec<RowKey>) -> OrderedRows {
        let all = 0..u32::try_from(rows.len()).unwrap_or(u32::MAX);
        OrderedRows { first: Arc::new(rows), later: Vec::new(), order: vec![all] }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.first.len() + self.later.len()
    }

    /// A row by its number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Option<RowKey> {
        let number = number as usize;
        let later = || self.later.get(number.checked_sub(self.first.len())?);
        self.first.get(number).or_else(later).copied()
    }

    /// All of them, by number.
    pub(super) fn by_number(&self) -> impl Iterator<Item = RowKey> + '_ {
        self.first.iter().chain(&self.later).copied()
    }

    /// The numbers of all, in order.
    pub(super) fn in_order(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.order.iter().flat_map(Clone::clone)
    }

    /// The same with more rows, whose numbers follow.
    pub(super) fn with(&self, new: Vec<RowKey>, compare: impl Fn(RowKey, RowKey) -> Ordering) -> OrderedRows {
        let mut numbered: Vec<(RowKey, u32)> = new.iter().copied().zip((0..).skip(self.len())).collect();
        numbered.sort_by(|(a, _), (b, _)| compare(*a, *b));
        let comes_before =
            |number: u32, row: RowKey| self.get(number).is_some_and(|known| compare(known, row).is_lt());
        let mut order: Vec<Range<u32>> = Vec::with_capacity(self.order.len() + 2 * new.len());
        let mut known = self.order.iter().cloned();
        let mut here = known.next();
        for (row, number) in numbered {
            while let Some(run) = &mut here {
                if run.end.checked_sub(1).is_some_and(|last| !comes_before(last, row)) {
                    let until = first_not(run.clone(), |number| comes_before(number, row));
                    order.push(run.start..until);
                    run.start = until;
                    break;
                }
                order.push(run.clone());
                here = known.next();
            }
            order.push(number..number.saturating_add(1));
        }
        order.extend(here.into_iter().chain(known));
        order.retain(|run| !run.is_empty());
        let later = self.later.iter().copied().chain(new).collect();
        OrderedRows { first: Arc::clone(&self.first), later, order }
    }
}

/// The first number of a run that is not below something, where all that are come first.
fn first_not(run: Range<u32>, is_below: impl Fn(u32) -> bool) -> u32 {
    let Range { mut start, mut end } = run;
    while start < end {
        let middle = start + (end - start) / 2;
        match is_below(middle) {
            true => start = middle + 1,
            false => end = middle,
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn rows_that_come_later_stand_between_the_others(
            first in proptest::collection::btree_set(0..500_u32, 0..100),
            more in proptest::collection::vec(proptest::collection::hash_set(0..500_u32, 0..20), 0..4),
        ) {
            let key = |place: u32| RowKey { sample: 0, place };
            let mut rows = OrderedRows::new(first.iter().copied().map(key).collect());
            let mut numbered: Vec<u32> = first.iter().copied().collect();
            let mut all: BTreeSet<u32> = first;
            for new in more {
                let new: Vec<u32> = new.into_iter().filter(|place| all.insert(*place)).collect();
                rows = rows.with(new.iter().copied().map(key).collect(), |a, b| a.place.cmp(&b.place));
                numbered.extend(new);
                let places = rows.in_order().map(|number| rows.get(number).unwrap().place);
                prop_assert_eq!(places.collect::<Vec<_>>(), all.iter().copied().collect::<Vec<_>>());
                prop_assert_eq!(rows.by_number().map(|row| row.place).collect::<Vec<_>>(), numbered.clone());
                prop_assert_eq!(rows.len(), numbered.len());
            }
        }
    }
}
