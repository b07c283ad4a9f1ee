//! Names of the kernel and its modules out of a kernel symbol list.

use std::path::PathBuf;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Found, FunctionName, Provides, Symbol, SymbolBatch};
use crate::ids::SymbolId;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::Names;
use crate::source::kallsyms::{Kallsyms, same_module};
use crate::subject::AddressBatch;
use crate::table::Entry;

/// Code is put into memory in pages.
const PAGE_BYTES: u64 = 4096;

/// The first function of a module with a name is not further from its beginning.
const NEAR_BYTES: u64 = 16 * PAGE_BYTES;

/// A symbol list, and where in it the subject is.
#[derive(Debug)]
pub(super) struct Located {
    path: PathBuf,
    list: Arc<Kallsyms>,
    /// What to add to a recorded address to get the address in the list; wraps around.
    shift: u64,
    /// Only symbols of this module count.
    module: Option<String>,
}

impl Located {
    /// The kernel proper. `reference` tells where it was when recording.
    pub(super) fn kernel(
        (path, list): (PathBuf, Arc<Kallsyms>),
        reference: Option<&(String, u64)>,
    ) -> Result<Located, Reason> {
        let shift = match reference {
            // The recorder writes 0 if the kernel hid the address from it.
            Some((symbol, recorded)) if *recorded != 0 => {
                let missing = || Reason::ReferenceMissing { symbol: symbol.clone() };
                list.address_of(symbol).ok_or_else(missing)?.wrapping_sub(*recorded)
            }
            _ => 0,
        };
        Ok(Located { path, list, shift, module: None })
    }

    /// A module. `recorded` is where it was when recording, `listed` where it was when the list was made, if known.
    pub(super) fn module(
        (path, list): (PathBuf, Arc<Kallsyms>),
        module: &str,
        recorded: Option<u64>,
        listed: Option<u64>,
    ) -> Result<Located, Reason> {
        let not_listed = || Reason::ModuleNotListed { module: module.to_owned() };
        let first = list.code_of_module(module).ok_or_else(not_listed)?;
        let shift = recorded.map_or(0, |recorded| match listed {
            Some(listed) => listed.wrapping_sub(recorded),
            // The code of a module is at the beginning of its memory, and that is at the beginning of a page.
            None if first.wrapping_sub(recorded) < NEAR_BYTES => 0,
            None => (first & !(PAGE_BYTES - 1)).wrapping_sub(recorded),
        });
        Ok(Located { path, list, shift, module: Some(module.to_owned()) })
    }

    fn find(&self, address: u64) -> Option<&Entry> {
        let entry = self.list.find(address.wrapping_add(self.shift))?;
        match &self.module {
            Some(wanted) => {
                self.list.module(entry).is_some_and(|name| same_module(&name, wanted)).then_some(entry)
            }
            None => Some(entry),
        }
    }
}

impl Names for Located {
    fn name(&self, _: &Options, batch: &AddressBatch) -> SymbolBatch {
        let mut builder = BatchBuilder::new(batch);
        builder.found.push(Found { path: self.path.clone(), provides: Provides::KernelSymbols });
        let mut numbers: FxHashMap<u64, SymbolId> = FxHashMap::default();
        for address in &batch.addresses {
            let Some(entry) = self.find(*address) else {
                builder.push_reason(&Reason::NoSymbolCovers);
                continue;
            };
            let number = *numbers.entry(entry.start).or_insert_with(|| {
                builder.symbols.push(Symbol {
                    name: FunctionName::plain(self.list.name(entry).into_owned()),
                    start: entry.start.wrapping_sub(self.shift),
                    end: entry.end.wrapping_sub(self.shift),
                    binding: entry.binding,
                    source_file: None,
                });
                SymbolId::new(builder.symbols.len().saturating_sub(1))
            });
            builder.push_symbol(number);
        }
        builder.finish(batch.clone())
    }
}
