//! Markers in call chains: PERF_CONTEXT_* of the kernel's `perf_event.h`.
//!
//! An entry of at least -4095 is no address: it says in which context the addresses behind it lie.

use super::attr::{AttrFlags, EventAttr};
use super::value::{Words, numbers};
use super::words::U64s;

/// The lowest entry that is a marker (PERF_CONTEXT_MAX).
const FIRST_MARKER: u64 = -4095_i64 as u64;

numbers! {
    /// A marker.
    pub struct Marker(u64) {
        /// -32: addresses of the hypervisor.
        0xffff_ffff_ffff_ffe0 HYPERVISOR "hypervisor",
        /// -128: addresses of the kernel.
        0xffff_ffff_ffff_ff80 KERNEL "kernel",
        /// -512: addresses of the user's code.
        0xffff_ffff_ffff_fe00 USER "user",
        /// -640: the user's part comes later, in a CALLCHAIN_DEFERRED record.
        0xffff_ffff_ffff_fd80 USER_DEFERRED "user deferred",
        /// -2048: addresses of a guest.
        0xffff_ffff_ffff_f800 GUEST "guest",
        /// -2176: addresses of a guest's kernel.
        0xffff_ffff_ffff_f780 GUEST_KERNEL "guest kernel",
        /// -2560: addresses of a guest's user.
        0xffff_ffff_ffff_f600 GUEST_USER "guest user",
    }
}

impl Marker {
    /// The marker that an entry is; `None` for an address.
    #[inline]
    pub const fn of(entry: u64) -> Option<Marker> {
        if entry >= FIRST_MARKER { Some(Marker(entry)) } else { None }
    }
}

/// What is said of the entries of a chain: the contexts that markers tell, and `cookie` of a last entry that may be one.
pub(crate) fn marks(chain: U64s<'_>, may_defer: bool) -> Option<Words> {
    let mark = |entry| Some(Marker::of(entry)?.name().unwrap_or("unknown context").to_owned());
    let mut marks: Vec<Option<String>> = chain.iter().map(mark).collect();
    if let (true, Some(_), Some(last)) = (may_defer, cookie(chain), marks.last_mut()) {
        *last = Some("cookie".to_owned());
    }
    marks.iter().any(Option::is_some).then_some(Words::Marks(marks))
}

/// The cookie of a chain whose user part comes later: its last entry, behind a marker. It is no address.
pub fn deferred_cookie(attr: &EventAttr, chain: U64s<'_>) -> Option<u64> {
    attr.flags.has(AttrFlags::defer_callchain).then(|| cookie(chain))?
}

/// The last entry behind a marker that the user part is deferred.
fn cookie(chain: U64s<'_>) -> Option<u64> {
    let before = chain.len().checked_sub(2)?;
    chain.get(before).filter(|marker| *marker == Marker::USER_DEFERRED.0).and_then(|_| chain.get(before + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of `perf_event.h`.
    #[test]
    fn markers_have_names() {
        let name = |entry| Marker::of(entry).map(Marker::name);
        assert_eq!(name(-128_i64 as u64), Some(Some("kernel")));
        assert_eq!(name(-512_i64 as u64), Some(Some("user")));
        assert_eq!(name(-640_i64 as u64), Some(Some("user deferred")));
        assert_eq!(name(-2048_i64 as u64), Some(Some("guest")));
        assert_eq!(name(-4095_i64 as u64), Some(None));
        assert_eq!(name(-4096_i64 as u64), None);
    }
}
