//! Thread names, each kept once.

use crate::arena::Id as _;
use crate::ids::CommId;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// Name of the idle threads, which the kernel never tells: they have tid 0.
pub(crate) const IDLE: &[u8] = b"swapper";

/// All thread names of a recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comms(IndexSet<Box<[u8]>, FxBuildHasher>);

impl Comms {
    /// The id of a name.
    pub(crate) fn intern(&mut self, name: &[u8]) -> CommId {
        let known = self.0.get_index_of(name);
        let index = known.unwrap_or_else(|| self.0.insert_full(name.into()).0);
        // Memory is at its end long before the numbers are.
        CommId::of(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// The name perf gives a thread that nothing named: a colon and its tid, as a signed number.
    pub(crate) fn unnamed(&mut self, tid: u32) -> CommId {
        self.intern(format!(":{}", tid.cast_signed()).as_bytes())
    }

    pub(crate) fn name(&self, id: CommId) -> &[u8] {
        self.0.get_index(id.number() as usize).map_or(&[], |name| name)
    }

    pub(crate) fn names(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.0.iter().map(|name| &**name)
    }
}
