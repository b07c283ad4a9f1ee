//! COMPRESSED (27): how the COMPRESSED records of the file were made.

use crate::wire::pass::{Field, Fields, Pass, Step};
use crate::wire::value::numbers;

numbers! {
    /// A method of compression.
    pub struct CompressionType(u32) {
        1 ZSTD "zstd",
    }
}

/// How records were compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression {
    /// Form of the section; 1 so far.
    pub version: u32,
    /// The method.
    pub kind: CompressionType,
    /// Level of compression.
    pub level: u32,
    /// How many times smaller the records became, rounded.
    pub ratio: u32,
    /// Bytes of a ring buffer: no record expands to more.
    pub mmap_len: u32,
}

impl<'a> Fields<'a> for Compression {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("version", &mut self.version)?;
        self.kind.field("type", pass)?;
        pass.u32("level", &mut self.level)?;
        pass.u32("ratio", &mut self.ratio)?;
        pass.u32("mmap_len", &mut self.mmap_len)
    }
}
