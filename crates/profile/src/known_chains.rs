//! Recorded call chains that were met before, and the places that they turned out to be.
//!
//! Samples repeat each other: of a server most, of compilers half. So chains are compared as they lie in the recording first,
//! and only what is new is looked up, address by address. Those that come again mostly come soon, so only the last ones are
//! remembered: so few that they stay in a cache close to the processor. ARCHITECTURE.md has the figures.

use crate::addresses::AddressId;
use crate::chain;
use crate::index::{Index, hash};
use perffile::wire::attr::EventAttr;
use perffile::wire::head::CpuMode;
use readperf_session::{SampleMoment, Session, SpaceVersion};
use std::hint::black_box;
use std::ops::Range;

/// Bytes of chains after which all are forgotten.
const MOST_BYTES: usize = 1 << 20;

/// Chains after which all are forgotten.
const MOST_CHAINS: usize = 1 << 14;

/// What the places of a sample follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainKey<'e> {
    context: Context,
    /// The chain as it was recorded; where the branches are the chain, the whole sample.
    bytes: &'e [u8],
}

/// What the places of a chain depend on besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Context {
    /// Where the sample was taken.
    ip: u64,
    mode: CpuMode,
    /// The states of the mappings.
    user: SpaceVersion,
    kernel: SpaceVersion,
    guest_kernel: SpaceVersion,
    /// Whether the bytes are those of the whole sample.
    whole: bool,
}

impl<'e> ChainKey<'e> {
    /// That of a sample in the mappings as of now; `attr` is that of its event, if its stack counts.
    #[inline]
    pub fn of(session: &Session, sample: &SampleMoment<'e>, attr: Option<&EventAttr>) -> ChainKey<'e> {
        let version = |mode| session.space_version(sample.process, mode);
        let context = Context {
            ip: sample.ip,
            mode: sample.mode,
            user: version(CpuMode::User),
            kernel: version(CpuMode::Kernel),
            guest_kernel: version(CpuMode::GuestKernel),
            whole: attr.is_some_and(chain::is_call_stack),
        };
        let bytes = match attr {
            None => &[],
            Some(_) if context.whole => sample.sample.body(),
            Some(_) => sample.sample.callchain().unwrap_or_default().as_bytes(),
        };
        ChainKey { context, bytes }
    }

    /// A hash of what mostly differs.
    #[inline]
    fn hash(&self) -> u32 {
        hash(&(self.context.ip, self.context.user, self.bytes))
    }
}

/// Names a chain. Chains with the same id have the same places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ChainId {
    /// How often all chains had been forgotten. Those of an earlier epoch do not come again.
    pub(crate) epoch: u32,
    pub(crate) number: u32,
}

/// The chains that are remembered.
#[derive(Debug, Default)]
pub struct KnownChains {
    epoch: u32,
    index: Index,
    chains: Vec<Known>,
    /// The bytes and the places of all, one chain after the other.
    bytes: Vec<u8>,
    places: Vec<AddressId>,
    /// Of the chains at hand.
    hashes: Vec<u32>,
}

/// A chain: where its bytes and its places begin, and end.
#[derive(Clone, Copy, Debug)]
struct Known {
    context: Context,
    bytes: (u32, u32),
    places: (u32, u32),
    /// How many of the places are its stack.
    depth: u32,
}

impl KnownChains {
    /// Appends the ids of chains, in their order, and the indices of those that are new: the places of these are to be given by
    /// [`KnownChains::learn`] before others are looked for.
    pub fn find_all(&mut self, keys: &[ChainKey<'_>], ids: &mut Vec<ChainId>, new: &mut Vec<usize>) {
        self.index.make_room(self.chains.len() + keys.len());
        let mut hashes = std::mem::take(&mut self.hashes);
        hashes.clear();
        hashes.extend(keys.iter().map(ChainKey::hash));
        // Touched first, so that the processor waits for many of them at once.
        let known = || hashes.iter().filter_map(|hash| self.chains.get(self.index.first(*hash)? as usize));
        black_box(known().fold(0, |sum, known| sum ^ known.bytes.0));
        black_box(known().fold(0, |sum, known| sum ^ self.recorded(known).last().copied().unwrap_or(0)));
        for (nr, (key, hash)) in keys.iter().zip(&hashes).enumerate() {
            let next = self.chains.len();
            let number = self.find_or_add(key, *hash);
            if number as usize == next {
                new.push(nr);
            }
            ids.push(ChainId { epoch: self.epoch, number });
        }
        self.hashes = hashes;
    }

    #[inline]
    fn find_or_add(&mut self, key: &ChainKey<'_>, hash: u32) -> u32 {
        let KnownChains { index, chains, bytes, .. } = self;
        let next = chains.len();
        let is = |number: u32| {
            let known = chains.get(number as usize);
            known.is_some_and(|known| {
                known.context == key.context && bytes.get(range(known.bytes)) == Some(key.bytes)
            })
        };
        let number = index.find_or_add(hash, next, is);
        if number as usize == next {
            let start = end(bytes.len());
            bytes.extend_from_slice(key.bytes);
            chains.push(Known {
                context: key.context,
                bytes: (start, end(bytes.len())),
                places: (0, 0),
                depth: 0,
            });
        }
        number
    }

    /// Learns the places of a new chain, and how many of them are its stack: as [`chain::append_all`] has them.
    pub fn learn(&mut self, id: ChainId, places: &[AddressId], depth: usize) {
        let start = end(self.places.len());
        self.places.extend_from_slice(places);
        if let Some(known) = self.chains.get_mut(id.number as usize) {
            (known.places, known.depth) = ((start, end(self.places.len())), end(depth));
        }
    }

    /// The places of a chain, as they were learned.
    #[inline]
    pub fn places(&self, id: ChainId) -> (&[AddressId], usize) {
        let known = self.chains.get(id.number as usize).filter(|_| id.epoch == self.epoch);
        known.map_or((&[], 0), |known| {
            (self.places.get(range(known.places)).unwrap_or_default(), known.depth as usize)
        })
    }

    fn recorded(&self, known: &Known) -> &[u8] {
        self.bytes.get(range(known.bytes)).unwrap_or_default()
    }

    /// Forgets all, if they are many: their ids do not come again.
    pub fn forget_if_many(&mut self) {
        if self.bytes.len() <= MOST_BYTES && self.chains.len() <= MOST_CHAINS {
            return;
        }
        self.epoch = self.epoch.wrapping_add(1);
        self.index.clear();
        self.chains.clear();
        self.bytes.clear();
        self.places.clear();
    }
}

#[inline]
fn range((start, end): (u32, u32)) -> Range<usize> {
    start as usize..end as usize
}

/// All is forgotten long before the numbers end.
#[inline]
fn end(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(ip: u64, bytes: &[u8]) -> ChainKey<'_> {
        let version = SpaceVersion::default();
        let (user, kernel, guest_kernel) = (version, version, version);
        let context = Context { ip, mode: CpuMode::User, user, kernel, guest_kernel, whole: false };
        ChainKey { context, bytes }
    }

    /// The ids of chains, each of which gets a place with its own number if it is new; and which are new.
    fn find_all(chains: &mut KnownChains, keys: &[ChainKey<'_>]) -> (Vec<ChainId>, Vec<usize>) {
        let (mut ids, mut new) = (Vec::new(), Vec::new());
        chains.find_all(keys, &mut ids, &mut new);
        for nr in &new {
            let place = AddressId(ids[*nr].number);
            chains.learn(ids[*nr], &[place, place], 1);
        }
        (ids, new)
    }

    #[test]
    fn equal_chains_have_one_id() {
        let mut chains = KnownChains::default();
        let in_kernel =
            ChainKey { context: Context { mode: CpuMode::Kernel, ..key(1, b"ab").context }, bytes: b"ab" };
        let whole = ChainKey { context: Context { whole: true, ..key(1, b"ab").context }, bytes: b"ab" };
        let keys = [key(1, b"ab"), key(1, b"a"), key(2, b"ab"), in_kernel, whole, key(1, b""), key(1, b"ab")];
        let (ids, new) = find_all(&mut chains, &keys);
        assert_eq!(new, [0, 1, 2, 3, 4, 5], "the last one is the first once more");
        assert_eq!(ids[6], ids[0]);
        let (again, new) = find_all(&mut chains, &keys);
        assert_eq!((again, new), (ids.clone(), Vec::new()));
        for id in ids {
            assert_eq!(chains.places(id), (&[AddressId(id.number); 2][..], 1));
        }
    }

    #[test]
    fn what_is_forgotten_does_not_come_again_under_its_id() {
        let mut chains = KnownChains::default();
        let bytes: Vec<[u8; 8]> = (0..MOST_CHAINS as u64 + 1).map(u64::to_le_bytes).collect();
        let keys: Vec<ChainKey<'_>> = bytes.iter().map(|bytes| key(7, bytes)).collect();
        let (ids, _) = find_all(&mut chains, &keys);
        assert_eq!(chains.places(ids[0]).1, 1, "those at hand stay, however many they are");
        chains.forget_if_many();
        let (others, new) = find_all(&mut chains, &keys[..1]);
        assert_eq!(new, [0], "there were too many");
        assert_ne!(others[0], ids[0]);
        assert_eq!(chains.places(ids[0]), (&[][..], 0));
        assert_eq!(chains.places(others[0]).1, 1);
    }
}
