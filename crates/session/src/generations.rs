//! Code that a process generated and put where other code of it was before.

use crate::binary::BinaryKind;
use crate::ids::{BinaryId, ProcessId};
use crate::naming::generated;
use crate::session::Session;
use crate::space::Mapping;

/// Most mappings of code that are laid over memory once more because a record tells of that memory again.
const MOST_RELAID: usize = 1 << 24;

/// Code that came to a place where other code was before or will be later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewCode {
    /// The process that generated it.
    pub process: ProcessId,
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// Its number among those that share addresses with it, from 1, in order of time.
    pub generation: u32,
}

impl Session {
    /// From now on this code is where it is. As with a record, all before it in time has to be applied already, and look-ups
    /// of addresses that were made before have to be done.
    pub fn put_code(&mut self, code: &NewCode) {
        let NewCode { process, start, end, generation } = *code;
        let Some(pid) = self.processes.get(process).map(|process| process.pid) else { return };
        let binary = self.binaries.intern(generated(pid, generation), &self.build_ids);
        self.last.mapping = None;
        if let Some(process) = self.processes.get_mut(process) {
            process.space.insert(Mapping { start, end, bias: 0, binary, data: false });
            process.space.has_generations = true;
            process.space.stamp(self.versions.next());
        }
    }

    /// What lies above a new mapping: a runtime changes the protection of its memory each time it writes code, which is told
    /// like a mapping of all of that memory, but the code in it stays.
    pub(crate) fn generations_above(
        &mut self,
        process: ProcessId,
        binary: BinaryId,
        start: u64,
        end: u64,
    ) -> Vec<Mapping> {
        let Some(process) = self.processes.get(process).filter(|process| process.space.has_generations)
        else {
            return Vec::new();
        };
        let pid_of = |binary: BinaryId| match self.binaries.get(binary)?.kind {
            BinaryKind::Jit { pid, generation } => Some((pid, generation)),
            _ => None,
        };
        let Some((pid, _)) = pid_of(binary).filter(|_| self.relaid < MOST_RELAID) else { return Vec::new() };
        let mut inside = process.space.within(start, end);
        self.relaid += inside.len();
        inside.retain(|mapping| {
            pid_of(mapping.binary).is_some_and(|(of, generation)| of == pid && generation > 0)
        });
        inside
    }
}
