//! Markers in call chains: PERF_CONTEXT_* of the kernel's `perf_event.h`.
//!
//! An entry of at least -4095 is no address: it says in which context the addresses behind it lie.

use super::attr::{AttrFlags, EventAttr};
use super::words::U64s;

/// The lowest entry that is a marker (PERF_CONTEXT_MAX).
pub const FIRST_MARKER: u64 = -4095_i64 as u64;

/// PERF_CONTEXT_USER: the addresses behind it are the user's.
pub const USER: u64 = -512_i64 as u64;

/// PERF_CONTEXT_USER_DEFERRED: the user's part comes later, in a CALLCHAIN_DEFERRED record.
pub const USER_DEFERRED: u64 = -640_i64 as u64;

const MARKERS: [(u64, &str); 7] = [
    (-32_i64 as u64, "hypervisor"),
    (-128_i64 as u64, "kernel"),
    (USER, "user"),
    (USER_DEFERRED, "user deferred"),
    (-2048_i64 as u64, "guest"),
    (-2176_i64 as u64, "guest kernel"),
    (-2560_i64 as u64, "guest user"),
];

/// Whether an entry is a marker.
pub const fn is_marker(entry: u64) -> bool {
    entry >= FIRST_MARKER
}

/// What a marker says; `None` for an address.
pub fn marker_name(entry: u64) -> Option<&'static str> {
    let named =
        || MARKERS.iter().find(|(marker, _)| *marker == entry).map_or("unknown context", |(_, name)| name);
    is_marker(entry).then(named)
}

/// The cookie of a chain whose user part comes later: its last entry, behind a marker. It is no address.
pub fn deferred_cookie(attr: &EventAttr, chain: U64s<'_>) -> Option<u64> {
    if !attr.flags.has(AttrFlags::defer_callchain) {
        return None;
    }
    let marker = chain.get(chain.len().checked_sub(2)?)?;
    if marker != USER_DEFERRED {
        return None;
    }
    chain.get(chain.len() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of `perf_event.h`.
    #[test]
    fn markers_have_names() {
        assert_eq!(marker_name(0xffff_ffff_ffff_ff80), Some("kernel"));
        assert_eq!(marker_name(0xffff_ffff_ffff_fe00), Some("user"));
        assert_eq!(marker_name(0xffff_ffff_ffff_fd80), Some("user deferred"));
        assert_eq!(marker_name(0xffff_ffff_ffff_f001), Some("unknown context"));
        assert_eq!(marker_name(0xffff_ffff_ffff_f000), None);
    }
}
