//! PERF_RECORD_TEXT_POKE (20): kernel code was changed at run time. Since Linux 5.9.

use crate::wire::pass::{Fields, Pass, Step};

/// Code before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextPoke<'a> {
    /// First address.
    pub addr: u64,
    /// The code before; empty where there was none.
    pub old: &'a [u8],
    /// The code after; empty where there is none.
    pub new: &'a [u8],
    /// What pads the record to eight bytes.
    pub padding: &'a [u8],
}

impl<'a> Fields<'a> for TextPoke<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.addr("addr", &mut self.addr)?;
        let old = pass.count_u16("old_len", self.old.len())?;
        let new = pass.count_u16("new_len", self.new.len())?;
        pass.bytes("old_bytes", old, &mut self.old)?;
        pass.bytes("new_bytes", new, &mut self.new)?;
        pass.rest("padding", &mut self.padding)
    }
}
