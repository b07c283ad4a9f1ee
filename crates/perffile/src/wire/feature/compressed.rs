//! COMPRESSED (27): how the COMPRESSED records of the file were made.

use crate::wire::pass::{Fields, Pass, Step};

/// How records were compressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compression {
    /// Form of the section; 1 so far.
    pub version: u32,
    /// 1 zstd.
    pub kind: u32,
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
        pass.u32("type", &mut self.kind)?;
        pass.u32("level", &mut self.level)?;
        pass.u32("ratio", &mut self.ratio)?;
        pass.u32("mmap_len", &mut self.mmap_len)
    }
}
