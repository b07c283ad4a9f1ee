//! Names of the kernel addresses that the texts of tracepoints show, each learned once.

use super::{SampleLine, Script};
use perffile::Schema;
use perffile::tracepoint::{SymbolName, SymbolNames};
use rustc_hash::FxHashMap;

/// The names, by address; `None` of an address that has none.
#[derive(Clone, Debug, Default)]
pub(super) struct PayloadNames {
    by_address: FxHashMap<u64, Option<(Box<str>, u64)>>,
}

impl SymbolNames for PayloadNames {
    fn symbol(&self, address: u64) -> Option<SymbolName<'_>> {
        let (name, offset) = self.by_address.get(&address)?.as_ref()?;
        Some(SymbolName { name, offset: *offset })
    }
}

impl Script {
    /// Whether the texts of tracepoints show kernel addresses as symbols; then [`Script::unnamed_symbols`] has to be asked.
    pub fn shows_symbols_in_payloads(&self) -> bool {
        !self.symbol_events.is_empty()
    }

    /// The addresses that the text of a sample shows as symbols and that have not been told yet, with
    /// [`Script::learn_symbol`].
    pub fn unnamed_symbols(&self, line: &SampleLine<'_, '_>) -> Vec<u64> {
        let id = line.shares.iter().find_map(|share| self.columns(share.event)?.tracepoint);
        let raw = || line.moment.sample.decode().ok()?.0.raw;
        let shows = id.filter(|id| self.symbol_events.contains(id));
        let Some((id, raw)) = shows.and_then(|id| Some((id, raw()?))) else { return Vec::new() };
        let mut asked = self.catalog.symbol_addresses(id, raw);
        asked.retain(|address| !self.symbols.by_address.contains_key(address));
        asked
    }

    /// Takes the name of a kernel address, and how far behind the start of the symbol it is in bytes.
    pub fn learn_symbol(&mut self, address: u64, name: Option<(&str, u64)>) {
        self.symbols.by_address.insert(address, name.map(|(name, offset)| (name.into(), offset)));
    }

    /// Finds out which of the events show symbols.
    pub(super) fn learn_symbol_events(&mut self, schema: &Schema) {
        let ids = schema.events().iter().map(|event| event.attr.config);
        let shows = |id: &u64| {
            let print = self.catalog.tracepoint(*id).and_then(|tracepoint| tracepoint.print.as_ref().ok());
            print.is_some_and(perffile::tracepoint::PrintFmt::shows_symbols)
        };
        self.symbol_events = ids.filter(shows).collect();
    }
}
