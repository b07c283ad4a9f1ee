//! TOTAL_MEM (10): how much memory the machine had.

use crate::wire::declare::fields;

fields! {
    /// Memory.
    #[derive(Copy)]
    pub struct TotalMem {
        /// In KiB.
        kib: u64,
    }
}

impl From<TotalMem> for u64 {
    fn from(memory: TotalMem) -> Self {
        memory.kib
    }
}
