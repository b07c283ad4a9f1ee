//! PERF_RECORD_BPF_METADATA (84): what a BPF program says of itself. Since perf 6.17.

use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step};

/// A BPF program's variables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BpfMetadata<'a> {
    /// Name of the program, 512 bytes NUL-padded.
    pub prog_name: &'a [u8],
    /// Its variables.
    pub entries: List<'a, BpfVariable>,
}

/// One variable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BpfVariable {
    /// Its name, NUL-padded.
    pub key: [u8; 64],
    /// Its value as text, NUL-padded.
    pub value: [u8; 256],
}

impl Default for BpfVariable {
    fn default() -> Self {
        BpfVariable { key: [0; 64], value: [0; 256] }
    }
}

impl Element for BpfVariable {}

impl<'a> Fields<'a> for BpfVariable {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.name("key", &mut self.key)?;
        pass.name("value", &mut self.value)
    }
}

impl<'a> Fields<'a> for BpfMetadata<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.bytes("prog_name", 512, &mut self.prog_name)?;
        let nr = pass.count_u64("nr_entries", self.entries.len())?;
        pass.list("entries", nr, &mut self.entries)
    }
}
