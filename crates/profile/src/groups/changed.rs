//! Groups whose stacks were changed, and choices among them.

use super::Groups;
use crate::addresses::AddressId;
use crate::known::Known;
use crate::picked::Picked;
use crate::profile::{Profile, SampleRow};
use crate::select::{NameFilter, NameTest};
use crate::stacks::StackId;
use readperf_session::Session;
use std::sync::Arc;

impl Groups {
    /// The same groups with changed stacks: `change` gives the stack and the place of each, or says that its samples do not count.
    pub(crate) fn with_stacks(
        &self,
        mut change: impl FnMut(StackId, AddressId) -> Option<(StackId, AddressId)>,
    ) -> Groups {
        let left_out = (StackId::EMPTY, AddressId::NONE);
        let changed = self.placed().map(|(stack, address)| match address {
            AddressId::NONE => left_out,
            address => change(stack, address).unwrap_or(left_out),
        });
        Groups { changed: Some(Arc::new(changed.collect())), ..self.clone() }
    }

    /// The same groups with the stacks that their samples have in other groups of the same samples, whose stacks were changed.
    #[must_use]
    pub fn with_stacks_of(&self, other: &Groups) -> Groups {
        let mut changed = vec![(StackId::EMPTY, AddressId::NONE); self.rows.len()];
        let of_other = other.of_row.iter().map(|group| other.placed_at(*group as usize));
        for (group, placed) in self.of_row.iter().zip(of_other) {
            if let (Some(slot), Some(placed)) = (changed.get_mut(*group as usize), placed) {
                *slot = placed;
            }
        }
        Groups { changed: Some(Arc::new(changed)), ..self.clone() }
    }

    /// Whether the samples of a group count.
    #[inline]
    fn keeps(&self, group: usize) -> bool {
        self.changed_at(group).is_none_or(|(_, at)| at != AddressId::NONE)
    }

    /// Of the rows that are picked, leaves those of groups that are kept and pass a test. `passes` is asked once a group.
    pub(crate) fn pick(&self, picked: &mut Picked, passes: impl Fn(&SampleRow) -> bool) {
        let of_group = |(group, row): (usize, SampleRow)| self.keeps(group) && passes(&row);
        let passing: Vec<bool> = self.rows_of(0..self.rows.len()).enumerate().map(of_group).collect();
        picked.retain_at(|at| passing.get(self.of_row(at)) == Some(&true));
    }

    /// Of the rows that are picked, leaves those that changes of stacks have not left out.
    pub fn pick_kept(&self, picked: &mut Picked) {
        if self.changed.is_some() {
            picked.retain_at(|at| self.keeps(self.of_row(at)));
        }
    }

    /// Of the rows that are picked, leaves those that a filter lets through. `profile` has the stacks of these groups.
    pub fn pick_named(&self, profile: &Profile, names: &NameFilter, session: &Session, picked: &mut Picked) {
        if !names.is_open() {
            let known = Known { session, addresses: &profile.addresses, names: &profile.names };
            let test = NameTest::new(names, &known, &profile.stacks);
            self.pick(picked, |row| test.passes(row));
        }
    }
}
