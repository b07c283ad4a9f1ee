//! Code that the recording itself has.

use std::collections::BTreeMap;
use std::sync::Arc;

use readperf_code::{Content, Machine};

use super::NoCode;
use super::function::{Extent, FunctionCode, Space};

/// Pieces of code that the caller has, because the recording brought them: by the address that they ran at. It is the code of a
/// [`Subject::Listed`](crate::Subject::Listed) at these addresses. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct RecordedCode(Option<Arc<Pieces>>);

#[derive(Debug)]
struct Pieces {
    machine: Machine,
    by_start: BTreeMap<u64, Arc<[u8]>>,
}

impl RecordedCode {
    /// Code of a machine; each piece is a function.
    pub fn new(machine: Machine, pieces: impl IntoIterator<Item = (u64, Vec<u8>)>) -> RecordedCode {
        let pieces = pieces.into_iter().filter(|(_, bytes)| !bytes.is_empty());
        let by_start = pieces.map(|(start, bytes)| (start, bytes.into())).collect();
        RecordedCode(Some(Arc::new(Pieces { machine, by_start })))
    }

    pub(crate) fn function(&self, address: u64) -> Result<FunctionCode, NoCode> {
        let Pieces { machine, by_start } = self.0.as_deref().ok_or(NoCode::NotDumped)?;
        let (start, bytes) = by_start.range(..=address).next_back().ok_or(NoCode::NotDumped)?;
        if address.wrapping_sub(*start) >= bytes.len() as u64 {
            return Err(NoCode::NotDumped);
        }
        Ok(FunctionCode {
            machine: *machine,
            start: *start,
            linked: *start,
            extent: Extent::Symbol,
            is_linked: true,
            bytes: Arc::clone(bytes),
            parts: vec![(0, Content::Code)],
            space: Space::Same,
        })
    }
}
