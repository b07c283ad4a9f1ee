//! Which rows the places of a profile are in, and what the keys say of these rows. It depends on names and keys, not on samples: it is
//! worked out once for all that is chosen of a profile.

use super::address_rows::AddressRows;
use super::calls::{Levels, NONE};
use super::facts::{FactMemory, Facts, Place};
use super::graph::GraphKey;
use super::histogram::HistogramOptions;
use super::key::KeyUse;
use super::place_numbers::{FrameNumbers, Frames, OfFunctions, PlaceNumbers};
use super::row_order::ranks;
use crate::addresses::AddressId;
use crate::profile::Profile;
use crate::tuples::Tuples;
use crate::value::Value;
use perffile::wire::head::CpuMode;
use std::sync::{Arc, OnceLock};

/// The rows of places, by number.
#[derive(Clone, Debug, Default)]
pub struct PlaceRows {
    /// What the keys of places say of each row.
    values: Arc<Tuples>,
    /// The row of each address as the place where a sample was taken, and the rows of its levels.
    of_addresses: AddressRows,
    /// Whether those of levels are known. If rows have no sums over their stacks, nobody asks.
    has_levels: bool,
    /// What facts worked out on the way: values may be texts of it.
    memory: FactMemory,
    /// By key: the ranks of what it says of each row, and of what is not known, once they were asked for.
    ranks: Arc<Vec<OnceLock<Vec<u32>>>>,
    /// If only functions matter: the row of each, as itself and as an inlined one.
    of_functions: Option<OfFunctions>,
    made_of: MadeOf,
}

/// What rows of places depend on.
#[derive(Clone, Debug, Default)]
struct MadeOf {
    /// Addresses and names; it has no samples.
    places: Profile,
    keys: Vec<KeyUse>,
    inline: bool,
}

impl PlaceRows {
    /// Those of histograms with these options. The rows of levels are among them if these ask for sums over stacks.
    pub fn new(facts: &mut Facts<'_>, options: &HistogramOptions) -> PlaceRows {
        facts.settle(options);
        let mut numbers = PlaceNumbers::new(facts, options);
        // Levels are numbered behind the places, so that these have the same numbers with and without.
        let mut rows = AddressRows::default();
        add_places(facts, &mut numbers, &mut rows);
        if options.children && options.inline {
            add_levels(facts, &mut numbers, 0, &mut rows);
        }
        PlaceRows::of(facts, options, numbers, rows, options.children)
    }

    /// The same with the frames of call graphs at the levels of each address instead of their rows.
    pub(super) fn with_frames(
        facts: &mut Facts<'_>,
        options: &HistogramOptions,
        key: GraphKey,
        frames: &mut Frames,
    ) -> (PlaceRows, Levels) {
        facts.settle(options);
        let mut numbers = PlaceNumbers::new(facts, options);
        let mut rows = AddressRows::default();
        add_places(facts, &mut numbers, &mut rows);
        let mut of_frames = FrameNumbers::new(facts, options, key, frames);
        // A row may have several frames.
        let levels = all_levels(facts, options.inline, |facts, place| {
            let row = numbers.row(facts, place);
            of_frames.frame(facts, place, row)
        });
        (PlaceRows::of(facts, options, numbers, rows, false), levels)
    }

    fn of(
        facts: &Facts<'_>,
        options: &HistogramOptions,
        numbers: PlaceNumbers<'_>,
        of_addresses: AddressRows,
        has_levels: bool,
    ) -> PlaceRows {
        let places = facts.profile.without_samples();
        let made_of = MadeOf { places, keys: options.keys.clone(), inline: options.inline };
        let memory = facts.memory().clone();
        let (values, of_functions) = numbers.into_parts();
        let ranks = ranks_of(options);
        PlaceRows { values, of_addresses, has_levels, memory, ranks, of_functions, made_of }
    }

    /// The same rows of a profile that has these places and some more behind them, with the same names.
    pub fn with_more_places(&self, facts: &mut Facts<'_>, options: &HistogramOptions) -> PlaceRows {
        facts.settle(options);
        let (values, of_functions) = (Arc::clone(&self.values), self.of_functions.clone());
        let mut numbers = PlaceNumbers::going_on(facts, options, values, of_functions);
        let mut rows = self.of_addresses.clone();
        add_places(facts, &mut numbers, &mut rows);
        if options.children && options.inline {
            add_levels(facts, &mut numbers, self.of_addresses.len(), &mut rows);
        }
        let has_levels = options.children && self.has_levels();
        let more = PlaceRows::of(facts, options, numbers, rows, has_levels);
        match more.len() == self.len() {
            true => PlaceRows { ranks: Arc::clone(&self.ranks), ..more },
            false => more,
        }
    }

    /// Whether these are the rows of another profile, too, in histograms with these options.
    pub fn are_those_of(&self, profile: &Profile, options: &HistogramOptions) -> bool {
        let MadeOf { places, keys, inline } = &self.made_of;
        places.has_names_of(profile)
            && (keys, inline) == (&options.keys, &options.inline)
            && (self.has_levels() || !options.children)
    }

    /// Whether the rows of levels are known.
    pub fn has_levels(&self) -> bool {
        self.has_levels || self.of_addresses.len() == 0
    }

    /// What facts worked out on the way: what shows values of these rows needs it.
    pub fn memory(&self) -> &FactMemory {
        &self.memory
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// What the keys of places say of a row.
    #[inline]
    pub(super) fn values(&self, row: u32) -> impl ExactSizeIterator<Item = Value> + '_ {
        self.values.values(row)
    }

    /// Works out the order of the rows by what each key says, if it is not known. Who makes rows of places needs it.
    pub fn rank(&self, facts: &Facts<'_>) {
        for key in 0..self.values(0).len() {
            self.ranks(key, facts);
        }
    }

    /// Whether the ranks of what a key says are known.
    pub(super) fn has_ranks(&self, key: usize) -> bool {
        self.ranks.get(key).is_some_and(|ranks| ranks.get().is_some())
    }

    /// The ranks of what a key says, by row; the last is that of a row that is not known.
    pub(super) fn ranks(&self, key: usize, facts: &Facts<'_>) -> &[u32] {
        let slots = self.len() + 1;
        let said = |row| (self.values(row).nth(key).unwrap_or_default(), row);
        let make = || ranks((0..).take(slots).map(said), slots, facts);
        self.ranks.get(key).map_or(&[], |known| known.get_or_init(make))
    }

    /// The row of an address as the place where a sample was taken.
    #[inline]
    pub(super) fn row_of(&self, address: AddressId) -> u32 {
        self.of_addresses.row(address.index())
    }

    /// The same, and the mode of the CPU there.
    pub(super) fn taken_at(&self, address: AddressId) -> (u32, CpuMode) {
        let row = self.row_of(address);
        let code = self.made_of.places.addresses.get(address).filter(|_| row != NONE);
        (row, code.map_or(CpuMode::Unknown, |code| code.mode))
    }

    /// The rows of the levels of an address, the outermost first.
    #[inline]
    pub(super) fn levels_of(&self, address: AddressId) -> &[u32] {
        self.levels_of_index(address.index())
    }

    /// The same by the index of the address.
    #[inline]
    pub(super) fn levels_of_index(&self, address: usize) -> &[u32] {
        if self.has_levels { self.of_addresses.levels(address) } else { &[] }
    }

    /// Appends the rows of the levels of places, those of each the outermost first.
    #[inline]
    pub(super) fn append_levels(&self, places: &[AddressId], to: &mut Vec<u32>) {
        if self.has_levels {
            self.of_addresses.append_levels(places, to);
        }
    }
}

/// Ranks that are not known yet, by key.
fn ranks_of(options: &HistogramOptions) -> Arc<Vec<OnceLock<Vec<u32>>>> {
    Arc::new(options.keys.iter().map(|_| OnceLock::new()).collect())
}

/// Adds the rows of the addresses that follow as places where samples were taken.
fn add_places(facts: &mut Facts<'_>, numbers: &mut PlaceNumbers<'_>, rows: &mut AddressRows) {
    let new = facts.profile.addresses.ids().skip(rows.len());
    rows.extend(new.map(|address| match facts.taken_at(address) {
        Some(place) => numbers.row(facts, &place),
        None => NONE,
    }));
}

/// Adds the rows of the levels of addresses with these indices and higher ones. A function alone is the place itself.
fn add_levels(facts: &mut Facts<'_>, numbers: &mut PlaceNumbers<'_>, from: usize, rows: &mut AddressRows) {
    let profile = facts.profile;
    let mut of_address = Vec::new();
    for address in profile.addresses.ids().skip(from).filter(|address| profile.names.has_frames(*address)) {
        of_address.extend(facts.levels(address).rev());
        rows.set_levels(address.index(), of_address.drain(..).map(|level| numbers.row(facts, &level)));
    }
}

/// The numbers of the levels of all addresses, the outermost first.
fn all_levels<'f>(
    facts: &mut Facts<'f>,
    inline: bool,
    mut number: impl FnMut(&mut Facts<'f>, &Place) -> u32,
) -> Levels {
    let (mut levels, mut of_address) = (Levels::default(), Vec::new());
    for address in facts.profile.addresses.ids() {
        match inline {
            true => of_address.extend(facts.levels(address).rev()),
            false => of_address.extend(facts.taken_at(address)),
        }
        levels.push(of_address.drain(..).map(|level| number(facts, &level)));
    }
    levels
}
