//! `PERF_TYPE_BREAKPOINT`: an address, and what has to happen there.

use crate::wire::attr::EventAttr;
use crate::wire::event_type::BreakpointAccess;

/// A letter for each access.
const ACCESS: [(BreakpointAccess, char); 3] =
    [(BreakpointAccess::READ, 'r'), (BreakpointAccess::WRITE, 'w'), (BreakpointAccess::EXECUTE, 'x')];

/// The name: `mem:0x1234:rw`.
pub(super) fn name(attr: &EventAttr) -> String {
    let mut name = format!("mem:{:#x}:", attr.config1);
    name.extend(ACCESS.iter().filter(|(bit, _)| attr.bp_type.has(*bit)).map(|(_, letter)| letter));
    name
}
