//! The functions that were inlined into one.

use gimli::{EntriesRaw, UnitOffset, UnitRef};

use super::super::Slice;
use super::super::look_up::MAX_DEPTH;
use super::Levels;
use super::entry::{Code, Names, Naming, read_code};

/// How many stretches of inlined code one function may have.
const MAX_RANGES: usize = 1 << 22;

/// What is inlined into a function, and into that, as far as it was asked about.
pub(super) struct InlinedTree<'f> {
    own: Naming<'f>,
    inlined: Vec<Naming<'f>>,
    /// How deep it is, its code, and which of `inlined` it is; sorted by depth and address.
    code: Vec<(usize, Code, usize)>,
}

impl<'f> InlinedTree<'f> {
    /// Reads the function whose entry is at `offset`. Only stretches of code that are `wanted` are kept.
    pub(super) fn read(
        unit: UnitRef<'_, Slice<'f>>,
        offset: UnitOffset,
        wanted: impl Fn(Code) -> bool,
    ) -> gimli::Result<InlinedTree<'f>> {
        let mut tree = InlinedTree { own: Naming::default(), inlined: Vec::new(), code: Vec::new() };
        let mut entries = unit.entries_raw(Some(offset))?;
        let top = entries.next_depth();
        if let Some(abbreviation) = entries.read_abbreviation()? {
            for form in abbreviation.attributes() {
                tree.own.see(&entries.read_attribute(*form)?);
            }
        }
        // The levels, in the file, of the inlined functions that the next entry is in.
        let mut around: Vec<isize> = Vec::new();
        let mut room = MAX_RANGES;
        while !entries.is_empty() && entries.next_depth() > top {
            let level = entries.next_depth();
            let Some(abbreviation) = entries.read_abbreviation()? else { continue };
            while around.last().is_some_and(|last| *last >= level) {
                around.pop();
            }
            match abbreviation.tag() {
                // A function in this one has code of its own.
                gimli::DW_TAG_subprogram => {
                    entries.skip_attributes(abbreviation.attributes())?;
                    skip_below(&mut entries, level)?;
                }
                gimli::DW_TAG_inlined_subroutine => {
                    let (depth, number) = (around.len(), tree.inlined.len());
                    let (mut naming, before) = (Naming::default(), tree.code.len());
                    let see = |attribute| {
                        naming.see(&attribute);
                        Ok(())
                    };
                    read_code(unit, &mut entries, abbreviation, see, |code| {
                        room = room.saturating_sub(1);
                        if room > 0 && wanted(code) {
                            tree.code.push((depth, code, number));
                        }
                    })?;
                    if tree.code.len() > before {
                        tree.inlined.push(naming);
                    }
                    around.push(level);
                }
                _ => entries.skip_attributes(abbreviation.attributes())?,
            }
        }
        tree.code.sort_by_key(|(depth, code, _)| (*depth, code.begin));
        Ok(tree)
    }

    /// The names of the levels at an address, the innermost first; an error if there are too many.
    pub(super) fn levels_at(
        &self,
        address: u64,
        unit: UnitRef<'_, Slice<'f>>,
        names: &mut Names<'_, 'f>,
    ) -> gimli::Result<Levels<'f>> {
        let mut levels = vec![names.name(unit, &self.own)?];
        for depth in 0.. {
            let after =
                self.code.partition_point(|(other, code, _)| (*other, code.begin) <= (depth, address));
            let at = after.checked_sub(1).and_then(|at| self.code.get(at));
            let Some((_, _, number)) = at.filter(|(other, code, _)| *other == depth && address < code.end)
            else {
                break;
            };
            if levels.len() >= MAX_DEPTH {
                return Err(gimli::Error::UnsupportedOffset);
            }
            levels.push(match self.inlined.get(*number) {
                Some(naming) => names.name(unit, naming)?,
                None => None,
            });
        }
        levels.reverse();
        Ok(levels)
    }
}

fn skip_below(entries: &mut EntriesRaw<'_, Slice<'_>>, level: isize) -> gimli::Result<()> {
    while !entries.is_empty() && entries.next_depth() > level {
        if let Some(abbreviation) = entries.read_abbreviation()? {
            entries.skip_attributes(abbreviation.attributes())?;
        }
    }
    Ok(())
}
