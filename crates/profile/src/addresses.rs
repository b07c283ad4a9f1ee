//! Every address once: places in code, by number.

use crate::interner::Interner;
use readperf_session::{AddressSpace, CodeAddress, CpuMode, ProcessId, Session, SpaceVersion};

/// Number of an address in [`Addresses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AddressId(pub(crate) u32);

impl AddressId {
    /// Its index in [`Addresses::as_slice`], and in tables of one's own.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Slots for look-ups that are remembered; 24 bytes each. A power of two.
const RECENT: usize = 1 << 16;

/// A look-up and its answer.
#[derive(Clone, Copy, Debug)]
struct Recent {
    version: SpaceVersion,
    ip: u64,
    id: AddressId,
}

/// Places in code, each held once. Numbers are handed out in the order of first sight.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    list: Interner<CodeAddress>,
    /// Look-ups that were made before, by a hash; later ones take the place of earlier ones. Most samples are in places where
    /// others were.
    recent: Vec<Option<Recent>>,
}

/// 2^64 over the golden ratio: Fibonacci hashing.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The slot of a look-up: the upper bits of its hash.
#[inline]
fn recent_slot(version: SpaceVersion, ip: u64) -> usize {
    let hash = (ip ^ version.number().rotate_left(40)).wrapping_mul(GOLDEN);
    usize::try_from(hash >> (64 - RECENT.trailing_zeros())).unwrap_or(0)
}

impl Addresses {
    /// All of them, by number.
    pub fn as_slice(&self) -> &[CodeAddress] {
        self.list.as_slice()
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
    pub fn get(&self, id: AddressId) -> Option<&CodeAddress> {
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
        AddressId(self.list.number(code))
    }

    /// Forgets what is only needed to add more.
    pub fn freeze(&mut self) {
        self.recent = Vec::new();
        self.list.freeze();
    }

    /// The number of where an address is, in the mappings as of now.
    #[inline]
    pub fn locate(&mut self, session: &Session, process: ProcessId, mode: CpuMode, ip: u64) -> AddressId {
        let version = session.space_version(process, mode);
        self.remember(version, mode, ip, || session.locate(process, mode, ip))
    }

    /// The number of where an address of a process is, in the mappings of another time.
    #[inline]
    pub fn locate_in(&mut self, space: &AddressSpace, ip: u64) -> AddressId {
        let mode = CpuMode::User;
        self.remember(space.version(), mode, ip, || CodeAddress::of(space.find(ip), mode, ip))
    }

    #[inline]
    fn remember(
        &mut self,
        version: SpaceVersion,
        mode: CpuMode,
        ip: u64,
        locate: impl FnOnce() -> CodeAddress,
    ) -> AddressId {
        // Without mappings modes share their version, but not the answer.
        if version == SpaceVersion::default() {
            return self.number(CodeAddress::of(None, mode, ip));
        }
        let slot = recent_slot(version, ip);
        if let Some(Some(recent)) = self.recent.get(slot)
            && recent.ip == ip
            && recent.version == version
        {
            return recent.id;
        }
        let id = self.number(locate());
        if self.recent.is_empty() {
            self.recent.resize(RECENT, None);
        }
        if let Some(place) = self.recent.get_mut(slot) {
            *place = Some(Recent { version, ip, id });
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(addresses.get(first[17]), Some(&place(17)));
    }
}
