//! Which kernel addresses the texts of tracepoints show, and what they are called.

use super::Script;
use perffile::Schema;
use readperf_analysis::pass;

impl Script {
    /// Whether the texts of tracepoints show kernel addresses as symbols; then [`Script::unnamed_symbols`] has to be asked.
    pub fn shows_symbols_in_payloads(&self) -> bool {
        !self.symbol_events.is_empty()
    }

    /// The addresses that the text of a sample shows as symbols and that have not been told yet, with
    /// [`Script::learn_symbol`].
    pub fn unnamed_symbols(&self, line: &pass::Sample<'_, '_>) -> Vec<u64> {
        let id = line.shares.iter().find_map(|share| self.columns(share.event)?.tracepoint);
        let raw = || line.moment.sample.decode().ok()?.0.raw;
        let shows = id.filter(|id| self.symbol_events.contains(id));
        let Some((id, raw)) = shows.and_then(|id| Some((id, raw()?))) else { return Vec::new() };
        let mut asked = self.catalog.symbol_addresses(id, raw);
        asked.retain(|address| !self.symbols.has_learned(*address));
        asked
    }

    /// Takes the name of a kernel address, and how far behind the start of the symbol it is in bytes.
    pub fn learn_symbol(&mut self, address: u64, name: Option<(&str, u64)>) {
        self.symbols.learn(address, name);
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
