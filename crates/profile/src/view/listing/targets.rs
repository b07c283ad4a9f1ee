//! Which functions are listed: the hottest, or those that are meant by a pattern.

use super::pattern::{self, Pattern};
use super::percent;
use super::place_sums::{PlaceSums, add_all};
use crate::addresses::AddressId;
use crate::names::{Function, FunctionId};
use crate::profile::Profile;
use crate::select;
use crate::view::flame_tree::Sum;
use readperf_session::{BinaryId, Session};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// Most addresses without a name of which it is asked how far their function goes.
const MOST_ASKED: usize = 256;

/// A function that is listed.
#[derive(Clone, Debug)]
pub struct Target {
    /// The function.
    pub function: FunctionId,
    /// Whether it is listed where it is inlined into other functions.
    pub inlined: bool,
    /// What samples taken in it add up to, for each event. Of what is inlined that is with what is inlined into it.
    pub sums: Vec<Sum>,
    /// Its pieces of code, by address.
    pub pieces: Vec<Piece>,
}

/// A piece of the code of a function: all of it, unless it was generated several times or is inlined.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The function whose symbol covers it.
    pub symbol: FunctionId,
    /// The binary.
    pub binary: Option<BinaryId>,
    /// The places in it, where samples were taken or whence others were called; never empty.
    pub places: Vec<AddressId>,
    /// The least address of the places, in terms of the binary.
    pub address: u64,
}

/// What was chosen.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The functions, the hottest first.
    pub targets: Vec<Target>,
    /// How many more there are that samples were taken in.
    pub others: usize,
}

/// The pieces of a function, by binary, start, and symbol.
type Pieces = BTreeMap<(Option<BinaryId>, u64, FunctionId), Piece>;

/// A function, and whether it is meant where it is inlined.
type Candidate = (FunctionId, bool);

/// All that may be listed.
#[derive(Debug)]
pub struct Targets<'p> {
    profile: &'p Profile,
    session: &'p Session,
    sums: PlaceSums,
    /// What samples in functions add up to, for each event.
    of_function: BTreeMap<Candidate, Vec<Sum>>,
    /// Of addresses without a name that are in one function: that of them which stands for it.
    one_of: FxHashMap<FunctionId, FunctionId>,
}

impl<'p> Targets<'p> {
    /// Those of a profile: functions that samples were taken in and, with `calls`, those that only call others. `extent` says, of an
    /// address of a binary that has no name, how far the function goes that it is in, if that is known all the same.
    pub fn new(
        profile: &'p Profile,
        session: &'p Session,
        calls: bool,
        extent: impl FnMut(BinaryId, u64) -> Option<Range<u64>>,
    ) -> Targets<'p> {
        let sums = PlaceSums::new(profile);
        let one_of = unnamed(profile, &sums, extent);
        let mut targets = Targets { profile, session, sums, of_function: BTreeMap::new(), one_of };
        let mut of_function: BTreeMap<Candidate, Vec<Sum>> = BTreeMap::new();
        let mut seen: Vec<Candidate> = Vec::new();
        for place in profile.addresses().ids() {
            let here = targets.sums.at(place);
            if here.is_empty() && !calls {
                continue;
            }
            seen.clear();
            targets.candidates_at(place, |candidate| {
                // A function may be inlined into itself.
                if !seen.contains(&candidate) {
                    seen.push(candidate);
                    let nothing = || vec![Sum::default(); profile.events().len()];
                    add_all(of_function.entry(candidate).or_insert_with(nothing), here);
                }
            });
        }
        targets.of_function = of_function;
        targets
    }

    /// All that a place belongs to: the function of its symbol, and those that are inlined there.
    fn candidates_at(&self, place: AddressId, mut each: impl FnMut(Candidate)) {
        let names = self.profile.names();
        if let Some(function) = names.function_at(place) {
            each((self.one_of.get(&function).copied().unwrap_or(function), false));
        }
        let frames = names.frames_at(place);
        let inlined = frames.len().saturating_sub(1);
        for frame in frames.take(inlined) {
            each((frame.function, true));
        }
    }

    /// What they are those of.
    pub fn profile(&self) -> &'p Profile {
        self.profile
    }

    /// Its processes and binaries.
    pub fn session(&self) -> &'p Session {
        self.session
    }

    /// What samples were taken at each place.
    pub fn sums(&self) -> &PlaceSums {
        &self.sums
    }

    /// The functions with the highest share of an event, if it is at least this, in percent.
    pub fn hottest(&self, least_share: f64, most: usize) -> Choice {
        let has_samples = |sums: &[Sum]| sums.iter().any(|sum| sum.samples > 0);
        let own = self.of_function.iter().filter(|((_, inlined), sums)| !inlined && has_samples(sums));
        let own = own.map(|(candidate, _)| *candidate);
        self.chosen(own.collect(), least_share, most)
    }

    /// One function: itself, or where it is inlined. Nothing if no sample was taken in it.
    pub fn of_function(&self, function: FunctionId, inlined: bool) -> Option<Target> {
        let one = self.one_of.get(&function).copied().unwrap_or(function);
        let known = [(one, inlined), (one, !inlined)]
            .into_iter()
            .find(|known| self.of_function.contains_key(known))?;
        self.chosen(vec![known], 0.0, 1).targets.pop()
    }

    /// The functions that a pattern means, as [`Targets::hottest`] chooses among all. `bias` says what is added to the address of a
    /// place to get that of the linker; wrapping.
    pub fn matching(
        &self,
        pattern: &Pattern,
        bias: impl Fn(AddressId) -> u64,
        least_share: f64,
        most: usize,
    ) -> Choice {
        let function = |id: FunctionId| self.profile.function(id);
        let all = self.of_function.keys().copied();
        let found: Vec<Candidate> = match pattern {
            Pattern::Name(name) => all
                .filter(|(id, _)| function(*id).is_some_and(|known| pattern::is_called(known, name)))
                .collect(),
            Pattern::InBinary(binary, name) => {
                let is_it = |known: Function<'_>| {
                    let of = known.binary.and_then(|binary| self.session.binary(binary));
                    of.is_some_and(|of| select::is_called(of, std::slice::from_ref(binary)))
                        && pattern::is_called(known, name)
                };
                all.filter(|(id, _)| function(*id).is_some_and(is_it)).collect()
            }
            Pattern::Matching(regex) => {
                let matches = |known: Function<'_>| known.name().is_some_and(|name| regex.is_match(name));
                all.filter(|(id, _)| function(*id).is_some_and(matches)).collect()
            }
            Pattern::Address(address) => self.at_address(*address, bias),
            Pattern::Line(file, line) => self.on_line(file, *line),
        };
        self.chosen(found, least_share, most)
    }

    /// The functions that an address lies in: as the linker gave it, as it was when the code ran, or within the binary.
    fn at_address(&self, address: u64, bias: impl Fn(AddressId) -> u64) -> Vec<Candidate> {
        let mut found = FxHashSet::default();
        for (place, code) in self.profile.addresses().ids().zip(self.profile.addresses().as_slice().iter()) {
            let Some(function) = self.profile.names().function_at(place) else { continue };
            let piece = self.profile.names().piece_at(place).and_then(|piece| self.profile.function(piece));
            let Some(piece) = piece.filter(|_| self.of_function.contains_key(&(function, false))) else {
                continue;
            };
            let range = piece.address..piece.address.saturating_add(piece.size().max(1));
            let biases = [bias(place), code.ip.wrapping_sub(code.address), 0];
            if biases.iter().any(|bias| range.contains(&address.wrapping_sub(*bias))) {
                found.insert((function, false));
            }
        }
        found.into_iter().collect()
    }

    /// The functions with samples on a line; not those into which it is inlined.
    fn on_line(&self, file: &str, line: u32) -> Vec<Candidate> {
        let names = self.profile.names();
        let mut found = FxHashSet::default();
        for place in self.profile.addresses().ids().filter(|place| !self.sums.at(*place).is_empty()) {
            let frames = names.frames_at(place);
            let last = frames.len().saturating_sub(1);
            for (nr, frame) in frames.enumerate().filter(|(_, frame)| frame.line == line) {
                if frame.file.and_then(|file| names.file(file)).is_some_and(|path| pattern::is_at(path, file))
                {
                    let inlined = nr < last;
                    let function = if inlined { Some(frame.function) } else { names.function_at(place) };
                    found.extend(function.map(|function| (function, inlined)));
                }
            }
        }
        found.into_iter().collect()
    }

    /// The highest share of an event that a function has, in percent.
    fn share(&self, candidate: Candidate) -> f64 {
        let sums = self.of_function.get(&candidate).map_or(&[][..], Vec::as_slice);
        let events = self.profile.events().iter();
        sums.iter().zip(events).map(|(sum, event)| percent(sum.period, event.period)).fold(0.0, f64::max)
    }

    fn chosen(&self, found: Vec<Candidate>, least_share: f64, most: usize) -> Choice {
        let mut shares: Vec<(f64, Candidate)> =
            found.into_iter().map(|candidate| (self.share(candidate), candidate)).collect();
        let all = shares.len();
        shares.retain(|(share, _)| *share >= least_share);
        let name = |(function, inlined): Candidate| {
            let function = self.profile.function(function);
            let binary = function.and_then(|function| self.session.binary(function.binary?));
            (
                function.map(Function::label),
                inlined,
                binary.map(|binary| &binary.name),
                function.map(|f| f.address),
            )
        };
        shares
            .sort_by(|(a, first), (b, second)| b.total_cmp(a).then_with(|| name(*first).cmp(&name(*second))));
        shares.truncate(most);
        let pieces = self.pieces(shares.iter().map(|(_, candidate)| *candidate));
        let targets = shares.iter().zip(pieces).map(|((_, (function, inlined)), pieces)| Target {
            function: *function,
            inlined: *inlined,
            sums: self.of_function.get(&(*function, *inlined)).cloned().unwrap_or_default(),
            pieces,
        });
        let targets: Vec<Target> = targets.collect();
        Choice { others: all - targets.len(), targets }
    }

    /// The pieces of code of functions.
    fn pieces(&self, of: impl Iterator<Item = Candidate>) -> Vec<Vec<Piece>> {
        let numbers: FxHashMap<Candidate, usize> =
            of.enumerate().map(|(nr, candidate)| (candidate, nr)).collect();
        let mut found: Vec<Pieces> = vec![Pieces::new(); numbers.len()];
        let names = self.profile.names();
        for (place, code) in self.profile.addresses().ids().zip(self.profile.addresses().as_slice().iter()) {
            let Some(piece) = names.piece_at(place) else { continue };
            let symbol = self.one_of.get(&piece).copied().unwrap_or(piece);
            self.candidates_at(place, |candidate| {
                let Some(pieces) = numbers.get(&candidate).and_then(|nr| found.get_mut(*nr)) else { return };
                let start = names.function(symbol).map_or(0, |function| function.address);
                let piece = pieces.entry((code.binary, start, symbol)).or_insert_with(|| Piece {
                    symbol,
                    binary: code.binary,
                    places: Vec::new(),
                    address: code.address,
                });
                piece.address = piece.address.min(code.address);
                if piece.places.last() != Some(&place) {
                    piece.places.push(place);
                }
            });
        }
        found.into_iter().map(|pieces| pieces.into_values().collect()).collect()
    }

    /// Names of functions that are much like one, or that it is a part of, the hottest first.
    pub fn names(&self) -> Vec<&'p str> {
        let mut all: Vec<Candidate> = self.of_function.keys().copied().collect();
        all.sort_by(|a, b| self.share(*b).total_cmp(&self.share(*a)));
        let mut seen = FxHashSet::default();
        let names = all.iter().filter_map(|(function, _)| self.profile.function(*function)?.name());
        names.filter(|name| seen.insert(*name)).collect()
    }
}

/// For addresses without a name that are in one function, which of them stands for it: the lowest. Only the addresses with most
/// samples are asked about.
fn unnamed(
    profile: &Profile,
    sums: &PlaceSums,
    mut extent: impl FnMut(BinaryId, u64) -> Option<Range<u64>>,
) -> FxHashMap<FunctionId, FunctionId> {
    let addresses = profile.addresses();
    let mut all: Vec<(u64, BinaryId, u64, FunctionId)> = Vec::new();
    for (place, code) in addresses.ids().zip(addresses.as_slice().iter()) {
        let function = profile.names().function_at(place);
        let is_unnamed = |id: &FunctionId| profile.function(*id).is_some_and(|known| !known.has_name());
        if let (Some(function), Some(binary)) = (function.filter(is_unnamed), code.binary) {
            let samples = sums.at(place).iter().map(|sum| sum.samples).sum();
            all.push((samples, binary, code.address, function));
        }
    }
    all.sort_unstable_by_key(|(samples, binary, address, _)| (Reverse(*samples), *binary, *address));
    let mut ranges: BTreeMap<(BinaryId, u64), u64> = BTreeMap::new();
    let range_at = |ranges: &BTreeMap<(BinaryId, u64), u64>, binary: BinaryId, address: u64| {
        let before = ranges.range(..=(binary, address)).next_back();
        before.filter(|((of, _), end)| *of == binary && address < **end).map(|(start, _)| *start)
    };
    for (samples, binary, address, _) in all.iter().take(MOST_ASKED) {
        if *samples > 0
            && range_at(&ranges, *binary, *address).is_none()
            && let Some(range) = extent(*binary, *address).filter(|range| range.contains(address))
        {
            ranges.insert((*binary, range.start), range.end);
        }
    }
    let mut first: FxHashMap<(BinaryId, u64), FunctionId> = FxHashMap::default();
    let mut one_of = FxHashMap::default();
    all.sort_unstable_by_key(|(_, binary, address, _)| (*binary, *address));
    for (_, binary, address, function) in all {
        if let Some(range) = range_at(&ranges, binary, address) {
            one_of.insert(function, *first.entry(range).or_insert(function));
        }
    }
    one_of
}
