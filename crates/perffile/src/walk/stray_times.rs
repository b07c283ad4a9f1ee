//! Which times of samples can be. SAMPLE_TIME (21) tells those of the first and the last one; what lies far outside was
//! changed after it was written, or is that of a clock gone wrong.

use crate::features::Features;
use crate::order::Queue;

/// Least distance to the first and the last sample that is far, ns. The recorder may not have looked at each sample.
const FAR_NS: u64 = 1_000_000_000;

/// So many samples may have impossible times. If more do, it is what SAMPLE_TIME tells that was changed.
const MOST_STRAYS: u32 = 16;

/// Finds the few samples with impossible times, in the order of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StrayTimes {
    range: SampleTimes,
    met: u32,
}

impl StrayTimes {
    /// Takes the range from what the recording tells.
    pub(super) fn learn(&mut self, features: &Features) {
        self.range = SampleTimes::of(features);
    }

    /// Whether a sample with this time, ns, is a stray. One that has no time (0) is, where a range is told; those may be many.
    #[inline(always)]
    pub(super) fn is_stray(&mut self, time_ns: u64) -> bool {
        !self.range.holds(time_ns) && (time_ns == 0 || self.is_one_of_few())
    }

    /// Whether a sample with this time, ns, waits for its turn, without a doubt.
    #[inline(always)]
    pub(super) fn is_usual(&self, time_ns: u64) -> bool {
        self.range.holds(time_ns) && Queue::has_to_wait(time_ns)
    }

    #[cold]
    fn is_one_of_few(&mut self) -> bool {
        self.met = self.met.saturating_add(1);
        self.met <= MOST_STRAYS
    }
}

/// A range of times, ns. By default all of them.
#[derive(Clone, Copy, Debug)]
struct SampleTimes {
    first: u64,
    /// From the first to the last that can be.
    span: u64,
}

impl Default for SampleTimes {
    fn default() -> Self {
        SampleTimes { first: 0, span: u64::MAX }
    }
}

impl SampleTimes {
    /// From what the recording tells: as much again on both sides of the range, and at least a second. Both times are 0 if
    /// perf did not look.
    fn of(features: &Features) -> Self {
        let Some(told) = features.sample_time().filter(|told| told.last >= told.first && told.last > 0)
        else {
            return SampleTimes::default();
        };
        let far = (told.last - told.first).max(FAR_NS);
        let first = told.first.saturating_sub(far).max(1);
        SampleTimes { first, span: told.last.saturating_add(far).saturating_sub(first) }
    }

    /// Whether a sample can have this time.
    #[inline(always)]
    fn holds(self, time_ns: u64) -> bool {
        time_ns.wrapping_sub(self.first) <= self.span
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::endian::ByteOrder;
    use crate::wire::feature::bit;

    fn told(first: u64, last: u64) -> SampleTimes {
        let mut features = Features::new(ByteOrder::Little);
        let bytes = [first.to_le_bytes(), last.to_le_bytes()].concat();
        features.insert(bit::SAMPLE_TIME, crate::bytes::Bytes::new(bytes), 0);
        SampleTimes::of(&features)
    }

    #[test]
    fn as_much_again_on_both_sides() {
        let second = 1_000_000_000;
        let times = told(20 * second, 30 * second);
        let held = |time: u64| times.holds(time);
        assert!(held(10 * second) && held(20 * second) && held(40 * second));
        assert!(!held(10 * second - 1) && !held(40 * second + 1));
        assert!(!held(0) && !held(u64::MAX));
        let short = told(20 * second, 20 * second + 5);
        assert!(short.holds(19 * second + 5) && short.holds(21 * second + 5) && !short.holds(22 * second));
        assert!(!told(1, 5).holds(0) && told(1, 5).holds(1), "0 is no time");
        assert!(told(u64::MAX - 1, u64::MAX).holds(u64::MAX));
    }

    #[test]
    fn nothing_told_is_no_limit() {
        for times in [SampleTimes::default(), told(0, 0), told(7, 6)] {
            assert!(times.holds(0) && times.holds(1) && times.holds(u64::MAX));
        }
    }
}
