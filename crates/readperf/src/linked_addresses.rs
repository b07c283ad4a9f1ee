//! Addresses of code as the linker gave them: the ones that disassemblers and debuggers show.

use crate::naming::subject_with_file;
use readperf_profile::Addresses;
use readperf_session::{BinaryId, Session};
use readperf_symbols::{Layout, Options};
use rustc_hash::FxHashMap;

/// The addresses of all places, by number. Without the file of a binary they are offsets in it; of the kernel and of generated
/// code, and without a binary, addresses in memory.
pub(crate) fn linked_addresses(addresses: &Addresses, session: &Session, options: &Options) -> Vec<u64> {
    let mut layouts: FxHashMap<BinaryId, Option<Layout>> = FxHashMap::default();
    let open = |id: BinaryId| Layout::open(&subject_with_file(session.binary(id)?)?, options);
    let linked = addresses.as_slice().iter().map(|code| {
        let layout = code.binary.and_then(|id| layouts.entry(id).or_insert_with(|| open(id)).as_ref());
        layout.and_then(|layout| layout.address(code.address)).unwrap_or(code.address)
    });
    linked.collect()
}
