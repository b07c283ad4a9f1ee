//! Clocks that samples can be timed with: CLOCK_* of `linux/time.h`.

use super::value::numbers;
use std::fmt;

numbers! {
    /// A clock, by the name that `perf record -k` takes.
    pub struct ClockId(i32) {
        0 REALTIME "realtime", 1 MONOTONIC "monotonic", 2 PROCESS_CPUTIME_ID "process_cputime_id",
        3 THREAD_CPUTIME_ID "thread_cputime_id", 4 MONOTONIC_RAW "monotonic_raw",
        5 REALTIME_COARSE "realtime_coarse", 6 MONOTONIC_COARSE "monotonic_coarse", 7 BOOTTIME "boottime",
        8 REALTIME_ALARM "realtime_alarm", 9 BOOTTIME_ALARM "boottime_alarm", 10 SGI_CYCLE "sgi_cycle",
        11 TAI "tai",
    }
}

/// As in the kernel: `CLOCK_MONOTONIC`.
impl fmt::Display for ClockId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "CLOCK_{}", name.to_uppercase()),
            None => write!(f, "clock {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ClockId;

    /// Numbers of `linux/time.h`.
    #[test]
    fn clocks_have_names() {
        let names = [0, 1, 4, 7, 11].map(|id| ClockId(id).name().unwrap());
        assert_eq!(names, ["realtime", "monotonic", "monotonic_raw", "boottime", "tai"]);
        assert_eq!((ClockId(-1).name(), ClockId(12).name()), (None, None));
        assert_eq!(ClockId::MONOTONIC_RAW.to_string(), "CLOCK_MONOTONIC_RAW");
        assert_eq!(ClockId(-1).to_string(), "clock -1");
    }
}
