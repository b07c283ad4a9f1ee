//! Addresses of instructions as the linker gave them: the ones that disassemblers and debuggers show.

use crate::subjects::subject_with_file;
use readperf_profile::{AddressId, Addresses, FunctionId, Names};
use readperf_session::{BinaryId, Session};
use readperf_symbols::{Code, Layout, Options};
use rustc_hash::FxHashMap;

/// Where the linker put the code at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkedAddress {
    /// The address of the instruction: the place of a caller lies within its call.
    pub instruction: u64,
    /// What addresses of the linker are more than those of the binary's places; wrapping.
    pub bias: u64,
}

/// The addresses of the instructions at all places, by number: the place of a caller lies within its call. Without the file of a
/// binary they are offsets in it; of the kernel and of generated code, and without a binary, addresses in memory.
pub(crate) fn linked_addresses(
    addresses: &Addresses,
    names: &Names,
    session: &Session,
    options: &Options,
) -> Vec<LinkedAddress> {
    let mut binaries: FxHashMap<BinaryId, Option<Binary>> = FxHashMap::default();
    let open = |id: BinaryId| {
        let subject = subject_with_file(session.binary(id)?)?;
        let layout = Layout::open(&subject, options)?;
        Some(Binary { layout, code: Code::open(&subject, options), starts: FxHashMap::default() })
    };
    let linked = addresses.ids().map(|id| {
        let Some(code) = addresses.get(id) else { return LinkedAddress { instruction: 0, bias: 0 } };
        let binary = code.binary.and_then(|id| binaries.entry(id).or_insert_with(|| open(id)).as_mut());
        let linked = binary.and_then(|binary| {
            let offset = binary.instruction(names, id, code.address).unwrap_or(code.address);
            let bias = binary.layout.address(code.address)?.wrapping_sub(code.address);
            Some(LinkedAddress { instruction: offset.wrapping_add(bias), bias })
        });
        linked.unwrap_or(LinkedAddress { instruction: code.address, bias: 0 })
    });
    linked.collect()
}

/// A binary whose file is there.
struct Binary {
    layout: Layout,
    /// For x86 only.
    code: Option<Code>,
    /// Where the instructions of functions begin, as far as they have been asked for.
    starts: FxHashMap<FunctionId, Vec<u64>>,
}

impl Binary {
    /// The offset of the instruction that another offset lies in. Instructions of x86 can only be told from the start of their
    /// function on.
    fn instruction(&mut self, names: &Names, id: AddressId, offset: u64) -> Option<u64> {
        let length = self.layout.instruction_length();
        if let Some(length) = length {
            return Some(offset - offset % length);
        }
        let code = self.code.as_ref()?;
        let function = names.function_at(id)?;
        let known = names.function(function).filter(|known| known.has_name())?;
        let starts = self
            .starts
            .entry(function)
            .or_insert_with(|| code.starts(known.address..known.address.saturating_add(known.size())));
        let behind = starts.partition_point(|start| *start <= offset);
        starts.get(behind.checked_sub(1)?).copied()
    }
}
