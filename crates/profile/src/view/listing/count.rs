//! What samples say of instructions and lines.

use super::code::{self, At, CodeLines, PieceCode};
use super::lines::LineTable;
use super::place_sums::PlaceSums;
use super::targets::Piece;
use super::{Arrows, InstructionRow, Level, LineId, Listing, ListingOptions, Numbers, Part, Stray};
use crate::addresses::AddressId;
use crate::names::Function;
use crate::profile::Profile;
use crate::view::flame_tree::Sum;
use indexmap::IndexMap;
use readperf_code::Flow;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::sync::Arc;

/// Where a place is in a listing.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    part: usize,
    at: SpotAt,
    levels: Arc<[Level]>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpotAt {
    /// An instruction, by index.
    Instruction(usize),
    /// An entry of its own, by index.
    Stray(usize),
}

/// The places of a listing.
pub(super) type Spots = IndexMap<AddressId, Spot, FxBuildHasher>;

/// The levels at addresses of a piece, as lines of the listing.
struct Levels<'l> {
    profile: &'l Profile,
    lines: &'l CodeLines,
    /// The inlined function that is listed, if it is one: what is around it does not belong to the listing.
    whose: Option<Function<'l>>,
    names: FxHashMap<Box<str>, Arc<str>>,
}

impl Levels<'_> {
    /// The levels at an address. `None` if what is listed is inlined, and not there.
    fn at(&mut self, address: u64, table: &mut LineTable) -> Option<Arc<[Level]>> {
        let levels = self.lines.at(address);
        let all = levels.len();
        let is_it = |level: &code::CodeLevel<'_>| {
            let Some(((name, linkage), wanted)) = level.inlined.zip(self.whose) else { return false };
            match (linkage, wanted.linkage_name()) {
                (Some(linkage), Some(wanted)) => linkage == wanted,
                _ => wanted.name() == Some(self.profile.names().as_shown(name)),
            }
        };
        let kept = match self.whose {
            None => all,
            // With all that is inlined into it, the outermost one if it is inlined into itself.
            Some(_) => self.lines.at(address).enumerate().filter(|(_, level)| is_it(level)).last()?.0 + 1,
        };
        let mut found: Vec<Level> = Vec::with_capacity(kept);
        for (nr, level) in levels.take(kept).enumerate() {
            let is_whose = self.whose.is_some() && nr + 1 == kept;
            let inlined = level.inlined.filter(|_| !is_whose);
            let inlined = inlined.map(|(name, _)| self.profile.names().as_shown(name));
            let inlined = inlined.map(|name| match self.names.get(name) {
                Some(known) => Arc::clone(known),
                None => {
                    let shared: Arc<str> = name.into();
                    self.names.insert(name.into(), Arc::clone(&shared));
                    shared
                }
            });
            let line = table.number(&level, inlined.as_ref());
            found.push(Level { line, inlined });
        }
        if found.is_empty() {
            found.push(Level { line: table.unknown(), inlined: None });
        }
        Some(found.into())
    }
}

/// A piece as part of a listing, without numbers yet. `spots` learns where its places are.
pub(super) fn part(
    profile: &Profile,
    piece: &Piece,
    code: PieceCode,
    whose: Option<Function<'_>>,
    table: &mut LineTable,
    number: usize,
    spots: &mut Spots,
) -> Part {
    let PieceCode { bias, instructions, lines } = code;
    let nothing = vec![Numbers::default(); table.events()];
    let (instructions, no_code) = match instructions {
        Ok(instructions) => (instructions, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let mut levels = Levels { profile, lines: &lines, whose, names: FxHashMap::default() };
    let mut rows: Vec<InstructionRow> = Vec::with_capacity(instructions.len());
    // For each instruction its row, if it is shown.
    let mut row_of: Vec<Option<usize>> = Vec::with_capacity(instructions.len());
    for instruction in &instructions {
        let here = levels.at(instruction.address, table);
        row_of.push(here.is_some().then_some(rows.len()));
        if let Some(levels) = here {
            let numbers = nothing.clone();
            rows.push(InstructionRow { code: instruction.clone(), jumps_to: None, levels, numbers });
        }
    }
    let targets: Vec<Option<u32>> = rows.iter().map(|row| jump(&rows, row)).collect();
    for (row, target) in rows.iter_mut().zip(targets) {
        row.jumps_to = target;
    }
    let mut strays: Vec<Stray> = Vec::new();
    let mut places: Vec<(u64, AddressId)> =
        piece.places.iter().filter_map(|id| Some((profile.addresses().get(*id)?.address, *id))).collect();
    places.sort_unstable();
    for (address, place) in places {
        let instruction = match code::at(&instructions, address) {
            At::Instruction(index) => row_of.get(index).copied().flatten(),
            At::Nothing => None,
        };
        let levels_of = |index: usize| rows.get(index).map(|row| Arc::clone(&row.levels));
        let (at, levels) = match instruction.and_then(|index| Some((index, levels_of(index)?))) {
            Some((index, levels)) => (SpotAt::Instruction(index), levels),
            None => {
                let unknown = |table: &mut LineTable| -> Arc<[Level]> {
                    [Level { line: table.unknown(), inlined: None }].into()
                };
                let levels = levels.at(address, table).unwrap_or_else(|| unknown(table));
                if strays.last().is_none_or(|stray| stray.address != address) {
                    strays.push(Stray { address, levels: Arc::clone(&levels), numbers: nothing.clone() });
                }
                (SpotAt::Stray(strays.len() - 1), levels)
            }
        };
        spots.insert(place, Spot { part: number, at, levels: kept(profile, place, levels) });
    }
    Part {
        binary: piece.binary,
        symbol: piece.symbol,
        bias,
        arrows: Arrows::of(&rows),
        instructions: rows,
        strays,
        blocks: Vec::new(),
        no_code,
        numbers: nothing,
    }
}

/// The levels that are left of those at a place. Where a transform has hidden the innermost ones, what they took is their caller's.
fn kept(profile: &Profile, place: AddressId, levels: Arc<[Level]>) -> Arc<[Level]> {
    let recorded = profile.recorded_place(place);
    if recorded == place {
        return levels;
    }
    let functions = |place| profile.names().frames_at(place).map(|frame| frame.function);
    let mut left = functions(place).rev().peekable();
    let is_kept = functions(recorded).rev().map(|function| left.next_if_eq(&function).is_some());
    // From the outermost one on, as transforms go along stacks.
    let mut is_kept: Vec<bool> = is_kept.collect();
    is_kept.reverse();
    let found = levels.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept);
    let found: Vec<Level> = found.map(|(level, _)| level.clone()).collect();
    if found.is_empty() { levels } else { found.into() }
}

/// Index of the instruction that one jumps to.
fn jump(rows: &[InstructionRow], row: &InstructionRow) -> Option<u32> {
    let Flow::Jump { target: Some(target), .. } = row.code.flow else { return None };
    let index = rows.binary_search_by_key(&target, |row| row.code.address).ok()?;
    u32::try_from(index).ok()
}

impl Listing {
    /// Counts samples: what was taken at each place, and with stacks what was called from there.
    pub(super) fn count(
        &mut self,
        profile: &Profile,
        sums: &PlaceSums,
        spots: &Spots,
        options: ListingOptions,
    ) {
        let mut seen = Seen::default();
        for (place, spot) in spots {
            let here = sums.at(*place);
            if here.is_empty() {
                continue;
            }
            for (event, sum) in here.iter().enumerate() {
                self.add_own(spot, event, *sum);
                if !options.calls {
                    seen.clear();
                    self.add_total(spot, event, *sum, &mut seen);
                }
            }
        }
        if options.calls {
            self.count_calls(profile, spots, &mut seen);
        }
        // Places where nothing was taken and nothing called say nothing: where recorded branches lead, for one.
        for part in &mut self.parts {
            part.strays.retain(|stray| stray.numbers.iter().any(|numbers| *numbers != Numbers::default()));
        }
    }

    /// Counts each sample on all lines and instructions of its stack.
    fn count_calls(&mut self, profile: &Profile, spots: &Spots, seen: &mut Seen) {
        for row in profile.rows() {
            seen.clear();
            let sum = Sum::of(&row);
            let own = std::iter::once(row.address);
            for place in own.chain(profile.stacks().places(row.stack)) {
                if let Some(spot) = spots.get(&place) {
                    self.add_total(spot, row.event as usize, sum, seen);
                }
            }
        }
    }

    fn add_own(&mut self, spot: &Spot, event: usize, sum: Sum) {
        if let Some(numbers) = spot.levels.first().and_then(|level| self.line_numbers(level.line, event)) {
            numbers.own.add(sum);
        }
        let part = self.parts.get_mut(spot.part);
        for numbers in part.into_iter().flat_map(|part| part.numbers(spot.at, event)).flatten() {
            numbers.own.add(sum);
        }
        if let Some(numbers) = self.numbers.get_mut(event) {
            numbers.own.add(sum);
        }
    }

    /// Counts a sample where it has not been counted yet.
    fn add_total(&mut self, spot: &Spot, event: usize, sum: Sum, seen: &mut Seen) {
        for level in spot.levels.iter() {
            if !seen.lines.contains(&level.line) {
                seen.lines.push(level.line);
                if let Some(numbers) = self.line_numbers(level.line, event) {
                    numbers.total.add(sum);
                }
            }
        }
        if seen.spots.contains(&(spot.part, spot.at)) {
            return;
        }
        let is_new_part = !seen.spots.iter().any(|(part, _)| *part == spot.part);
        if seen.spots.is_empty()
            && let Some(numbers) = self.numbers.get_mut(event)
        {
            numbers.total.add(sum);
        }
        seen.spots.push((spot.part, spot.at));
        if let Some(part) = self.parts.get_mut(spot.part) {
            let [at, whole] = part.numbers(spot.at, event);
            let _ = at.map(|numbers| numbers.total.add(sum));
            if is_new_part {
                let _ = whole.map(|numbers| numbers.total.add(sum));
            }
        }
    }

    fn line_numbers(&mut self, line: LineId, event: usize) -> Option<&mut Numbers> {
        self.lines.get_mut(line.index())?.numbers.get_mut(event)
    }
}

impl Part {
    /// The numbers of a spot, and those of the whole part.
    fn numbers(&mut self, at: SpotAt, event: usize) -> [Option<&mut Numbers>; 2] {
        let Part { instructions, strays, numbers, .. } = self;
        let here = match at {
            SpotAt::Instruction(index) => instructions.get_mut(index).map(|row| &mut row.numbers),
            SpotAt::Stray(index) => strays.get_mut(index).map(|stray| &mut stray.numbers),
        };
        [here.and_then(|here| here.get_mut(event)), numbers.get_mut(event)]
    }
}

/// What a sample has been counted for.
#[derive(Debug, Default)]
struct Seen {
    lines: Vec<LineId>,
    spots: Vec<(usize, SpotAt)>,
}

impl Seen {
    fn clear(&mut self) {
        self.lines.clear();
        self.spots.clear();
    }
}
