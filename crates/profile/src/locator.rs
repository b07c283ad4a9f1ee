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
    /// The indices of chains that were not met before.
    new: Vec<usize>,
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
        let Asked { new, lookups } = asked;
        if !recorded.has_stacks {
            addresses.locate_all(recorded, recorded.places(), places);
            return;
        }
        lookups.clear();
        new.clear();
        let first = ids.len();
        chains.find_all(recorded, ids, new);
        let ids = ids.get(first..).unwrap_or_default();
        let before = chains.places_mut().len();
        for nr in &*new {
            let (Some(chain), Some(id)) = (recorded.chain(*nr), ids.get(*nr)) else { continue };
            let context = recorded.contexts().get(chain.context);
            let depth = context.map_or(0, |context| chain::append_all(lookups, &chain, context, *callers));
            chains.learn(*id, before + lookups.len(), depth);
        }
        if addresses.locate_all(recorded, lookups, chains.places_mut()) {
            let lookup = |place: usize| lookups.get(place.checked_sub(before)?);
            let address = |place| lookup(place).map_or(0, |lookup| lookup.ip);
            new.iter().filter_map(|nr| ids.get(*nr)).for_each(|id| chains.learn_unmapped(*id, address));
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
