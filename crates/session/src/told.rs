//! Sessions of which only names are known: those of samples that come from elsewhere than a recording, as from tables.

use crate::binary::Binary;
use crate::ids::{BinaryId, CommId};
use crate::session::Session;

impl Session {
    /// The id of a thread name.
    pub fn add_comm(&mut self, name: &[u8]) -> CommId {
        self.comms.intern(name)
    }

    /// The id of a binary; the same one for the same name and build-id, of kernel code and generated code also the same place.
    pub fn add_binary(&mut self, binary: Binary) -> BinaryId {
        self.binaries.intern(binary, &self.build_ids)
    }
}
