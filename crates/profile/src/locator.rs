//! Recorded chains to places.

use crate::addresses::{AddressId, Addresses, Lookup};
use crate::build::SamplePlaces;
use crate::chain::{self, CallerAddress};
use crate::known_chains::{ChainId, KnownChains, KnownPlaces};
use crate::recorded_chains::RecordedChains;

/// Looks up where samples were taken, many at a time.
#[derive(Debug, Default)]
pub struct Locator {
    callers: CallerAddress,
    /// The chains that came last.
    chains: KnownChains,
    /// The chain of each sample at hand; where chains are not wanted, its place.
    ids: Vec<ChainId>,
    places: Vec<AddressId>,
    asked: Asked,
}

/// What is needed to look up, kept so that it is made once.
#[derive(Debug, Default)]
struct Asked {
    /// Chains that were not met before: their indices, and where their look-ups end and how many of these are the stack.
    new: Vec<usize>,
    ends: Vec<(usize, usize)>,
    lookups: Vec<Lookup>,
}

impl Locator {
    /// One that looks callers up there.
    pub fn new(callers: CallerAddress) -> Locator {
        Locator { callers, ..Locator::default() }
    }

    /// Looks up where these samples were taken. They follow those that are at hand.
    pub fn locate(&mut self, addresses: &mut Addresses, recorded: &RecordedChains) {
        let Locator { callers, chains, ids, places, asked } = self;
        let Asked { new, ends, lookups } = asked;
        if !recorded.has_stacks {
            addresses.locate_all(recorded, recorded.places(), places);
            return;
        }
        lookups.clear();
        new.clear();
        ends.clear();
        let first = ids.len();
        chains.find_all(recorded, ids, new);
        for chain in new.iter().filter_map(|nr| recorded.chain(*nr)) {
            let context = recorded.contexts().get(chain.context);
            let depth = context.map_or(0, |context| chain::append_all(lookups, &chain, context, *callers));
            ends.push((lookups.len(), depth));
        }
        let any_unmapped = addresses.locate_all(recorded, lookups, chains.places_mut());
        // What to look for their addresses in.
        let lookups = if any_unmapped { &**lookups } else { &[] };
        let mut start = 0;
        for (nr, (end, depth)) in new.iter().zip(ends.iter()) {
            if let Some(id) = ids.get(first + nr) {
                let lookups = lookups.get(start..*end).unwrap_or_default();
                chains.learn(*id, end - start, *depth, lookups.iter().map(|lookup| lookup.ip));
            }
            start = *end;
        }
    }

    /// Where the samples at hand were taken, in their order.
    pub fn all(&self) -> impl Iterator<Item = SamplePlaces<'_>> {
        (0..self.ids.len().max(self.places.len())).map_while(|nr| self.get(nr))
    }

    /// Where a sample was taken, by its number among those at hand.
    #[inline(always)]
    pub fn get(&self, nr: usize) -> Option<SamplePlaces<'_>> {
        let (places, stand_in) = self.find(nr)?;
        let stack = if places.stack.is_empty() { stand_in } else { places.stack };
        Some(SamplePlaces { stack, ..places })
    }

    /// The chains of the samples at hand; none where chains are not wanted.
    pub(crate) fn chains(&self) -> &[ChainId] {
        &self.ids
    }

    /// Whether no more than one chain of so many was new.
    pub(crate) fn finds_all_but_one_of(&self, count: usize) -> bool {
        self.chains.finds_all_but_one_of(count)
    }

    /// As [`get`](Locator::get), but the stack is empty if no chain was recorded.
    #[inline(always)]
    pub(crate) fn recorded(&self, nr: usize) -> Option<SamplePlaces<'_>> {
        self.find(nr).map(|(places, _)| places)
    }

    /// Where a sample was taken, with its recorded chain as the stack, and what stands in for that if it is empty.
    #[inline(always)]
    fn find(&self, nr: usize) -> Option<(SamplePlaces<'_>, &[AddressId])> {
        let Some(id) = self.ids.get(nr) else {
            let places = SamplePlaces::without_stack(self.places.get(nr)?);
            return Some((SamplePlaces { stack: &[], ..places }, places.stack));
        };
        // Behind the stack, if that does not begin there, is where the sample was taken.
        let KnownPlaces { places, unmapped, depth } = self.chains.places(*id);
        let (stack, behind) = places.split_at_checked(depth)?;
        let address = *behind.first().or(stack.first())?;
        Some((SamplePlaces { address, stack, unmapped, chain: Some(*id) }, places))
    }

    /// The recorded chain of a sample at hand; empty if there is none.
    pub fn recorded_stack(&self, nr: usize) -> &[AddressId] {
        self.recorded(nr).map_or(&[], |places| places.stack)
    }

    /// Forgets the samples at hand.
    pub fn forget(&mut self) {
        self.ids.clear();
        self.places.clear();
        self.chains.forget_if_many();
    }

    /// Forgets all: places are numbered anew.
    pub fn forget_all(&mut self) {
        self.ids.clear();
        self.places.clear();
        self.chains.forget();
    }
}
