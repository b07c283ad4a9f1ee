//! A bound on how deep entries of `.debug_info` nest.
//!
//! The reader of inlined functions calls itself for each level, and a level takes one byte of a file: a few megabytes
//! could use up any stack, which ends the program. Compilers nest a few dozen levels. So the units in which addresses
//! lie are walked once without recursion before they are given to that reader.

use gimli::UnitHeader;
use rayon::prelude::*;

use super::Slice;

/// Deepest nesting that is accepted. In a build without optimisation a level takes about one and a half kilobytes of
/// stack, and threads have 64 MiB.
const MAX_LEVELS: isize = 4096;

/// Whether every unit that has one of these (sorted) addresses nests within bounds.
pub(super) fn is_bounded(dwarf: &gimli::Dwarf<Slice<'_>>, addresses: &[u64]) -> bool {
    let mut headers = Vec::new();
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        // Each level takes one byte at least.
        if isize::try_from(header.unit_length()).is_ok_and(|length| length > MAX_LEVELS) {
            headers.push(header);
        }
    }
    headers.into_par_iter().all(|header| is_unit_bounded(dwarf, header, addresses))
}

fn is_unit_bounded(
    dwarf: &gimli::Dwarf<Slice<'_>>,
    header: UnitHeader<Slice<'_>>,
    addresses: &[u64],
) -> bool {
    // What cannot be read here cannot be read by the other reader either.
    let Ok(unit) = dwarf.unit(header) else { return true };
    if !may_hold(dwarf, &unit, addresses) {
        return true;
    }
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

/// Whether one of the addresses may be in the unit: also if it does not say where its code is.
fn may_hold(dwarf: &gimli::Dwarf<Slice<'_>>, unit: &gimli::Unit<Slice<'_>>, addresses: &[u64]) -> bool {
    let Ok(mut ranges) = dwarf.unit_ranges(unit) else { return true };
    let mut has_range = false;
    loop {
        match ranges.next() {
            Ok(Some(range)) => {
                has_range |= range.begin < range.end;
                let first = addresses.partition_point(|address| *address < range.begin);
                if addresses.get(first).is_some_and(|address| *address < range.end) {
                    return true;
                }
            }
            Ok(None) => return !has_range,
            Err(_) => return true,
        }
    }
}
