//! The ids of what is in a recording: of what each is made, so that it is the same in all recordings.

use super::Made;
use crate::id::{Id, Key};
use readperf_profile::{AddressId, Profile, StackId};
use readperf_session::{Binary, Session};

impl Made {
    /// A frame is where it is and what is known of it: so rows of one id are the same in all recordings, whatever symbols each was
    /// read with.
    pub(super) fn make_frame_id(&self, address: AddressId) -> Id {
        let mut key = Key::new("frame");
        let code = self.profile().addresses().get(address);
        let binary = code.and_then(|code| code.binary).and_then(|binary| self.binary_ids.get(binary.index()));
        key.id(binary.copied());
        key.number(code.map(|code| code.address));
        key.number(Some(self.kind(address) as u64));
        for level in self.profile().levels_at(address) {
            key.id(self.function_ids.get(level.function.index()).copied());
            let file = level.file.and_then(|file| self.profile().names().file(file));
            key.text(file.map(str::as_bytes));
            key.number((level.line > 0).then_some(u64::from(level.line)));
        }
        key.end()
    }

    /// Ids of stacks, from the root on: each is that of its caller's stack and its frame.
    pub(super) fn number_stacks(&mut self) {
        let mut key = Key::default();
        let mut id = |caller: Option<Id>, frame: Option<&Id>| {
            key.begin("stack");
            key.id(caller);
            key.id(frame.copied());
            key.end()
        };
        let mut node_ids: Vec<Id> = Vec::with_capacity(self.profile().stacks().nodes().len());
        for node in self.profile().stacks().nodes() {
            let caller = node.parent.index().and_then(|caller| node_ids.get(caller)).copied();
            node_ids.push(id(caller, self.frame_ids.get(node.address.index())));
        }
        if self.profile().rows().iter().any(|row| row.stack == StackId::EMPTY) {
            self.lone_ids = self.frame_ids.iter().map(|frame| id(None, Some(frame))).collect();
        }
        self.node_ids = node_ids;
    }
}

/// A binary is its name and its build-id: where a kernel or a module was loaded is another matter in every recording.
pub(super) fn binary_id(binary: &Binary) -> Id {
    let mut key = Key::new("binary");
    key.text(Some(&binary.name));
    key.text(binary.build_id.as_deref());
    key.end()
}

/// A function is its names in its binary, and without a name its address.
pub(super) fn function_ids(profile: &Profile, binary_ids: &[Id]) -> Vec<Id> {
    let mut key = Key::default();
    let id = |function: readperf_profile::Function<'_>| {
        key.begin("function");
        key.id(function.binary.and_then(|binary| binary_ids.get(binary.index())).copied());
        key.text(function.name().map(str::as_bytes));
        key.text(function.linkage_name().map(str::as_bytes));
        key.number((!function.has_name()).then_some(function.address));
        key.end()
    };
    profile.names().functions().map(id).collect()
}

/// Threads are those of one recording.
pub(super) fn thread_ids(profile_id: Id, session: &Session) -> Vec<Id> {
    let mut key = Key::default();
    let id = |(nr, thread): (u64, &readperf_session::Thread)| {
        key.begin("thread");
        key.id(Some(profile_id));
        key.number(Some(nr));
        key.number(Some(u64::from(thread.tid)));
        key.end()
    };
    (0..).zip(session.threads()).map(id).collect()
}
