//! The letters behind an event's name: in which modes it counts, and how exact its instruction pointer has to be.

use crate::wire::attr::{AttrFlags, EventAttr};

/// The letters of an attr, without colon, in the order of perf: `kuh`, `p`, `H`, `G`.
///
/// perf shows the host's and the guest's letter when they differ from what it would have set itself: it leaves the guest
/// out of events that name no mode, and only of those. So a plain event that counts everywhere is `:HG`, a user
/// event of the host only is `:uH`.
pub(super) fn modifiers(attr: &EventAttr) -> String {
    let excludes = |flag: AttrFlags| attr.flags.has(flag);
    let some_mode = [AttrFlags::exclude_user, AttrFlags::exclude_kernel, AttrFlags::exclude_hv].map(excludes);
    let mut letters = String::new();
    if some_mode.contains(&true) {
        let [user, kernel, hypervisor] = some_mode;
        letters.extend(
            [(kernel, 'k'), (user, 'u'), (hypervisor, 'h')].iter().filter(|(out, _)| !out).map(|m| m.1),
        );
    }
    letters.extend((0..attr.flags.precise_ip()).map(|_| 'p'));
    let named = some_mode.contains(&true) || attr.flags.precise_ip() > 0;
    let (host_out, guest_out) = (excludes(AttrFlags::exclude_host), excludes(AttrFlags::exclude_guest));
    if host_out || guest_out == named {
        letters.extend([(host_out, 'H'), (guest_out, 'G')].iter().filter(|(out, _)| !out).map(|m| m.1));
    }
    letters
}

/// A name with its letters.
pub(super) fn appended(mut name: String, letters: &str) -> String {
    if !letters.is_empty() {
        name.push(':');
        name.push_str(letters);
    }
    name
}
