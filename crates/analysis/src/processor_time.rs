//! Ticks of the processor as times of the recording.
//!
//! The kernel tells with each ring buffer how its clock follows from the ticks: `time_shift`, `time_mult` and `time_zero` of
//! `struct perf_event_mmap_page` (`linux/perf_event.h`). perf passes that on in the record TIME_CONV. It holds for the clock
//! that events have by themselves. For a clock that was asked for (`-k`) the kernel tells no relation.

use perffile::wire::record::time_conv::TimeConv;

/// How the clock of a recording follows from the ticks of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProcessorTime {
    shift: u32,
    mult: u64,
    zero: u64,
    /// Ticks at some time, and the bits that a counter has which is narrower than 64 bits.
    narrow: Option<(u64, u64)>,
}

impl ProcessorTime {
    /// What a record tells; `None` if it tells of no relation.
    pub(crate) fn told(record: &TimeConv) -> Option<ProcessorTime> {
        let TimeConv { time_shift, time_mult, time_zero, short } = *record;
        let shift = u32::try_from(time_shift).ok().filter(|shift| *shift < u64::BITS)?;
        if time_mult == 0 || short.is_some_and(|short| short.cap_user_time_zero == 0) {
            return None;
        }
        let narrow = short.filter(|short| short.cap_user_time_short != 0);
        let narrow = narrow.map(|short| (short.time_cycles, short.time_mask));
        Some(ProcessorTime { shift, mult: time_mult, zero: time_zero, narrow })
    }

    /// The time of the recording at so many ticks, ns. The kernel counts modulo 2⁶⁴: `time_zero` is below zero, as such a
    /// number, where ticks began before the clock did.
    pub(crate) fn time_ns(&self, ticks: u64) -> u64 {
        let ticks = self.narrow.map_or(ticks, |(known, mask)| widened(ticks, known, mask));
        let since_zero = (u128::from(ticks) * u128::from(self.mult)) >> self.shift;
        let since_zero = u64::try_from(since_zero & u128::from(u64::MAX)).unwrap_or(u64::MAX);
        self.zero.wrapping_add(since_zero)
    }
}

/// What a narrow counter would have counted with 64 bits: the number next to a known one, above or below it. (perf takes the
/// next one above, and so code that was made before the recording began into the far future.)
fn widened(ticks: u64, known: u64, mask: u64) -> u64 {
    let above = ticks.wrapping_sub(known) & mask;
    let below = known.wrapping_sub(ticks) & mask;
    if above <= below { known.wrapping_add(above) } else { known.wrapping_sub(below) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perffile::wire::record::time_conv::ShortClock;

    fn time(record: TimeConv, ticks: u64) -> u64 {
        ProcessorTime::told(&record).unwrap().time_ns(ticks)
    }

    fn plain(time_shift: u64, time_mult: u64, time_zero: u64) -> TimeConv {
        TimeConv { time_shift, time_mult, time_zero, short: None }
    }

    fn narrow(cycles: u64, mask: u64, zero: u8, short: u8) -> Option<ShortClock> {
        Some(ShortClock {
            time_cycles: cycles,
            time_mask: mask,
            cap_user_time_zero: zero,
            cap_user_time_short: short,
            unused: [0; 6],
        })
    }

    /// Worked out in Python, whose numbers have no end: `(zero + (ticks * mult >> shift)) % 2**64`.
    #[test]
    fn ticks_become_times_whatever_the_numbers() {
        let expected: [(u64, u64, u64, u64, u64); 8] = [
            (31, 827_155_372, 0, 0, 0),
            (31, 827_155_372, 0, 2_596_138_000, 999_965_468),
            (31, 827_155_372, 18_446_744_068_709_551_616, 121_838_290_517_413, 46_923_970_383_840),
            (10, 394, 1_000_000_000, 12_345_678_901_234_567, 4_750_193_858_482_831),
            (32, 4_294_967_295, 77, 18_446_744_073_709_551_615, 18_446_744_069_414_584_396),
            (0, 1, 5, 1_000, 1_005),
            (
                63,
                18_446_744_073_709_551_615,
                18_446_744_073_709_551_615,
                18_446_744_073_709_551_615,
                18_446_744_073_709_551_611,
            ),
            (0, 18_446_744_073_709_551_615, 3, 18_446_744_073_709_551_615, 4),
        ];
        for (shift, mult, zero, ticks, ns) in expected {
            assert_eq!(time(plain(shift, mult, zero), ticks), ns, "{shift} {mult} {zero} {ticks}");
        }
    }

    /// The counter has 56 bits, and had counted over five times when it was read. The times are those of all 64 bits.
    #[test]
    fn narrow_counters_are_read_next_to_a_known_number() {
        let known = 0x523000000001000;
        let record = TimeConv { short: narrow(known, (1 << 56) - 1, 1, 1), ..plain(24, 671_088_640, 9) };
        let expected: [(u64, u64); 5] = [
            (9_851_624_184_877_056, 14_805_583_774_980_669_449),
            (9_851_624_184_877_556, 14_805_583_774_980_689_449),
            (9_851_624_184_876_556, 14_805_583_774_980_649_449),
            (9_852_723_696_504_832, 14_805_627_755_445_780_489),
            (9_850_524_673_249_280, 14_805_539_794_515_558_409),
        ];
        for (ticks, ns) in expected {
            assert_eq!(time(record, ticks), ns, "{ticks:#x}");
        }
        // Without the flag the number is what it is.
        let record = TimeConv { short: narrow(known, (1 << 56) - 1, 1, 0), ..plain(24, 671_088_640, 9) };
        assert_eq!(time(record, 1 << 24), 671_088_649);
    }

    #[test]
    fn records_that_tell_of_no_relation() {
        assert_eq!(ProcessorTime::told(&plain(31, 0, 1)), None);
        assert_eq!(ProcessorTime::told(&plain(64, 1, 1)), None);
        assert_eq!(ProcessorTime::told(&plain(1 << 32, 1, 1)), None);
        let record = TimeConv { short: narrow(1, u64::MAX, 0, 0), ..plain(31, 1, 1) };
        assert_eq!(ProcessorTime::told(&record), None);
    }
}
