//! What is known of functions without their lines: which ones are inlined at addresses, and in which file each is written. One
//! unit at a time is read, for all addresses in it, and let go. No rows of line tables are read, and nothing is kept but names.
//!
//! DWARF 5, sections 3.3.8 (inlined functions) and 2.17 (the code of an entry).

mod declared;
mod entry;
mod function;

use gimli::{UnitOffset, UnitRef};
use rustc_hash::FxHashMap;

pub(super) use self::declared::source_files;
use self::entry::Names;
pub(super) use self::entry::{Code, read_code};
use self::function::InlinedTree;
use super::look_up::Piece;
use super::units::Units;
use super::{Dwarf, Query, Slice};

/// How many stretches of code of one unit are looked at: many entries may share a long list of them.
const MAX_RANGES: usize = 1 << 24;

/// How many units are asked about one address.
const MAX_UNITS_OF_ADDRESS: usize = 64;

/// What was found out about an address: names from the innermost level to the outermost. Inlined functions may be without.
type Levels<'f> = Vec<Option<&'f [u8]>>;

/// The names of the levels at some of the addresses. The levels are given to `piece` in the order of the queries.
pub(super) fn look_up<'f>(
    (dwarf, units): (&Dwarf<'f>, &Units<'f>),
    queries: &[Query],
    numbers: &[usize],
    piece: &mut Piece<'f>,
) {
    let mut names = Names::new(dwarf, units);
    let found = ask_units((dwarf, units), queries, numbers, |unit, asked, found| {
        ask_unit(unit, &mut names, asked, found)
    });
    for number in numbers {
        let Some(Some(levels)) = found.get(number) else { continue };
        let has_symbol = queries.get(*number).is_some_and(|query| query.symbol.is_some());
        piece.add_names(*number, levels, has_symbol);
    }
}

/// Answers by the number of their query.
type Answers<T> = FxHashMap<usize, T>;

/// Asks the units that have code at the addresses of some queries, one at a time, each for all addresses in it: what is asked
/// is a unit, an address, and the number of the query, sorted.
fn ask_units<'f, T>(
    (dwarf, units): (&Dwarf<'f>, &Units<'f>),
    queries: &[Query],
    numbers: &[usize],
    mut ask: impl FnMut(UnitRef<'_, Slice<'f>>, &[(usize, u64, usize)], &mut Answers<T>) -> gimli::Result<()>,
) -> Answers<T> {
    let address_of = |number: usize| queries.get(number).and_then(|query| query.address);
    let mut found: Answers<T> = FxHashMap::default();
    let mut pending: Vec<(usize, u64, usize)> = Vec::new();
    // The next unit of those that have code at an address is asked if the one before knows no function there.
    for round in 0..MAX_UNITS_OF_ADDRESS {
        let open = numbers.iter().filter(|number| !found.contains_key(number));
        pending.clear();
        pending.extend(open.filter_map(|number| {
            let address = address_of(*number)?;
            Some((*units.with_code_at(dwarf, address).get(round)?, address, *number))
        }));
        if pending.is_empty() {
            break;
        }
        pending.sort_unstable();
        for of_unit in pending.chunk_by(|one, next| one.0 == next.0) {
            let Some(unit) = of_unit.first().and_then(|(unit, _, _)| units.read_unit(dwarf, *unit)) else {
                continue;
            };
            // What cannot be read has no names; half of them would be wrong.
            let _ = ask(unit.unit_ref(dwarf), of_unit, &mut found);
        }
    }
    found
}

/// Asks one unit about addresses, which are sorted.
fn ask_unit<'f>(
    unit: UnitRef<'_, Slice<'f>>,
    names: &mut Names<'_, 'f>,
    asked: &[(usize, u64, usize)],
    found: &mut Answers<Option<Levels<'f>>>,
) -> gimli::Result<()> {
    let of_function = by_function(unit, asked)?;
    for asked in of_function.chunk_by(|one, next| one.0 == next.0) {
        let Some((entry, _, _)) = asked.first() else { continue };
        let tree = InlinedTree::read(unit, *entry, |code| holds_any(asked, code));
        for (_, address, number) in asked {
            let levels = tree.as_ref().ok().and_then(|tree| tree.levels_at(*address, unit, names).ok());
            found.insert(*number, levels);
        }
    }
    Ok(())
}

/// The entry of the function that each address is in, if it is in one, with the address and the number of the query; sorted.
fn by_function(
    unit: UnitRef<'_, Slice<'_>>,
    asked: &[(usize, u64, usize)],
) -> gimli::Result<Vec<(UnitOffset, u64, usize)>> {
    let functions = functions_at(unit, asked)?;
    let mut of_function: Vec<(UnitOffset, u64, usize)> = Vec::new();
    for (_, address, number) in asked {
        // Where functions overlap (identical ones that were folded) the one that starts last counts.
        let after = functions.partition_point(|(code, _)| code.begin <= *address);
        let function = after.checked_sub(1).and_then(|at| functions.get(at));
        let function = function.filter(|(code, _)| *address < code.end);
        of_function.extend(function.map(|(_, entry)| (*entry, *address, *number)));
    }
    of_function.sort_unstable_by_key(|(entry, address, number)| (entry.0, *address, *number));
    Ok(of_function)
}

/// The functions of a unit that have any of the addresses, by their code.
fn functions_at(
    unit: UnitRef<'_, Slice<'_>>,
    asked: &[(usize, u64, usize)],
) -> gimli::Result<Vec<(Code, UnitOffset)>> {
    let mut functions: Vec<(Code, UnitOffset)> = Vec::new();
    let mut room = MAX_RANGES;
    let mut entries = unit.entries_raw(None)?;
    while !entries.is_empty() {
        let offset = entries.next_offset();
        let Some(abbreviation) = entries.read_abbreviation()? else { continue };
        if abbreviation.tag() != gimli::DW_TAG_subprogram || !entry::may_have_code(abbreviation) {
            entries.skip_attributes(abbreviation.attributes())?;
            continue;
        }
        read_code(
            unit,
            &mut entries,
            abbreviation,
            |_| Ok(()),
            |code| {
                room = room.saturating_sub(1);
                if room > 0 && holds_any(asked, code) {
                    functions.push((code, offset));
                }
            },
        )?;
    }
    functions.sort_by_key(|(code, _)| code.begin);
    Ok(functions)
}

fn holds_any<A, N>(asked: &[(A, u64, N)], code: Code) -> bool {
    let first = asked.partition_point(|(_, address, _)| *address < code.begin);
    asked.get(first).is_some_and(|(_, address, _)| *address < code.end)
}
