//! Lists of symbols that the caller brings.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ids;
use crate::table::{Binding, Entry, Table};

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

    /// The symbol that covers an address.
    pub(crate) fn find(&self, address: u64) -> Option<&Entry> {
        self.0.table.find(address)
    }

    pub(crate) fn name(&self, entry: &Entry) -> &str {
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
