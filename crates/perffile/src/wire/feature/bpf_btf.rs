//! BPF_BTF (26): type information of the BPF programs.

use crate::wire::declare::fields;
use crate::wire::pass::{Fields, Pass, Step};

fields! {
    /// All of it.
    pub struct BpfBtf<'a> {
        /// One entry a BTF object.
        btfs: Vec<Btf<'a>> as vec counted u32 "count",
    }
}

/// A BTF object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Btf<'a> {
    /// Its id.
    pub id: u32,
    /// Its bytes; they tell their own byte order by their magic.
    pub data: &'a [u8],
}

impl<'a> Fields<'a> for Btf<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("id", &mut self.id)?;
        let size = pass.count_u32("data_size", self.data.len())?;
        pass.bytes("data", size, &mut self.data)
    }
}
