//! The instructions that samples were taken at, from the binaries.

use crate::subjects::subject_with_file;
use readperf_session::{BinaryId, CodeAddress, Session};
use readperf_symbols::{Code, Options};
use rustc_hash::FxHashMap;

/// Looks instructions up, and keeps the binaries that it has opened.
#[derive(Debug)]
pub struct Instructions {
    options: Options,
    code: FxHashMap<BinaryId, Option<Code>>,
}

impl Instructions {
    /// One that looks for binaries as these options say.
    pub fn new(options: Options) -> Instructions {
        Instructions { options, code: FxHashMap::default() }
    }

    /// The bytes of the instruction at an address; none where the code cannot be read, and of kernels.
    pub fn at(&mut self, session: &Session, address: &CodeAddress) -> &[u8] {
        let code = self.code(session, address);
        code.and_then(|code| code.instruction(address.address)).unwrap_or_default()
    }

    /// The binary that an address is in, if its code can be read.
    pub(crate) fn code(&mut self, session: &Session, address: &CodeAddress) -> Option<&Code> {
        let id = address.binary?;
        let options = &self.options;
        let open = || Code::open(&subject_with_file(session.binary(id)?)?, options);
        self.code.entry(id).or_insert_with(open).as_ref()
    }
}
