//! The source files in which functions are written.
//!
//! The line of a function's first instruction may be one of a header: that of a function that is inlined there. DWARF 5, section
//! 2.14 (declaration coordinates).

use gimli::UnitRef;
use rustc_hash::FxHashMap;

use super::entry::Names;
use super::{Answers, ask_units, by_function};
use crate::source::dwarf::units::Units;
use crate::source::dwarf::{Dwarf, Query, Slice};

/// The source file of the function at the address of each of some queries, by the number of the query; none where no entry tells.
pub(in crate::source::dwarf) fn source_files<'f>(
    (dwarf, units): (&Dwarf<'f>, &Units<'f>),
    queries: &[Query],
    numbers: &[usize],
) -> FxHashMap<usize, String> {
    let mut names = Names::new(dwarf, units);
    ask_units((dwarf, units), queries, numbers, |unit, asked, found| ask_unit(unit, &mut names, asked, found))
}

fn ask_unit<'f>(
    unit: UnitRef<'_, Slice<'f>>,
    names: &mut Names<'_, 'f>,
    asked: &[(usize, u64, usize)],
    found: &mut Answers<String>,
) -> gimli::Result<()> {
    for (entry, _, number) in by_function(unit, asked)? {
        if let Ok(Some(file)) = names.source_file(unit, entry) {
            found.insert(number, file);
        }
    }
    Ok(())
}
