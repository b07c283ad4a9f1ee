//! Every address once: places in code, by number.

use crate::interner::Interner;
use readperf_session::{AddressSpace, CodeAddress, CpuMode, ProcessId, Session, SpaceVersion};
use rustc_hash::FxHashMap;

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

/// How many look-ups are remembered; 24 bytes each. More are forgotten all at once.
const MOST_SEEN: usize = 1 << 20;

/// Places in code, each held once. Numbers are handed out in the order of first sight.
#[derive(Clone, Debug, Default)]
pub struct Addresses {
    list: Interner<CodeAddress>,
    /// Look-ups that were made before. Most samples are in places where others were.
    seen: FxHashMap<(SpaceVersion, u64), AddressId>,
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
        self.seen = FxHashMap::default();
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
        if let Some(id) = self.seen.get(&(version, ip)) {
            return *id;
        }
        let id = self.number(locate());
        if self.seen.len() >= MOST_SEEN {
            self.seen.clear();
        }
        self.seen.insert((version, ip), id);
        id
    }
}
