//! Thread names, each kept once.

use crate::arena::Arena;
use crate::ids::CommId;
use rustc_hash::FxHashMap;

/// Name of the idle threads, which the kernel never tells: they have pid and tid 0.
pub(crate) const IDLE: &[u8] = b"swapper";

/// All thread names of a recording.
#[derive(Clone, Debug, Default)]
pub(crate) struct Comms {
    names: Arena<CommId, Box<[u8]>>,
    ids: FxHashMap<Box<[u8]>, CommId>,
}

impl Comms {
    /// The id of a name.
    pub(crate) fn intern(&mut self, name: &[u8]) -> CommId {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    /// The name perf gives a thread that nothing named: a colon and its tid, as a signed number.
    pub(crate) fn unnamed(&mut self, tid: u32) -> CommId {
        self.intern(format!(":{}", tid.cast_signed()).as_bytes())
    }

    pub(crate) fn name(&self, id: CommId) -> &[u8] {
        self.names.get(id).map_or(&[], |name| name)
    }

    pub(crate) fn names(&self) -> &[Box<[u8]>] {
        self.names.as_slice()
    }
}
