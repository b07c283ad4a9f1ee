//! How perf stat was asked to show its values.

/// What values are summed up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One row per event.
    Total,
    /// One row per event and CPU.
    Cpu,
    /// One row per event and thread.
    Thread,
    /// Sockets, dies, clusters, caches, cores or nodes: the values are per CPU.
    Topology(&'static str),
}

/// What was inserted into perf's list of modes, and since which version: the numbers behind it moved up by one.
const INSERTED: [(&str, (u32, u32)); 3] = [("die", (5, 2)), ("cluster", (6, 9)), ("cache", (6, 5))];

impl Mode {
    /// The mode with this number in this version of perf; without a version, in that of today.
    pub fn of_number(number: Option<u64>, version: Option<&str>) -> Mode {
        let version = version.and_then(parse).unwrap_or((u32::MAX, 0));
        let inserted =
            INSERTED.iter().filter(|(_, since)| version >= *since).map(|(name, _)| Mode::Topology(name));
        let first = [Mode::Cpu, Mode::Total, Mode::Topology("socket")];
        let last = [Mode::Topology("core"), Mode::Thread, Mode::Total, Mode::Topology("node")];
        let number = number.and_then(|number| usize::try_from(number).ok());
        number
            .and_then(|number| first.into_iter().chain(inserted).chain(last).nth(number))
            .unwrap_or(Mode::Total)
    }
}

/// Major and minor number of a version such as `6.1.187` or `6.12.rc3.g2c5`.
fn parse(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split(|c: char| !c.is_ascii_digit());
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_have_another_number_in_each_age() {
        let thread = |version| (0..9).find(|number| Mode::of_number(Some(*number), version) == Mode::Thread);
        assert_eq!(thread(Some("4.19.3")), Some(4));
        assert_eq!(thread(Some("6.1.187")), Some(5));
        assert_eq!(thread(Some("6.5.0")), Some(6));
        assert_eq!(thread(Some("6.12.rc3.g2c5d")), Some(7));
        assert_eq!(thread(None), Some(7));
        assert_eq!(Mode::of_number(Some(0), Some("6.1")), Mode::Cpu);
        assert_eq!(Mode::of_number(Some(1), None), Mode::Total);
        assert_eq!(Mode::of_number(Some(u64::MAX), None), Mode::Total);
    }
}
