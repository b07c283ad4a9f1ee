//! Values of the options.

use clap::ValueEnum;
use readperf_edit::Strip;
use std::str::FromStr;

/// The levels that zstd has; those below one are faster.
const LEVELS: std::ops::RangeInclusive<i32> = -7..=22;

/// A level of compression.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level(pub(crate) i32);

impl FromStr for Level {
    type Err = String;
    fn from_str(text: &str) -> Result<Level, String> {
        let level = text.parse().ok().filter(|level| LEVELS.contains(level) && *level != 0);
        level.map(Level).ok_or_else(|| "expected a level from 1 to 22, or from -1 to -7".to_owned())
    }
}

/// What can be taken out of samples.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(super) enum Part {
    /// What tracepoints and other events say of themselves
    Raw,
    /// Copies of user stacks
    Stack,
    /// Registers
    Regs,
    /// Branch stacks
    Branches,
    /// Pieces of AUX traces
    Aux,
    /// Call chains
    Chains,
}

impl Part {
    pub(super) fn take_out(self, strip: &mut Strip) {
        *match self {
            Part::Raw => &mut strip.raw,
            Part::Stack => &mut strip.stacks,
            Part::Regs => &mut strip.registers,
            Part::Branches => &mut strip.branches,
            Part::Aux => &mut strip.aux,
            Part::Chains => &mut strip.chains,
        } = true;
    }
}
