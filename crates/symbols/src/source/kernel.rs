//! The kernel and its modules, from a kernel symbol list.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Found, Provides, Symbol, SymbolBatch, SymbolId, next_number};
use crate::build_id::BuildId;
use crate::find::kernel_symbol_lists;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::kallsyms::{Kallsyms, same_module};
use crate::source::table::Entry;
use crate::source::{Names, Shared, running_kernel};
use crate::subject::{AddressBatch, Subject};

const RUNNING: &str = "/proc/kallsyms";

pub(crate) fn open<'f>(
    shared: &Shared<'f>,
    subject: &Subject,
) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let located = match subject {
        Subject::Kernel { build_id, reference } => kernel(shared, *build_id, reference.as_ref()),
        Subject::KernelModule { name, build_id, start } => {
            module(shared, &module_name(name), *build_id, *start)
        }
        _ => return None,
    };
    Some(located.map(|located| Box::new(located) as Box<dyn Names + 'f>))
}

/// A symbol list, and where in it the subject is.
#[derive(Debug)]
struct Located {
    path: PathBuf,
    list: Arc<Kallsyms>,
    /// What to add to a recorded address to get the address in the list; wraps around.
    shift: u64,
    /// Only symbols of this module count.
    module: Option<String>,
}

fn kernel(
    shared: &Shared<'_>,
    build_id: Option<BuildId>,
    reference: Option<&(String, u64)>,
) -> Result<Located, Reason> {
    let (path, list) = list_of_kernel(shared, build_id)?;
    let shift = match reference {
        // The recorder writes 0 if the kernel hid the address from it.
        Some((symbol, recorded)) if *recorded != 0 => {
            let now =
                list.address_of(symbol).ok_or_else(|| Reason::ReferenceMissing { symbol: symbol.clone() })?;
            now.wrapping_sub(*recorded)
        }
        _ => 0,
    };
    Ok(Located { path, list, shift, module: None })
}

fn list_of_kernel(
    shared: &Shared<'_>,
    build_id: Option<BuildId>,
) -> Result<(PathBuf, Arc<Kallsyms>), Reason> {
    let at = |path: &Path| shared.kernel_lists.at(path).map(|list| (path.to_owned(), list));
    if let Some(path) = &shared.options.kallsyms {
        return at(path);
    }
    let Some(recorded) = build_id else {
        return if shared.options.trust_running_kernel {
            at(Path::new(RUNNING))
        } else {
            Err(Reason::KernelUnknown)
        };
    };
    let running = running_kernel::build_id();
    let mut reason = Reason::KernelDiffers { recorded, running };
    if running.is_some_and(|running| running.matches(&recorded)) {
        match at(Path::new(RUNNING)) {
            Ok(found) => return Ok(found),
            Err(error) => reason = error,
        }
    }
    kernel_symbol_lists(&shared.options, &recorded).iter().find_map(|path| at(path).ok()).ok_or(reason)
}

fn module(
    shared: &Shared<'_>,
    name: &str,
    build_id: Option<BuildId>,
    start: Option<u64>,
) -> Result<Located, Reason> {
    let module = Some(name.to_owned());
    if let Some(path) = &shared.options.kallsyms {
        return Ok(Located { path: path.clone(), list: shared.kernel_lists.at(path)?, shift: 0, module });
    }
    let list = shared.kernel_lists.at(Path::new(RUNNING))?;
    if !list.has_module(name) {
        return Err(Reason::ModuleNotLoaded { module: name.to_owned() });
    }
    match build_id {
        Some(recorded) => {
            let running = running_kernel::module_build_id(name);
            if !running.is_some_and(|running| running.matches(&recorded)) {
                return Err(Reason::KernelDiffers { recorded, running });
            }
        }
        None if !shared.options.trust_running_kernel => return Err(Reason::KernelUnknown),
        None => {}
    }
    let shift = match (start, running_kernel::module_start(name)) {
        (Some(recorded), Some(now)) => now.wrapping_sub(recorded),
        _ => 0,
    };
    Ok(Located { path: PathBuf::from(RUNNING), list, shift, module })
}

/// The kernel's name of a module: `/lib/modules/6.1.0/kernel/fs/nf-x.ko.xz` and `[nf_x]` are `nf_x`.
fn module_name(name: &Path) -> String {
    let last = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = last.trim_start_matches('[').trim_end_matches(']');
    let plain = plain.split(".ko").next().unwrap_or(plain);
    plain.replace('-', "_")
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
                let name = self.list.name(entry).into_owned();
                builder.symbols.push(Symbol {
                    raw_name: name.clone(),
                    name,
                    start: entry.start.wrapping_sub(self.shift),
                    end: entry.end.wrapping_sub(self.shift),
                    binding: entry.binding,
                });
                SymbolId(next_number(builder.symbols.len().saturating_sub(1)))
            });
            builder.push_symbol(number);
        }
        builder.finish(batch.clone())
    }
}

impl Located {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules() {
        for name in ["/lib/modules/6.1.0/kernel/net/nf-nat.ko.xz", "[nf_nat]", "nf_nat", "/a/nf_nat.ko"] {
            assert_eq!(module_name(Path::new(name)), "nf_nat");
        }
    }
}
