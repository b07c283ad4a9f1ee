//! The weight of a sample in three parts: `union perf_sample_weight` of the kernel's `perf_event.h`.
//!
//! The declaration is reversed on big-endian machines, so that the parts have the same place in the value everywhere.

/// The parts of PERF_SAMPLE_WEIGHT_STRUCT. What the last two mean depends on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WeightParts {
    /// Latency in cycles.
    pub var1: u32,
    /// On x86 the latency of the instruction in cycles.
    pub var2: u16,
    /// On x86 the cycles to retirement, on PowerPC those of a pipeline stage.
    pub var3: u16,
}

impl From<u64> for WeightParts {
    fn from(value: u64) -> Self {
        let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
        WeightParts {
            var1: u32::from_le_bytes([a, b, c, d]),
            var2: u16::from_le_bytes([e, f]),
            var3: u16::from_le_bytes([g, h]),
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn parts_lie_from_the_low_end() {
        let parts = super::WeightParts::from(0x0003_0002_0000_0001);
        assert_eq!((parts.var1, parts.var2, parts.var3), (1, 2, 3));
    }
}
