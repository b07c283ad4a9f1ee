//! Names of the kernel and its modules out of a kernel symbol list.

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Found, Provides, Symbol, SymbolBatch};
use crate::file_loader::FileLoader;
use crate::function_name::FunctionName;
use crate::ids::SymbolId;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::Names;
use crate::source::kallsyms::{Kallsyms, Lists, same_module};
use crate::subject::{AddressBatch, Subject};
use crate::table::{Entry, Table};
use crate::uses::{Role, UsedFile};

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

    /// Notes that the list was used. Those of guests are not kept apart.
    fn note(&self, options: &Options, subject: &Subject) {
        let build_id = match subject {
            Subject::Kernel { build_id, .. } => build_id.or(options.kernel_build_id),
            Subject::KernelModule { .. } => options.kernel_build_id,
            _ => return,
        };
        options.file_loader.note_use(|| UsedFile {
            role: Role::KernelList,
            recorded: PathBuf::from("[kernel.kallsyms]"),
            build_id,
            path: self.path.clone(),
            bytes: Arc::clone(self.list.bytes()),
        });
    }

    /// The symbols that cover these addresses, by the addresses in the list.
    fn covering(&self, addresses: &[u64]) -> Cow<'_, Table> {
        let mut listed: Vec<u64> = addresses.iter().map(|address| address.wrapping_add(self.shift)).collect();
        listed.sort_unstable();
        self.list.covering(&listed)
    }

    fn find<'t>(&self, table: &'t Table, address: u64) -> Option<&'t Entry> {
        let entry = table.find(address.wrapping_add(self.shift))?;
        match &self.module {
            Some(wanted) => {
                self.list.module(entry).is_some_and(|name| same_module(&name, wanted)).then_some(entry)
            }
            None => Some(entry),
        }
    }
}

/// The list of the running kernel, and a copy of it that a recorder made: to read that takes a tenth of the time that the kernel takes to
/// print its own. What is not of the kernel proper, as modules and BPF programs, may have changed since: then the kernel prints its list.
#[derive(Debug)]
pub(super) struct WithCopy {
    copy: Located,
    /// Where the code of the kernel proper was when recording.
    kernel: Range<u64>,
    running: PathBuf,
    lists: Arc<Lists>,
    loader: FileLoader,
    reference: (String, u64),
}

impl WithCopy {
    /// `None` where the copy does not tell enough. Without a reference it may be of another boot, when the kernel was elsewhere.
    pub(super) fn new(
        (copy, running): (PathBuf, &Path),
        (lists, loader): (&Arc<Lists>, &FileLoader),
        reference: Option<&(String, u64)>,
    ) -> Option<WithCopy> {
        let reference = reference.filter(|(_, recorded)| *recorded != 0)?.clone();
        let list = lists.at(&copy, loader).ok()?;
        let listed = list.kernel_code()?;
        let copy = Located::kernel((copy, list), Some(&reference)).ok()?;
        let recorded = |address: u64| address.wrapping_sub(copy.shift);
        let kernel = recorded(listed.start)..recorded(listed.end);
        let (running, lists, loader) = (running.to_owned(), Arc::clone(lists), loader.clone());
        Some(WithCopy { copy, kernel, running, lists, loader, reference })
    }

    fn of_running(&self) -> Result<Located, Reason> {
        let list = self.lists.at(&self.running, &self.loader)?;
        Located::kernel((self.running.clone(), list), Some(&self.reference))
    }
}

impl Names for WithCopy {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        let is_within = |address: &u64| self.kernel.contains(address);
        let running = (!batch.addresses.iter().all(is_within)).then(|| self.of_running().ok());
        running.flatten().as_ref().unwrap_or(&self.copy).name(options, batch)
    }
}

impl Names for Located {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        self.note(options, &batch.subject);
        let mut builder = BatchBuilder::new(batch);
        builder.found.push(Found { path: self.path.clone(), provides: Provides::KernelSymbols });
        let table = self.covering(&batch.addresses);
        let mut numbers: FxHashMap<u64, SymbolId> = FxHashMap::default();
        for address in &batch.addresses {
            let Some(entry) = self.find(&table, *address) else {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::Subject;

    fn list(text_start: u64, module: &str, name: &str) -> String {
        let line = |offset: u64, name: &str| format!("{:016x} T {name}\n", text_start + offset);
        let core = [line(0, "_text"), line(0x100, name), line(0x1000, "_etext"), line(0x3000, "_einittext")];
        format!("{}{:016x} t of_module\t[{module}]\n", core.concat(), text_start + 0x10_0000)
    }

    /// The copy is of another boot, when the kernel was elsewhere. The names tell which list they are from.
    #[test]
    fn a_copy_names_the_kernel_proper_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        const COPIED: u64 = 0xffff_ffff_9000_0000;
        const NOW: u64 = 0xffff_ffff_8100_0000;
        let copy = write("copy", &list(COPIED, "old", "copied"));
        let running = write("running", &list(NOW, "new", "printed"));
        let (lists, loader) = (Arc::new(Lists::default()), FileLoader::default());
        let reference = ("_text".to_owned(), NOW);
        let new = |copy: &Path, reference: Option<&(String, u64)>| {
            WithCopy::new((copy.to_owned(), &running), (&lists, &loader), reference)
        };
        let names = new(&copy, Some(&reference)).unwrap();
        let named = |offsets: &[u64]| {
            let addresses = offsets.iter().map(|offset| NOW + offset).collect();
            let subject = Subject::Kernel { build_id: None, reference: None };
            let answer = names.name(&Options::default(), &AddressBatch::new(subject, addresses));
            let found = answer.found.iter().map(|found| found.path.clone()).collect::<Vec<_>>();
            let symbols =
                answer.symbols.into_iter().map(|symbol| (symbol.name.shown().to_owned(), symbol.start - NOW));
            (found, symbols.collect::<Vec<_>>())
        };
        let pair = |name: &str, start: u64| (name.to_owned(), start);
        assert_eq!(
            named(&[0x10, 0x123]),
            (vec![copy.clone()], vec![pair("_text", 0), pair("copied", 0x100)])
        );
        assert_eq!(named(&[0x2fff]).1, [pair("_etext", 0x1000)]);
        // What is beyond may have changed: all is asked of the kernel.
        assert_eq!(
            named(&[0x123, 0x10_0010]),
            (vec![running.clone()], vec![pair("printed", 0x100), pair("of_module", 0x10_0000)])
        );
        // Where the kernel was is not known: the copy may be of another boot.
        assert!(new(&copy, None).is_none() && new(&copy, Some(&("_text".to_owned(), 0))).is_none());
        assert!(new(&copy, Some(&("missing".to_owned(), NOW))).is_none());
        // Who may not see addresses copies none.
        let hidden: String =
            list(0, "m", "f").lines().map(|line| format!("{}{}\n", "0".repeat(16), &line[16..])).collect();
        assert!(new(&write("hidden", &hidden), Some(&reference)).is_none());
    }
}
