//! Which rows the places of a profile are in, and what the keys say of these rows. It depends on names and keys, not on samples: it is
//! worked out once for all that is chosen of a profile.

use super::calls::{Levels, NONE};
use super::facts::{FactMemory, Facts, Place};
use super::graph::GraphKey;
use super::histogram::HistogramOptions;
use super::key::KeyUse;
use super::place_numbers::{FrameNumbers, Frames, OfFunctions, PlaceNumbers};
use crate::addresses::AddressId;
use crate::grown::Grown;
use crate::profile::Profile;
use crate::value::{Tuples, Value};
use perffile::wire::head::CpuMode;
use std::sync::{Arc, OnceLock};

/// Where samples were taken at an address that is not known.
const NOWHERE: (u32, CpuMode) = (NONE, CpuMode::Unknown);

/// The rows of places, by number.
#[derive(Clone, Debug, Default)]
pub struct PlaceRows {
    /// What the keys of places say of each row.
    values: Arc<Tuples>,
    /// The row of each address as the place where a sample was taken, and the mode of the CPU there.
    taken_at: Grown<(u32, CpuMode)>,
    /// The rows of the levels of each address; none if rows have no sums over their stacks.
    levels: Levels,
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
        let taken_at = taken_at(facts, &mut numbers);
        let levels = match options.children {
            true => all_levels(facts, options.inline, |facts, place| numbers.row(facts, place)),
            false => Levels::default(),
        };
        PlaceRows::of(facts, options, numbers, taken_at, levels)
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
        let taken_at = taken_at(facts, &mut numbers);
        let mut of_frames = FrameNumbers::new(facts, options, key, frames);
        // A row may have several frames.
        let levels = all_levels(facts, options.inline, |facts, place| {
            let row = numbers.row(facts, place);
            of_frames.frame(facts, place, row)
        });
        (PlaceRows::of(facts, options, numbers, taken_at, Levels::default()), levels)
    }

    fn of(
        facts: &Facts<'_>,
        options: &HistogramOptions,
        numbers: PlaceNumbers<'_>,
        taken_at: Grown<(u32, CpuMode)>,
        levels: Levels,
    ) -> PlaceRows {
        let places = facts.profile.without_samples();
        let made_of = MadeOf { places, keys: options.keys.clone(), inline: options.inline };
        let memory = facts.memory().clone();
        let (values, of_functions) = numbers.into_parts();
        let (ranks, levels) = (ranks_of(options), levels.shared());
        PlaceRows { values, taken_at, levels, memory, ranks, of_functions, made_of }
    }

    /// The same rows of a profile that has these places and some more behind them, with the same names.
    pub fn with_more_places(&self, facts: &mut Facts<'_>, options: &HistogramOptions) -> PlaceRows {
        facts.settle(options);
        let (values, of_functions) = (Arc::clone(&self.values), self.of_functions.clone());
        let mut numbers = PlaceNumbers::going_on(facts, options, values, of_functions);
        let mut taken_at = self.taken_at.clone();
        let new = || facts.profile.addresses.ids().skip(self.taken_at.len());
        let (new_places, new_levels) = (new(), new());
        taken_at.extend(taken_at_all(facts, &mut numbers, new_places));
        let mut all = self.levels.clone();
        if options.children {
            levels(facts, options.inline, new_levels, &mut all, |facts, place| numbers.row(facts, place));
        }
        let more = PlaceRows::of(facts, options, numbers, taken_at, all);
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
        !self.levels.is_empty() || self.taken_at.is_empty()
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
    pub(super) fn values(&self, row: u32) -> &[Value] {
        self.values.values(row)
    }

    /// Whether the ranks of what a key says are known.
    pub(super) fn has_ranks(&self, key: usize) -> bool {
        self.ranks.get(key).is_some_and(|ranks| ranks.get().is_some())
    }

    /// The ranks of what a key says.
    pub(super) fn ranks(&self, key: usize, make: impl FnOnce() -> Vec<u32>) -> &[u32] {
        self.ranks.get(key).map_or(&[], |ranks| ranks.get_or_init(make))
    }

    /// The row of an address as the place where a sample was taken, and the mode of the CPU there.
    #[inline]
    pub(super) fn taken_at(&self, address: AddressId) -> (u32, CpuMode) {
        self.taken_at.get(address.index()).copied().unwrap_or(NOWHERE)
    }

    /// The rows of the levels of an address, the outermost first.
    #[inline]
    pub(super) fn levels_of(&self, address: AddressId) -> &[u32] {
        self.levels_of_index(address.index())
    }

    /// The same by the index of the address.
    #[inline]
    pub(super) fn levels_of_index(&self, address: usize) -> &[u32] {
        self.levels.of(address)
    }
}

/// Ranks that are not known yet, by key.
fn ranks_of(options: &HistogramOptions) -> Arc<Vec<OnceLock<Vec<u32>>>> {
    Arc::new(options.keys.iter().map(|_| OnceLock::new()).collect())
}

/// The rows of all addresses as places where samples were taken.
fn taken_at(facts: &mut Facts<'_>, numbers: &mut PlaceNumbers<'_>) -> Grown<(u32, CpuMode)> {
    let addresses = facts.profile.addresses.ids();
    taken_at_all(facts, numbers, addresses).collect::<Vec<_>>().into()
}

/// The same of some addresses.
fn taken_at_all(
    facts: &mut Facts<'_>,
    numbers: &mut PlaceNumbers<'_>,
    addresses: impl Iterator<Item = AddressId>,
) -> impl Iterator<Item = (u32, CpuMode)> {
    let row = |address| {
        let place = facts.taken_at(address)?;
        Some((numbers.row(facts, &place), place.code.mode))
    };
    addresses.map(row).map(|row| row.unwrap_or(NOWHERE))
}

/// The numbers of the levels of all addresses, the outermost first.
fn all_levels<'f>(
    facts: &mut Facts<'f>,
    inline: bool,
    number: impl FnMut(&mut Facts<'f>, &Place<'f>) -> u32,
) -> Levels {
    let (addresses, mut all) = (facts.profile.addresses.ids(), Levels::default());
    levels(facts, inline, addresses, &mut all, number);
    all
}

/// Adds the numbers of the levels of addresses, the outermost first.
fn levels<'f>(
    facts: &mut Facts<'f>,
    inline: bool,
    addresses: impl Iterator<Item = AddressId>,
    levels: &mut Levels,
    mut number: impl FnMut(&mut Facts<'f>, &Place<'f>) -> u32,
) {
    let mut of_address = Vec::new();
    for address in addresses {
        match inline {
            true => of_address.extend(facts.levels(address).rev()),
            false => of_address.extend(facts.taken_at(address)),
        }
        levels.push(of_address.drain(..).map(|level| number(facts, &level)));
    }
}
