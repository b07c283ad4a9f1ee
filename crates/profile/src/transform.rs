//! Stacks that are changed to be read: what is left out of them, put together, or where they begin.
//!
//! A transform goes along each stack from the outermost level to the innermost and keeps some of them; what a function that is
//! left out took is its caller's. Stacks are a tree, so each part is gone through once: the work is that of the stacks of the
//! samples that are chosen, and no other pass over the recording is needed.
//!
//! Inlined functions are levels, too. An address of which only some levels are kept becomes a place of its own, with the names
//! of those ([`Profile::recorded_place`] tells which it was).

mod change;
mod rule;

use crate::addresses::AddressId;
use crate::groups::Groups;
use crate::names::{Frame, FunctionId, Names};
use crate::profile::Profile;
use crate::select::is_called;
use readperf_session::{BinaryId, Session};
use regex::Regex;
use rule::Rule;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Some functions.
#[derive(Clone, Debug)]
pub enum Functions {
    /// Those whose names match a pattern.
    Matching(Regex),
    /// These.
    These(BTreeSet<FunctionId>),
}

/// A change of stacks.
#[derive(Clone, Debug, PartialEq)]
pub enum Transform {
    /// These functions are left out.
    Hide(Functions),
    /// All other functions are left out.
    Show(Functions),
    /// Stacks begin at the outermost of these functions. Samples without one are left out.
    ShowFrom(Functions),
    /// Only stacks that begin with one of each of these functions, the outermost first; they begin with the last of them. Other samples are
    /// left out.
    Subtree(Vec<Functions>),
    /// A function that calls itself is there once.
    CollapseRecursion,
    /// What one of these binaries, by short name or path, calls in itself is left out.
    CollapseBinaries(Vec<String>),
    /// Names of functions lose this beginning.
    DropPrefix(String),
}

/// Patterns are the same if they are written the same.
impl PartialEq for Functions {
    fn eq(&self, other: &Functions) -> bool {
        match (self, other) {
            (Functions::Matching(a), Functions::Matching(b)) => a.as_str() == b.as_str(),
            (Functions::These(a), Functions::These(b)) => a == b,
            (Functions::Matching(_), Functions::These(_)) | (Functions::These(_), Functions::Matching(_)) => {
                false
            }
        }
    }
}

impl Transform {
    /// Whether it looks at whole stacks, so that these have to be kept.
    pub fn needs_stacks(&self) -> bool {
        match self {
            Transform::Hide(_)
            | Transform::Show(_)
            | Transform::ShowFrom(_)
            | Transform::Subtree(_)
            | Transform::CollapseRecursion
            | Transform::CollapseBinaries(_) => true,
            Transform::DropPrefix(_) => false,
        }
    }
}

impl Functions {
    /// For each function by number, whether it is one of them.
    fn among(&self, names: &Names) -> Vec<bool> {
        let functions = names.functions();
        match self {
            Functions::Matching(pattern) => {
                functions.map(|function| function.name().is_some_and(|name| pattern.is_match(name))).collect()
            }
            Functions::These(these) => {
                let mut among = vec![false; functions.len()];
                for function in these {
                    if let Some(is_one) = among.get_mut(function.index()) {
                        *is_one = true;
                    }
                }
                among
            }
        }
    }
}

impl Profile {
    /// Changes the stacks, one transform after the other. The totals of the events become those of the samples that are left.
    pub fn transform(&mut self, transforms: &[Transform], session: &Session) {
        for transform in transforms {
            match self.rule(transform, session) {
                Some(rule) => self.apply(&rule),
                None => self.rename(transform),
            }
        }
        self.add_up();
    }

    /// What a transform makes of groups of samples whose stacks are a tree: this profile without samples, as they are changed, and the
    /// groups with their new stacks. Stacks that become equal stay apart.
    #[must_use]
    pub fn with_changed(
        &self,
        transform: &Transform,
        groups: &Groups,
        session: &Session,
    ) -> (Profile, Groups) {
        let mut profile = self.without_samples();
        let changed = match self.rule(transform, session) {
            Some(rule) => profile.apply_to_groups(&rule, groups),
            None => {
                profile.rename(transform);
                groups.clone()
            }
        };
        (profile, changed)
    }

    /// Readies names for changes of stacks, so that these need not copy them.
    pub fn expect_changes(&mut self) {
        self.hidden_function();
    }

    /// What a transform does at each level; nothing if it changes no stacks.
    fn rule(&self, transform: &Transform, session: &Session) -> Option<Rule> {
        Some(match transform {
            Transform::Hide(functions) => {
                Rule::Keep { wanted: functions.among(&self.names), is_wanted: false }
            }
            Transform::Show(functions) => {
                Rule::Keep { wanted: functions.among(&self.names), is_wanted: true }
            }
            Transform::ShowFrom(functions) => Rule::From { roots: functions.among(&self.names) },
            Transform::Subtree(path) => {
                Rule::Below { path: path.iter().map(|functions| functions.among(&self.names)).collect() }
            }
            Transform::CollapseRecursion => Rule::Recursion { one_of: self.names.one_of_name() },
            Transform::CollapseBinaries(wanted) => {
                Rule::Binaries { binaries: self.binaries_called(wanted, session) }
            }
            Transform::DropPrefix(_) => return None,
        })
    }

    /// Gives functions the names that a transform wants.
    fn rename(&mut self, transform: &Transform) {
        if let Transform::DropPrefix(prefix) = transform {
            Arc::make_mut(&mut self.names).drop_prefix(prefix);
        }
    }

    /// The function that stands for those that are left out.
    fn hidden_function(&mut self) -> FunctionId {
        self.names.known_hidden().unwrap_or_else(|| Arc::make_mut(&mut self.names).hidden())
    }

    /// The binaries of places that have one of these names.
    fn binaries_called(&self, wanted: &[String], session: &Session) -> FxHashSet<BinaryId> {
        let binaries = self.addresses.as_slice().iter().filter_map(|code| code.binary);
        let mut binaries: FxHashSet<BinaryId> = binaries.collect();
        binaries.retain(|id| session.binary(*id).is_some_and(|binary| is_called(binary, wanted)));
        binaries
    }

    /// Of a place that a transform made: the one that was recorded.
    pub fn recorded_place(&self, address: AddressId) -> AddressId {
        let made = address.index().checked_sub(self.addresses.len() - self.made_of.len());
        made.and_then(|made| self.made_of.get(made)).copied().unwrap_or(address)
    }

    /// A place with other levels than the one it is made of.
    fn make_place(&mut self, of: AddressId, levels: &[Frame]) -> AddressId {
        let recorded = self.recorded_place(of);
        let Some(code) = self.addresses.get(recorded) else { return of };
        let place = Arc::make_mut(&mut self.addresses).again(code);
        Arc::make_mut(&mut self.names).add_place(levels);
        self.made_of.push(recorded);
        place
    }
}
