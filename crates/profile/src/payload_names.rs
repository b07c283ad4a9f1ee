//! Names of the kernel addresses that the texts of tracepoints show, each learned once.

use perffile::tracepoint::{SymbolName, SymbolNames};
use rustc_hash::FxHashMap;

/// The names, by address.
#[derive(Clone, Debug, Default)]
pub struct PayloadNames {
    /// `None` of an address that has none.
    by_address: FxHashMap<u64, Option<(Box<str>, u64)>>,
}

impl PayloadNames {
    /// Takes the name of an address, and how far behind the start of the symbol it is in bytes; `None` if it has none.
    pub fn learn(&mut self, address: u64, name: Option<(&str, u64)>) {
        self.by_address.insert(address, name.map(|(name, offset)| (name.into(), offset)));
    }

    /// Whether an address has been told, with a name or without.
    pub fn has_learned(&self, address: u64) -> bool {
        self.by_address.contains_key(&address)
    }
}

impl SymbolNames for PayloadNames {
    fn symbol(&self, address: u64) -> Option<SymbolName<'_>> {
        let (name, offset) = self.by_address.get(&address)?.as_ref()?;
        Some(SymbolName { name, offset: *offset })
    }
}
