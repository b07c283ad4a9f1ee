//! Generated code that took the place of other generated code.

use crate::binary::BinaryKind;
use crate::ids::ProcessId;
use crate::naming::generated;
use crate::session::Session;
use crate::space::Mapping;

/// Most mappings of code that are looked through, and may be laid over memory once more, because records tell of that memory
/// again. Behind that memory that is told of hides what was in it.
const MOST_RELAID: usize = 1 << 24;

/// Generated code at addresses that other code had before or has later.
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
        if let Some(process) = self.processes.get_mut(process) {
            process.space.insert(Mapping { start, end, bias: 0, binary, data: false });
            process.space.has_generations = true;
            process.space.stamp(self.versions.next());
        }
    }

    /// What of a new mapping changes: a runtime changes the protection of its memory each time it writes code, which is told
    /// like a mapping of all of that memory, but the code in it stays. (Of memory that can be written to, and not executed, only
    /// recordings with data mappings tell; those with recorded stacks have these.) `None` if nothing changes, else the code that
    /// lies above.
    pub(crate) fn code_above(&mut self, process: ProcessId, new: &Mapping) -> Option<Vec<Mapping>> {
        let process = self.processes.get(process).filter(|process| process.space.has_generations);
        let Some(process) = process.filter(|_| self.relaid < MOST_RELAID) else { return Some(Vec::new()) };
        let kind = |mapping: &Mapping| self.binaries.get(mapping.binary).map(|binary| &binary.kind);
        let generated = |mapping: &Mapping| match kind(mapping)? {
            BinaryKind::Jit { pid, generation } => Some((*pid, *generation)),
            _ => None,
        };
        let pid = match kind(new) {
            Some(BinaryKind::Jit { pid, .. }) => *pid,
            Some(BinaryKind::Anon) => process.pid,
            _ => return Some(Vec::new()),
        };
        let mut inside = process.space.within(new.start, new.end);
        self.relaid += inside.len();
        let mut covered = new.start;
        let is_there = inside.iter().all(|mapping| {
            let is_next = mapping.start == covered;
            covered = mapping.end;
            is_next && generated(mapping).is_some_and(|(of, _)| of == pid)
        });
        if is_there && covered == new.end {
            return None;
        }
        inside
            .retain(|mapping| generated(mapping).is_some_and(|(of, generation)| of == pid && generation > 0));
        Some(inside)
    }
}
