//! Names that the caller brings, because the recording itself has them.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::batch::{BatchBuilder, Binding, FunctionName, Symbol, SymbolBatch};
use crate::demangle::demangle;
use crate::ids::{self, SymbolId};
use crate::options::Options;
use crate::reason::Reason;
use crate::source::name::as_name;
use crate::source::table::{Entry, Table};
use crate::source::{Names, Shared};
use crate::subject::{AddressBatch, Subject};

/// A symbol that the caller knows.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListedSymbol {
    /// Its first address, in the address space of the batch.
    pub start: u64,
    /// The address behind its last byte. If it is not behind `start`, the symbol reaches to the next one.
    pub end: u64,
    /// Its name, as the recorder or compiler wrote it: it is demangled when shown.
    pub name: String,
}

/// The symbols of a piece of code that no file has: what the kernel generated, what a compiler at run time wrote, what
/// a recorder put into the recording. Cheap to clone.
///
/// Where several start at one address the one given last counts; where they nest, the innermost.
#[derive(Clone)]
pub struct SymbolList(Arc<List>);

struct List {
    origin: PathBuf,
    /// Names by number; an `Entry` has the number of its name.
    names: Vec<String>,
    table: Table,
}

impl SymbolList {
    /// Makes a list. `origin` says where the names are from and is shown to people: the name of a program, the path
    /// of a list that was parsed.
    pub fn new(origin: impl Into<PathBuf>, symbols: impl IntoIterator<Item = ListedSymbol>) -> SymbolList {
        let (mut names, mut entries) = (Vec::new(), Vec::new());
        for ListedSymbol { start, end, name } in symbols {
            let number = ids::number(names.len());
            entries.push(Entry { start, end, name: number, binding: Binding::Global, is_label: false });
            names.push(name);
        }
        SymbolList(Arc::new(List { origin: origin.into(), names, table: Table::of_latest(entries) }))
    }

    /// Where the names are from.
    pub fn origin(&self) -> &Path {
        &self.0.origin
    }

    /// How many symbols can be found in it.
    pub fn len(&self) -> usize {
        self.0.table.len()
    }

    /// Whether it has no symbols.
    pub fn is_empty(&self) -> bool {
        self.0.table.is_empty()
    }

    fn name(&self, entry: &Entry) -> &str {
        let number = usize::try_from(entry.name).ok();
        number.and_then(|number| self.0.names.get(number)).map_or("", String::as_str)
    }

    fn symbols(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        self.0.table.entries().iter().map(|entry| (entry.start, entry.end, self.name(entry)))
    }
}

impl PartialEq for SymbolList {
    fn eq(&self, other: &SymbolList) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
            || self.origin() == other.origin() && self.symbols().eq(other.symbols())
    }
}

impl Eq for SymbolList {}

impl Hash for SymbolList {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Not the symbols, of which there may be many: lists of one origin rarely have the same length.
        self.0.origin.hash(state);
        self.len().hash(state);
    }
}

impl fmt::Debug for SymbolList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SymbolList").field("origin", &self.0.origin).field("len", &self.len()).finish()
    }
}

pub(crate) fn open<'f>(_: &Shared<'f>, subject: &Subject) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::Listed { symbols } = subject else { return None };
    Some(Ok(Box::new(symbols.clone())))
}

impl Names for SymbolList {
    fn name(&self, options: &Options, batch: &AddressBatch) -> SymbolBatch {
        let mut builder = BatchBuilder::new(batch);
        let mut numbers: FxHashMap<u64, SymbolId> = FxHashMap::default();
        for address in &batch.addresses {
            let Some(entry) = self.0.table.find(*address) else {
                builder.push_reason(&Reason::NoSymbolCovers);
                continue;
            };
            let number = *numbers.entry(entry.start).or_insert_with(|| {
                let raw_name = as_name(SymbolList::name(self, entry).as_bytes()).into_owned();
                builder.symbols.push(Symbol {
                    name: FunctionName::new(demangle(&raw_name, options.demangle).into_owned(), raw_name),
                    start: entry.start,
                    end: entry.end,
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
    use crate::{Demangle, resolve};

    fn symbol(start: u64, end: u64, name: &str) -> ListedSymbol {
        ListedSymbol { start, end, name: name.to_owned() }
    }

    fn names(list: &SymbolList, addresses: &[u64]) -> Vec<Option<String>> {
        let subject = Subject::Listed { symbols: list.clone() };
        let options = Options { demangle: Demangle::Simple, ..Options::default() };
        let answers = resolve(&options, vec![AddressBatch::new(subject, addresses.to_vec())]);
        (0..addresses.len()).map(|index| answers[0].name(index).map(str::to_owned)).collect()
    }

    #[test]
    fn the_last_one_given_and_the_innermost() {
        let list = SymbolList::new(
            "/tmp/perf-7.map",
            [
                symbol(0x40, 0x60, "old"),
                symbol(0x10, 0x80, "outer"),
                symbol(0x40, 0x50, "_ZN1a1bEv"),
                symbol(0x100, 0, "open end"),
                symbol(0x140, 0x141, "next"),
            ],
        );
        assert_eq!(list.len(), 4);
        let some = |name: &str| Some(name.to_owned());
        assert_eq!(
            names(&list, &[0xf, 0x10, 0x4f, 0x50, 0x80, 0x13f, 0x140, 0x141]),
            [None, some("outer"), some("a::b"), some("outer"), None, some("open end"), some("next"), None]
        );
    }

    #[test]
    fn lists_are_equal_by_what_they_name() {
        let list = |name| SymbolList::new("x", [symbol(1, 2, name)]);
        assert_eq!(list("a"), list("a"));
        assert_ne!(list("a"), list("b"));
    }
}
