//! Every address once: places in code, by number.

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

/// Slots for the look-ups made last: little enough to stay close to the processor. A power of two.
const RECENT: usize = 1 << 13;

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
    list: Vec<CodeAddress>,
    ids: FxHashMap<CodeAddress, AddressId>,
    /// Look-ups that were made before. Most samples are in places where others were.
    seen: FxHashMap<(SpaceVersion, u64), AddressId>,
    /// Those of them that were made last, by a hash.
    recent: Vec<Option<Recent>>,
}

/// The slot of a look-up. The constant is that of Fibonacci hashing: 2^64 over the golden ratio.
#[inline]
fn slot(version: SpaceVersion, ip: u64) -> usize {
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = (ip ^ version.number().rotate_left(40)).wrapping_mul(GOLDEN);
    (mixed >> (64 - RECENT.trailing_zeros())) as usize
}

impl Addresses {
    /// All of them, by number.
    pub fn as_slice(&self) -> &[CodeAddress] {
        &self.list
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// An address by its number.
    #[inline]
    pub fn get(&self, id: AddressId) -> Option<&CodeAddress> {
        self.list.get(id.index())
    }

    /// The number of the address with this index.
    pub fn id(&self, index: usize) -> Option<AddressId> {
        (index < self.list.len()).then(|| AddressId(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    /// The number of an address.
    #[inline]
    pub fn number(&mut self, code: CodeAddress) -> AddressId {
        let next = AddressId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        *self.ids.entry(code).or_insert_with(|| {
            self.list.push(code);
            next
        })
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
        let slot = slot(version, ip);
        if let Some(Some(recent)) = self.recent.get(slot)
            && recent.ip == ip
            && recent.version == version
        {
            return recent.id;
        }
        let id = match self.seen.get(&(version, ip)) {
            Some(id) => *id,
            None => {
                let id = self.number(locate());
                if self.seen.len() >= MOST_SEEN {
                    self.seen.clear();
                }
                self.seen.insert((version, ip), id);
                id
            }
        };
        if self.recent.is_empty() {
            self.recent.resize(RECENT, None);
        }
        if let Some(place) = self.recent.get_mut(slot) {
            *place = Some(Recent { version, ip, id });
        }
        id
    }
}
