//! `PERF_TYPE_BREAKPOINT`: an address, and what has to happen there.

use crate::wire::attr::EventAttr;

/// `enum` of `include/uapi/linux/hw_breakpoint.h`: a bit each.
const ACCESS: [(u32, char); 3] = [(1, 'r'), (2, 'w'), (4, 'x')];

/// The name: `mem:0x1234:rw`.
pub(super) fn name(attr: &EventAttr) -> String {
    let mut name = format!("mem:{:#x}:", attr.config1);
    name.extend(ACCESS.iter().filter(|(bit, _)| attr.bp_type & bit != 0).map(|(_, letter)| letter));
    name
}
