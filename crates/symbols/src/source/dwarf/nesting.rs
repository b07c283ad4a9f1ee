//! A bound on how deep entries of `.debug_info` nest.
//!
//! The reader of inlined functions calls itself for each level, and a level takes one byte of a file: a few megabytes
//! could use up any stack, which ends the program. Compilers nest a few dozen levels. So a unit is walked once without
//! recursion before it is given to that reader.

use gimli::UnitHeader;

use super::{Dwarf, Slice};

/// Deepest nesting that is accepted. In a build without optimisation a level takes about one and a half kilobytes of
/// stack, and threads have 64 MiB.
const MAX_LEVELS: isize = 4096;

/// Whether a unit nests within bounds.
pub(super) fn is_bounded(dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>) -> bool {
    // Each level takes one byte at least.
    if isize::try_from(header.unit_length()).is_ok_and(|length| length <= MAX_LEVELS) {
        return true;
    }
    // What cannot be read here cannot be read by the other reader either.
    let Ok(unit) = dwarf.unit(header) else { return true };
    let Ok(mut entries) = unit.entries_raw(None) else { return true };
    while !entries.is_empty() {
        if entries.next_depth() > MAX_LEVELS {
            return false;
        }
        match entries.read_abbreviation() {
            Ok(Some(abbreviation)) => {
                if entries.skip_attributes(abbreviation.attributes()).is_err() {
                    return true;
                }
            }
            Ok(None) => {}
            Err(_) => return true,
        }
    }
    true
}
