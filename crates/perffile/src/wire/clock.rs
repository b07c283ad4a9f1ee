//! Clocks that samples can be timed with: CLOCK_* of `linux/time.h`.

const NAMES: [&str; 12] = [
    "realtime",
    "monotonic",
    "process_cputime_id",
    "thread_cputime_id",
    "monotonic_raw",
    "realtime_coarse",
    "monotonic_coarse",
    "boottime",
    "realtime_alarm",
    "boottime_alarm",
    "sgi_cycle",
    "tai",
];

/// Name of a clock, as `perf record -k` takes it in lower case.
pub fn name(clockid: i32) -> Option<&'static str> {
    NAMES.get(usize::try_from(clockid).ok()?).copied()
}

#[cfg(test)]
mod tests {
    /// Numbers of `linux/time.h`.
    #[test]
    fn clocks_have_names() {
        let names = [0, 1, 4, 7, 11].map(|id| super::name(id).unwrap());
        assert_eq!(names, ["realtime", "monotonic", "monotonic_raw", "boottime", "tai"]);
        assert_eq!((super::name(-1), super::name(12)), (None, None));
    }
}
