//! Every address once: places in code, by number.

use crate::codes::{Codes, CodesSlice};
use crate::contexts::Context;
use crate::interner::Interner;
use crate::outlines::Outlines;
use crate::place_key::PlaceKey;
use crate::recent::Recent;
use crate::recent_mappings::RecentMappings;
use crate::recorded_chains::RecordedChains;
use crate::together::Left;
use readperf_session::{AddressSpace, CodeAddress, CpuMode, SpaceVersion};

/// Number of an address in [`Addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(pub(crate) u32);

impl AddressId {
    /// No address.
    pub const NONE: AddressId = AddressId(u32::MAX);

    /// User code where nothing is mapped, of those to whom such places are [apart](Addresses::unmapped_apart): all have this number, and the address
    /// of each is beside it.
    pub const UNMAPPED: AddressId = AddressId(u32::MAX - 1);

    /// Its index in [`Addresses::as_slice`], and in tables of one's own.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A look-up of an address, in one state of the mappings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    pub(crate) version: SpaceVersion,
    pub(crate) mode: CpuMode,
    pub(crate) ip: u64,
}

impl Lookup {
    /// Of an address in a mode, in the mappings of a sample.
    #[inline]
    pub(crate) fn new(context: &Context, mode: CpuMode, ip: u64) -> Lookup {
        Lookup { version: context.version(mode), mode, ip }
    }

    /// As another address in the same mode.
    #[inline]
    pub(crate) fn at(self, ip: u64) -> Lookup {
        Lookup { ip, ..self }
    }
}

/// Places in code, each held once. Numbers are handed out in the order of first sight.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    unmapped_apart: bool,
    list: Interner<Codes>,
    recent: Recent,
    mappings: RecentMappings,
    /// Where nothing is mapped, for those who need not know more of such a place.
    outlines: Outlines,
    batch: Batch,
}

/// Look-ups that are made at once.
#[derive(Clone, Debug, Default)]
struct Batch {
    /// What each is remembered by.
    keys: Vec<PlaceKey>,
    misses: Misses,
}

/// Look-ups of a batch that are not remembered.
#[derive(Clone, Debug, Default)]
struct Misses {
    /// Their indices in the batch.
    at: Vec<usize>,
    codes: Vec<CodeAddress>,
    numbers: Vec<u32>,
}

impl Addresses {
    /// All of them, by number.
    #[inline]
    pub fn as_slice(&self) -> CodesSlice<'_> {
        self.list.list().as_slice()
    }

    /// Those behind so many.
    pub fn since(&self, before: usize) -> CodesSlice<'_> {
        self.as_slice().since(before)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.as_slice().len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.as_slice().is_empty()
    }

    /// An address by its number.
    #[inline]
    pub fn get(&self, id: AddressId) -> Option<CodeAddress> {
        self.as_slice().get(id.index())
    }

    /// The number of the address with this index.
    pub fn id(&self, index: usize) -> Option<AddressId> {
        (index < self.len()).then(|| AddressId(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// All numbers, ascending.
    pub fn ids(&self) -> impl Iterator<Item = AddressId> + use<> {
        (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).map(AddressId)
    }

    /// The number of an address.
    #[inline]
    pub fn number(&mut self, code: CodeAddress) -> AddressId {
        AddressId(self.list.number(as_told(self.are_of_binaries(), code)))
    }

    /// Numbers of places, in their order.
    pub(crate) fn number_all(&mut self, codes: &mut [CodeAddress], numbers: &mut Vec<u32>) {
        let of_binaries = self.are_of_binaries();
        codes.iter_mut().for_each(|code| *code = as_told(of_binaries, *code));
        self.list.number_all(codes, numbers);
    }

    /// Whether [that](Addresses::of_binaries) is so.
    pub(crate) fn are_of_binaries(&self) -> bool {
        self.list.list().are_of_binaries()
    }

    /// A place once more, under another number.
    pub(crate) fn again(&mut self, code: CodeAddress) -> AddressId {
        AddressId(self.list.push(code))
    }

    /// Leaves these, numbered in their order.
    pub(crate) fn leave(&mut self, left: &[Left]) {
        let is_found = |nr: usize| left.get(nr).is_some_and(|left| left.is_found);
        let mut codes = self.list.list().like();
        codes.extend(left.iter().map(|left| left.code));
        let list = Interner::of_known(codes, is_found);
        *self = Addresses { unmapped_apart: self.unmapped_apart, list, ..Addresses::default() };
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.leave(&[]);
    }

    /// Room for the addresses of so many samples, as far as that can be told.
    #[must_use]
    pub fn expecting(mut self, samples: usize) -> Addresses {
        self.list.reserve(samples);
        self
    }

    /// Whether those who ask need not know where a place was when it ran ([`CodeAddress::ip`]): what is looked up then has its address in
    /// the binary in place of it, so that processes with the same binary have the same places. The system maps it elsewhere in each.
    /// For those without places.
    #[must_use]
    pub fn of_binaries(mut self, of_binaries: bool) -> Addresses {
        self.list = Interner::of_list(if of_binaries { Codes::of_binaries() } else { Codes::default() });
        self
    }

    /// Whether places of user code where nothing is mapped are apart, as [`AddressId::UNMAPPED`]: for those who show of each its address, and ask
    /// for no more. A stack without frame pointers is full of words that are no addresses, and hardly any of them comes twice. Returns whether that is
    /// news: then what was remembered of chains is wrong.
    pub fn unmapped_apart(&mut self, are_apart: bool) -> bool {
        std::mem::replace(&mut self.unmapped_apart, are_apart) != are_apart
    }

    /// Forgets what is only needed to add more.
    pub fn freeze(&mut self) {
        (self.recent, self.mappings, self.outlines, self.batch) = Default::default();
        self.list.freeze();
    }

    /// The numbers of where addresses are, in their order; what was mapped there is beside the chains that they are of. Returns whether some
    /// are [`AddressId::UNMAPPED`].
    pub(crate) fn locate_all(
        &mut self,
        recorded: &RecordedChains,
        lookups: &[Lookup],
        ids: &mut Vec<AddressId>,
    ) -> bool {
        let start = ids.len();
        let (of_binaries, unmapped_apart) = (self.are_of_binaries(), self.unmapped_apart);
        let Addresses { list, recent, mappings, outlines, batch: Batch { keys, misses }, .. } = self;
        let Misses { at, codes, numbers } = misses;
        let mut any_apart = false;
        keys.clear();
        keys.extend(lookups.iter().map(|lookup| {
            let Lookup { version, mode, ip } = *lookup;
            let is_user = mode == CpuMode::User;
            let key = if is_user && (unmapped_apart || of_binaries) && outlines.is_free(version.number(), ip)
            {
                PlaceKey::nowhere(ip)
            } else if is_user && of_binaries {
                let mapping = mappings.find(recorded, *lookup);
                if mapping.is_none() {
                    outlines.miss(version.number(), || recorded.mapped(version));
                }
                PlaceKey::of_user(mapping, ip)
            } else {
                PlaceKey::in_state(version, ip)
            };
            any_apart |= unmapped_apart && key.is_nowhere();
            // Hardly any word that is no address comes again: to remember it would take the place of one that does.
            if key.is_nowhere() { key } else { recent.key(key) }
        }));
        recent.touch(keys);
        at.clear();
        codes.clear();
        numbers.clear();
        for ((nr, key), lookup) in keys.iter().enumerate().zip(lookups) {
            let known = match unmapped_apart && key.is_nowhere() {
                true => Some(AddressId::UNMAPPED),
                false => recent.get(*key),
            };
            ids.push(known.unwrap_or_else(|| {
                let Lookup { version, mode, ip } = *lookup;
                let mapping = if key.is_nowhere() { None } else { mappings.find(recorded, *lookup) };
                if unmapped_apart && mapping.is_none() && mode == CpuMode::User {
                    any_apart = true;
                    outlines.miss(version.number(), || recorded.mapped(version));
                    return AddressId::UNMAPPED;
                }
                at.push(nr);
                codes.push(as_told(of_binaries, CodeAddress::of(mapping, mode, ip)));
                // It is told below.
                AddressId::NONE
            }));
        }
        list.number_all(codes, numbers);
        for (nr, number) in at.iter().zip(numbers) {
            let id = AddressId(*number);
            if let (Some(slot), Some(key)) = (ids.get_mut(start + nr), keys.get(*nr)) {
                *slot = id;
                if !key.is_nowhere() {
                    recent.put(*key, id);
                }
            }
        }
        any_apart
    }

    /// The number of where an address of a process is, in the mappings of another time.
    #[inline]
    pub fn locate_in(&mut self, space: &AddressSpace, ip: u64) -> AddressId {
        let key = self.recent.key(PlaceKey::in_state(space.version(), ip));
        if let Some(known) = self.recent.get(key) {
            return known;
        }
        let id = self.number(CodeAddress::of(space.find(ip), CpuMode::User, ip));
        self.recent.put(key, id);
        id
    }
}

/// A place as it is found: see [`Addresses::of_binaries`].
#[inline]
fn as_told(of_binaries: bool, code: CodeAddress) -> CodeAddress {
    if of_binaries { CodeAddress { ip: code.address, ..code } } else { code }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_user_code_is_apart_and_only_if_that_is_wanted() {
        // Nothing is mapped anywhere: both modes have the same version.
        let recorded = RecordedChains::for_test(&[]);
        let lookup = |mode, ip| Lookup { version: SpaceVersion::default(), mode, ip };
        let mut lookups: Vec<Lookup> = (0..100).map(|ip| lookup(CpuMode::User, ip << 20)).collect();
        lookups.extend([lookup(CpuMode::Kernel, 5), lookup(CpuMode::Unknown, 7)]);
        let mut addresses = Addresses::default();
        for are_apart in [true, false, true] {
            addresses.unmapped_apart(are_apart);
            // Once more when it is known where nothing is.
            for _ in 0..2 {
                let mut ids = Vec::new();
                assert_eq!(addresses.locate_all(&recorded, &lookups, &mut ids), are_apart);
                for (id, lookup) in ids.into_iter().zip(&lookups) {
                    let is_apart = are_apart && lookup.mode == CpuMode::User;
                    assert_eq!(id == AddressId::UNMAPPED, is_apart, "{lookup:?}");
                    let ip = addresses.get(id).map(|code| code.ip);
                    assert_eq!(ip, (!is_apart).then_some(lookup.ip), "{lookup:?}");
                }
            }
        }
    }

    #[test]
    fn equal_places_have_one_number() {
        let mut addresses = Addresses::default();
        let place =
            |nr: u64| CodeAddress { binary: None, address: nr % 7, ip: nr << 12, mode: CpuMode::User };
        let first: Vec<AddressId> = (0..5000).map(|nr| addresses.number(place(nr))).collect();
        let again: Vec<AddressId> = (0..5000).map(|nr| addresses.number(place(nr))).collect();
        assert_eq!(first, again);
        assert!(first.iter().enumerate().all(|(nr, id)| id.index() == nr));
        assert_eq!(addresses.len(), 5000);
        assert_eq!(addresses.get(first[17]), Some(place(17)));
    }
}
