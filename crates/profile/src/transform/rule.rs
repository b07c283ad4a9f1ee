//! What a transform keeps of each level on the way along a stack.

use crate::names::FunctionId;
use readperf_session::BinaryId;
use rustc_hash::FxHashSet;

/// What a transform does at each level, made ready.
pub(super) enum Rule {
    Keep {
        wanted: Vec<bool>,
        is_wanted: bool,
    },
    From {
        roots: Vec<bool>,
    },
    Below {
        path: Vec<Vec<bool>>,
    },
    /// With the function that stands for each, whether inlined or not.
    Recursion {
        one_of: Vec<FunctionId>,
    },
    Binaries {
        binaries: FxHashSet<BinaryId>,
    },
}

/// What was met on the way along a stack, as one number, since there is one for each part of all stacks. What it is only a rule knows: for
/// one that looks for functions, how many it has met, or [`ASTRAY`]; else the last function or binary, from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Way(u32);

/// The stack begins with something else than what is wanted.
const ASTRAY: Way = Way(u32::MAX);

impl Way {
    /// With an index as the last that was met.
    fn last(index: Option<usize>) -> Way {
        Way(index.and_then(|index| u32::try_from(index + 1).ok()).unwrap_or(0))
    }
}

/// What becomes of all levels of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// All are kept.
    Kept,
    /// None is.
    Left,
    /// That has to be asked for each.
    Asked,
}

impl Rule {
    /// Whether a level is kept.
    pub(super) fn keeps(&self, way: &mut Way, function: FunctionId, binary: Option<BinaryId>) -> bool {
        let among = |functions: &[bool]| functions.get(function.index()).copied().unwrap_or(false);
        match self {
            Rule::Keep { wanted, is_wanted } => among(wanted) == *is_wanted,
            Rule::From { roots } => {
                way.0 |= u32::from(among(roots));
                way.0 > 0
            }
            Rule::Below { path } => match path.get(way.0 as usize) {
                _ if *way == ASTRAY => false,
                None => true,
                Some(next) => {
                    *way = if next.get(function.index()) == Some(&true) { Way(way.0 + 1) } else { ASTRAY };
                    way.0 as usize == path.len()
                }
            },
            Rule::Recursion { one_of } => {
                let one = one_of.get(function.index());
                let last = std::mem::replace(way, Way::last(one.map(|one| one.index())));
                one.is_none() || last != *way
            }
            Rule::Binaries { binaries } => {
                let last = std::mem::replace(way, Way::last(binary.map(BinaryId::index)));
                last != *way || !binary.is_some_and(|binary| binaries.contains(&binary))
            }
        }
    }

    /// Whether all levels to come are kept, or none, whatever they are; nothing if that depends.
    pub(super) fn keeps_from_here(&self, way: Way) -> Option<bool> {
        match self {
            Rule::From { .. } => (way.0 > 0).then_some(true),
            Rule::Below { path } => {
                let is_met = way != ASTRAY && way.0 as usize == path.len();
                (way == ASTRAY || is_met).then_some(is_met)
            }
            Rule::Keep { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => None,
        }
    }

    /// What becomes of an address with levels of these functions where that depends on them and, as long as
    /// [nothing else is known](Rule::keeps_from_here), not on what was met before; and does not change what was met.
    pub(super) fn fate(&self, mut functions: impl Iterator<Item = FunctionId>) -> Fate {
        let among = |functions: &[bool], function: FunctionId| functions.get(function.index()) == Some(&true);
        match self {
            Rule::Keep { wanted, is_wanted } => {
                let mut keeps = functions.map(|function| among(wanted, function) == *is_wanted);
                // Of nothing, nothing is kept.
                let first = keeps.next().unwrap_or(false);
                match (first, keeps.all(|keeps| keeps == first)) {
                    (true, true) => Fate::Kept,
                    (false, true) => Fate::Left,
                    (_, false) => Fate::Asked,
                }
            }
            Rule::From { roots } => match functions.any(|function| among(roots, function)) {
                true => Fate::Asked,
                false => Fate::Left,
            },
            Rule::Below { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => Fate::Asked,
        }
    }

    /// Whether fates are worth knowing beforehand.
    pub(super) fn has_fates(&self) -> bool {
        match self {
            Rule::Keep { .. } | Rule::From { .. } => true,
            Rule::Below { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => false,
        }
    }

    /// Whether it looks at what was met before.
    pub(super) fn looks_back(&self) -> bool {
        match self {
            Rule::Keep { .. } => false,
            Rule::From { .. } | Rule::Below { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => true,
        }
    }

    /// Whether samples of whose stack nothing is kept do not count at all.
    pub(super) fn leaves_out_samples(&self) -> bool {
        match self {
            Rule::From { .. } | Rule::Below { .. } => true,
            Rule::Keep { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => false,
        }
    }
}
