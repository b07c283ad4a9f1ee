//! What a transform keeps of each level on the way along a stack.

use crate::names::FunctionId;
use readperf_session::BinaryId;
use rustc_hash::FxHashSet;

/// What a transform does at each level, made ready.
pub(super) enum Rule<'t> {
    Keep {
        wanted: Vec<bool>,
        is_wanted: bool,
    },
    From {
        roots: Vec<bool>,
    },
    Below {
        path: &'t [FunctionId],
    },
    /// With the function that stands for each, whether inlined or not.
    Recursion {
        one_of: Vec<FunctionId>,
    },
    Binaries {
        binaries: FxHashSet<BinaryId>,
    },
}

/// What was met on the way along a stack.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Way {
    /// The function of the last level.
    function: Option<FunctionId>,
    /// The binary of the last level.
    binary: Option<BinaryId>,
    /// How far the beginning that is wanted has been met.
    met: u32,
    /// Whether the stack begins with something else.
    astray: bool,
}

impl Rule<'_> {
    /// Whether a level is kept.
    pub(super) fn keeps(&self, way: &mut Way, function: FunctionId, binary: Option<BinaryId>) -> bool {
        let among = |functions: &[bool]| functions.get(function.index()).copied().unwrap_or(false);
        let keeps = match self {
            Rule::Keep { wanted, is_wanted } => among(wanted) == *is_wanted,
            Rule::From { roots } => {
                way.met |= u32::from(among(roots));
                way.met > 0
            }
            Rule::Below { path } => match path.get(way.met as usize) {
                _ if way.astray => false,
                None => true,
                Some(next) => {
                    way.astray = *next != function;
                    way.met += u32::from(!way.astray);
                    way.met as usize == path.len()
                }
            },
            Rule::Recursion { one_of } => {
                let one = one_of.get(function.index()).copied();
                let repeats = one.is_some() && way.function == one;
                way.function = one;
                !repeats
            }
            Rule::Binaries { binaries } => {
                way.binary != binary || !binary.is_some_and(|binary| binaries.contains(&binary))
            }
        };
        way.binary = binary;
        keeps
    }

    /// Whether all levels to come are kept, or none, whatever they are; nothing if that depends.
    pub(super) fn keeps_from_here(&self, way: &Way) -> Option<bool> {
        match self {
            Rule::From { .. } => (way.met > 0).then_some(true),
            Rule::Below { path } => {
                let is_met = !way.astray && way.met as usize == path.len();
                (way.astray || is_met).then_some(is_met)
            }
            Rule::Keep { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => None,
        }
    }

    /// Whether it keeps a level or not whatever was met before.
    pub(super) fn is_of_levels_alone(&self) -> bool {
        match self {
            Rule::Keep { .. } => true,
            Rule::From { .. } | Rule::Below { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => false,
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
