//! The weight of a sample in three parts: `union perf_sample_weight` of the kernel's `perf_event.h`.
//!
//! The declaration is reversed on big-endian machines, so that the parts have the same place in the value everywhere.

use super::value::{Words, value};

/// The parts of PERF_SAMPLE_WEIGHT_STRUCT, lowest first. What the last two mean depends on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WeightParts(pub u64);

impl WeightParts {
    /// Latency in cycles.
    pub const fn var1(self) -> u64 {
        self.0 & 0xffff_ffff
    }
    /// On x86 the latency of the instruction in cycles.
    pub const fn var2(self) -> u64 {
        self.0 >> 32 & 0xffff
    }
    /// On x86 the cycles to retirement, on PowerPC those of a pipeline stage.
    pub const fn var3(self) -> u64 {
        self.0 >> 48
    }
}

value!(WeightParts as u64, |value: WeightParts| Some(Words::Parts(vec![
    ("var1", value.var1()),
    ("var2", value.var2()),
    ("var3", value.var3()),
])));

#[cfg(test)]
mod tests {
    #[test]
    fn parts_lie_from_the_low_end() {
        let parts = super::WeightParts(0x0003_0002_0000_0001);
        assert_eq!((parts.var1(), parts.var2(), parts.var3()), (1, 2, 3));
    }
}
