//! Where samples were taken. Behind a change of stacks that is mostly where it was: what is other lies over that.

use perffile::wire::head::CpuMode;
use std::sync::Arc;

/// Where the samples of a group were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// The part that is their whole stack; [`super::calls::NONE`] without one.
    pub(super) part: u32,
    pub(super) row: u32,
    pub(super) mode: CpuMode,
    /// Whether no part of their stack is in that row.
    pub(super) apart: bool,
}

/// The same of all groups.
#[derive(Clone, Debug, Default)]
pub(super) struct TakenAt {
    first: Arc<Vec<Taken>>,
    /// Those that have changed, in the order of the groups, whose numbers these are.
    changed: Vec<(u32, Taken)>,
}

impl TakenAt {
    pub(super) fn new(all: Vec<Taken>) -> TakenAt {
        TakenAt { first: Arc::new(all), changed: Vec::new() }
    }

    /// That of a group.
    pub(super) fn get(&self, group: u32) -> Option<Taken> {
        match self.changed.binary_search_by_key(&group, |(changed, _)| *changed) {
            Ok(at) => self.changed.get(at).map(|(_, taken)| *taken),
            Err(_) => self.first.get(group as usize).copied(),
        }
    }

    /// Those of all groups, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = Taken> + '_ {
        let mut changed = self.changed.iter().peekable();
        self.first.iter().zip(0..).map(move |(taken, nr)| {
            changed.next_if(|(group, _)| *group == nr).map_or(*taken, |(_, changed)| *changed)
        })
    }

    /// The same with others for some groups, in their order.
    pub(super) fn with(&self, new: Vec<(u32, Taken)>) -> TakenAt {
        let is_new = |group: u32| new.binary_search_by_key(&group, |(group, _)| *group).is_ok();
        let others = self.changed.iter().filter(|(group, _)| !is_new(*group));
        let mut changed: Vec<(u32, Taken)> = others.copied().collect();
        // Two runs that are sorted.
        changed.extend(new);
        changed.sort_by_key(|(group, _)| *group);
        TakenAt { first: Arc::clone(&self.first), changed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn changes_lie_over_what_was_there(
            count in 0..40_u32,
            changes in proptest::collection::vec(proptest::collection::btree_map(0..40_u32, 0..9_u32, 0..20), 0..4),
        ) {
            let at = |row| Taken { part: 1, row, mode: CpuMode::User, apart: false };
            let mut expected: Vec<Taken> = (0..count).map(at).collect();
            let mut taken = TakenAt::new(expected.clone());
            for change in changes {
                let change: BTreeMap<u32, u32> = change.into_iter().filter(|(group, _)| *group < count).collect();
                taken = taken.with(change.iter().map(|(group, row)| (*group, at(*row))).collect());
                change.iter().for_each(|(group, row)| expected[*group as usize] = at(*row));
                prop_assert_eq!(taken.iter().collect::<Vec<_>>(), expected.clone());
                let each: Vec<Taken> = (0..count).filter_map(|group| taken.get(group)).collect();
                prop_assert_eq!(each, expected.clone());
                prop_assert_eq!(taken.get(count), None);
            }
        }
    }
}
