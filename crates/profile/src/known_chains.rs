//! Recorded call chains that were met before, and the places that they turned out to be.
//!
//! Samples repeat each other: of a server most, of compilers half. So chains are compared as they lie in the recording first,
//! and only what is new is looked up, address by address. Those that come again mostly come soon, so only the last ones are
//! remembered: so few that they stay in a cache close to the processor. ARCHITECTURE.md has the figures.

use crate::addresses::AddressId;
use crate::contexts::{ContextId, Contexts};
use crate::index::Index;
use crate::recorded_chains::{RecordedChain, RecordedChains};

/// So many words of chains, and so many chains, are remembered before all are forgotten, where most samples have a chain that is. Half as
/// many elsewhere: the rest of what is in the cache is worth more there.
const MOST_WORDS: usize = 1 << 17;
const MOST_CHAINS: usize = 1 << 14;

/// Names a chain. Chains with the same id have the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainId {
    /// How often all chains had been forgotten. Those of an earlier epoch do not come again.
    pub(crate) epoch: u32,
    pub(crate) number: u32,
}

impl ChainId {
    /// A number that no other has. The lower bits differ most.
    #[inline]
    pub fn bits(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.number)
    }
}

/// The chains that are remembered.
#[derive(Debug, Default)]
pub(crate) struct KnownChains {
    epoch: u32,
    index: Index,
    contexts: Contexts,
    chains: Vec<Known>,
    /// The words and the places of all, one chain after the other.
    words: Vec<u64>,
    places: Vec<AddressId>,
    /// The addresses of those places that are [`AddressId::UNMAPPED`].
    unmapped: Vec<u64>,
    /// How many have been looked for since all were forgotten.
    sought: usize,
    /// For contexts of the chains that are looked for: their numbers here.
    here: Vec<ContextId>,
}

/// A chain. What is its own of the tables begins where that of the chain before ends.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    ip: u64,
    context: ContextId,
    ends: Ends,
    /// How many of the places are its stack.
    depth: u32,
}

/// Where the words, places and addresses of chains end.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    words: u32,
    places: u32,
    unmapped: u32,
}

/// The places of a chain, as they were learned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KnownPlaces<'k> {
    pub(crate) places: &'k [AddressId],
    /// The addresses of those that are [`AddressId::UNMAPPED`], in their order.
    pub(crate) unmapped: &'k [u64],
    /// How many of the places are its stack.
    pub(crate) depth: usize,
}

impl KnownChains {
    /// Appends the ids of chains, in their order, and the indices of those that are new: these are to be [learned](KnownChains::learn), and
    /// their places appended, before others are looked for.
    pub(crate) fn find_all(
        &mut self,
        recorded: &RecordedChains,
        ids: &mut Vec<ChainId>,
        new: &mut Vec<usize>,
    ) {
        let hashes = recorded.hashes();
        self.sought += hashes.len();
        self.index.make_room(self.chains.len() + hashes.len());
        self.index.touch(hashes);
        self.here.clear();
        self.here.extend(recorded.contexts().as_slice().iter().map(|context| self.contexts.number(*context)));
        for (nr, hash) in hashes.iter().enumerate() {
            let Some(chain) = recorded.chain(nr) else { return };
            let context = self.here.get(chain.context.0 as usize).copied().unwrap_or_default();
            let next = self.chains.len();
            let number = self.find_or_add(&RecordedChain { context, ..chain }, *hash);
            if number as usize == next {
                new.push(nr);
            }
            ids.push(ChainId { epoch: self.epoch, number });
        }
    }

    /// The number of a chain, which has the number of its context here.
    #[inline]
    fn find_or_add(&mut self, chain: &RecordedChain<'_>, hash: u32) -> u32 {
        let KnownChains { index, chains, words, .. } = self;
        let next = chains.len();
        let RecordedChain { ip, context, words: of_chain } = *chain;
        let is = |number: u32| {
            let known = chains.get(number as usize);
            known.is_some_and(|known| {
                (known.ip, known.context) == (ip, context)
                    && words.get(start(chains, number).words as usize..known.ends.words as usize)
                        == Some(of_chain)
            })
        };
        let number = index.find_or_add(hash, next, is);
        if number as usize == next {
            words.extend_from_slice(of_chain);
            let ends = Ends { words: end(words.len()), ..Ends::default() };
            chains.push(Known { ip, context, ends, depth: 0 });
        }
        number
    }

    /// Where the places of new chains are to be appended, those of one behind those of the other.
    pub(crate) fn places_mut(&mut self) -> &mut Vec<AddressId> {
        &mut self.places
    }

    /// Learns of a new chain where its places will [end](KnownChains::places_mut), and how many of them are its stack, as [`chain::append_all`] has them.
    /// Chains are learned in their order.
    #[inline]
    pub(crate) fn learn(&mut self, id: ChainId, places_end: usize, depth: usize) {
        let unmapped = end(self.unmapped.len());
        if let Some(known) = self.chains.get_mut(id.number as usize) {
            known.ends = Ends { places: end(places_end), unmapped, ..known.ends };
            known.depth = end(depth);
        }
    }

    /// Learns of a new chain, whose places are there now, what the addresses are of those that are [`AddressId::UNMAPPED`]; `address` tells them by
    /// the index of the place. If some chain has such places, it is to be told of all that were learned with it, in their order.
    pub(crate) fn learn_unmapped(&mut self, id: ChainId, address: impl Fn(usize) -> u64) {
        let start = start(&self.chains, id.number).places as usize;
        let Some(known) = self.chains.get_mut(id.number as usize) else { return };
        let of_chain = self.places.get(start..known.ends.places as usize).unwrap_or_default();
        let unmapped = of_chain.iter().zip(start..).filter(|(place, _)| **place == AddressId::UNMAPPED);
        self.unmapped.extend(unmapped.map(|(_, at)| address(at)));
        known.ends.unmapped = end(self.unmapped.len());
    }

    /// The places of a chain; none if it has been forgotten.
    #[inline]
    pub(crate) fn places(&self, id: ChainId) -> KnownPlaces<'_> {
        let known = self.chains.get(id.number as usize).filter(|_| id.epoch == self.epoch);
        known.map_or_else(KnownPlaces::default, |Known { ends, depth, .. }| {
            let start = start(&self.chains, id.number);
            let unmapped = start.unmapped as usize..ends.unmapped as usize;
            KnownPlaces {
                places: self.places.get(start.places as usize..ends.places as usize).unwrap_or_default(),
                unmapped: self.unmapped.get(unmapped).unwrap_or_default(),
                depth: *depth as usize,
            }
        })
    }

    /// Whether no more than one of so many that were looked for was new.
    pub(crate) fn finds_all_but_one_of(&self, count: usize) -> bool {
        self.chains.len() < self.sought / count
    }

    /// Forgets all, if they are many: their ids do not come again.
    pub(crate) fn forget_if_many(&mut self) {
        let part = if self.finds_all_but_one_of(2) { 1 } else { 2 };
        if self.words.len() > MOST_WORDS / part || self.chains.len() > MOST_CHAINS / part {
            self.forget();
        }
    }

    /// Forgets all.
    pub(crate) fn forget(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
        self.index.clear(self.chains.len());
        self.contexts.clear();
        self.chains.clear();
        self.words.clear();
        self.places.clear();
        self.unmapped.clear();
        self.sought = 0;
    }
}

/// Where the parts of a chain begin.
#[inline]
fn start(chains: &[Known], number: u32) -> Ends {
    let before = number.checked_sub(1).and_then(|before| chains.get(before as usize));
    before.map_or_else(Ends::default, |before| before.ends)
}

/// All is forgotten long before the numbers end.
#[inline]
fn end(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_session::CpuMode;

    /// A chain of a sample in user code.
    fn chain(ip: u64, words: &[u64]) -> (u64, CpuMode, &[u64], u32) {
        (ip, CpuMode::User, words, 9)
    }

    /// The ids of chains, each of which gets a place with its own number if it is new; and which are new.
    fn find_all(
        chains: &mut KnownChains,
        recorded: &[(u64, CpuMode, &[u64], u32)],
    ) -> (Vec<ChainId>, Vec<usize>) {
        let (mut ids, mut new) = (Vec::new(), Vec::new());
        chains.find_all(&RecordedChains::for_test(recorded), &mut ids, &mut new);
        for nr in &new {
            let place = AddressId(ids[*nr].number);
            chains.places_mut().extend([place, AddressId::UNMAPPED]);
            let places = chains.places_mut().len();
            chains.learn(ids[*nr], places, 1);
        }
        for nr in &new {
            let first = chains.places.iter().position(|place| place.0 == ids[*nr].number);
            chains.learn_unmapped(ids[*nr], |at| if Some(at) == first { 0 } else { recorded[*nr].0 });
        }
        (ids, new)
    }

    #[test]
    fn chains_are_the_same_if_all_is_that_their_places_follow_from() {
        let mut chains = KnownChains::default();
        let in_kernel = (1, CpuMode::Kernel, &[7, 8][..], 9);
        let of_branches = (1, CpuMode::User, &[7, 8][..], 1);
        let recorded = [
            chain(1, &[7, 8]),
            chain(1, &[7]),
            chain(2, &[7, 8]),
            in_kernel,
            of_branches,
            chain(1, &[]),
            chain(1, &[7, 8]),
        ];
        let (ids, new) = find_all(&mut chains, &recorded);
        assert_eq!(new, [0, 1, 2, 3, 4, 5], "the last one is the first once more");
        assert_eq!(ids[6], ids[0]);
        let (again, new) = find_all(&mut chains, &recorded);
        assert_eq!((again, new), (ids.clone(), Vec::new()));
        for id in ids {
            let KnownPlaces { places, depth, .. } = chains.places(id);
            assert_eq!((places, depth), (&[AddressId(id.number), AddressId::UNMAPPED][..], 1));
        }
    }

    #[test]
    fn contexts_are_told_apart_whatever_their_numbers_were_on_the_way() {
        let mut chains = KnownChains::default();
        let in_mode = |mode| (1, mode, &[7, 8][..], 9);
        let modes = [CpuMode::Kernel, CpuMode::User, CpuMode::Hypervisor];
        let (ids, _) = find_all(&mut chains, &modes.map(in_mode));
        for first in 0..modes.len() {
            let others = [modes[first], modes[(first + 1) % modes.len()]];
            let (again, new) = find_all(&mut chains, &others.map(in_mode));
            assert_eq!((again, new), (vec![ids[first], ids[(first + 1) % ids.len()]], Vec::new()));
        }
    }

    #[test]
    fn twice_as_many_are_remembered_where_most_are_found_again() {
        let words: Vec<[u64; 1]> = (0..MOST_CHAINS as u64 / 2 + 1).map(|word| [word]).collect();
        let recorded: Vec<_> = words.iter().map(|words| chain(7, words)).collect();
        for (times, are_remembered) in [(1, false), (2, false), (3, true)] {
            let mut chains = KnownChains::default();
            (0..times).for_each(|_| drop(find_all(&mut chains, &recorded)));
            chains.forget_if_many();
            let (_, new) = find_all(&mut chains, &recorded);
            assert_eq!(new.is_empty(), are_remembered, "each came {times} times");
            // What was found before all were forgotten is no sign of what comes.
            chains.forget();
            drop(find_all(&mut chains, &recorded));
            chains.forget_if_many();
            assert!(!find_all(&mut chains, &recorded).1.is_empty());
        }
    }

    #[test]
    fn what_is_forgotten_does_not_come_again_under_its_id() {
        let mut chains = KnownChains::default();
        let words: Vec<[u64; 1]> = (0..MOST_CHAINS as u64 + 1).map(|word| [word]).collect();
        let recorded: Vec<_> = words.iter().map(|words| chain(7, words)).collect();
        let (ids, _) = find_all(&mut chains, &recorded);
        assert_eq!(chains.places(ids[0]).depth, 1, "those at hand stay, however many they are");
        chains.forget_if_many();
        let (others, new) = find_all(&mut chains, &recorded[..1]);
        assert_eq!(new, [0], "there were too many");
        assert_ne!(others[0], ids[0]);
        assert!(chains.places(ids[0]).places.is_empty() && chains.places(ids[0]).unmapped.is_empty());
        assert_eq!((chains.places(others[0]).depth, chains.places(others[0]).unmapped), (1, &[7][..]));
    }
}
