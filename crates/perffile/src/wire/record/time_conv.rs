//! PERF_RECORD_TIME_CONV (79): how the hardware's clock relates to the recording's.

use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step};

/// `time = zero + (cycles * mult >> shift)`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TimeConv {
    /// Shift.
    pub time_shift: u64,
    /// Multiplier.
    pub time_mult: u64,
    /// Time at cycle 0, ns.
    pub time_zero: u64,
    /// More about short counters, since perf 5.10.
    pub short: Option<ShortClock>,
}

fields! {
    /// About counters that are narrower than 64 bits.
    #[derive(Copy)]
    pub struct ShortClock {
        /// Cycles.
        time_cycles: u64,
        /// Mask of the valid bits.
        time_mask: u64 as addr,
        /// Whether `time_zero` is valid.
        cap_user_time_zero: u8,
        /// Whether the two words above are.
        cap_user_time_short: u8,
        /// Unused.
        unused: [u8; 6],
    }
}

impl<'a> Fields<'a> for TimeConv {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u64("time_shift", &mut self.time_shift)?;
        pass.u64("time_mult", &mut self.time_mult)?;
        pass.u64("time_zero", &mut self.time_zero)?;
        if pass.left().map_or(self.short.is_some(), |left| left >= 24) {
            pass.inner("short", self.short.get_or_insert_default())?;
        }
        Ok(())
    }
}
