//! The functions, each held once: their names are most of what a profile holds.

use super::{Function, FunctionId};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use readperf_session::BinaryId;
use readperf_symbols::{FunctionName, Symbol};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;
use std::sync::Arc;

/// What is known of a function that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) name: FunctionName,
    /// In bytes; 0 if not known.
    pub(super) size: u64,
    pub(super) source_file: Option<Arc<str>>,
}

/// Functions by number, and indexes of them that hold nothing but numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    list: Vec<Function>,
    /// Those that symbols name, by binary and start.
    by_start: HashTable<FunctionId>,
    /// Those that only appear inlined, by binary and name.
    inlined: HashTable<FunctionId>,
}

impl Functions {
    pub(super) fn as_slice(&self) -> &[Function] {
        &self.list
    }

    pub(super) fn reserve(&mut self, more: usize) {
        self.list.reserve(more);
    }

    /// The function that a symbol names; it may be known by a question before this one.
    pub(super) fn of_symbol(&mut self, binary: BinaryId, symbol: Symbol) -> FunctionId {
        let Symbol { name, start, end, source_file, .. } = symbol;
        let key = |function: &Function| (function.binary, function.address);
        match find_or_add(&mut self.by_start, &self.list, (Some(binary), start), key) {
            Ok(id) => {
                if let (Some(known), Some(file)) = (self.named_mut(id), source_file) {
                    known.source_file.get_or_insert(file);
                }
                id
            }
            Err(id) => {
                // What is all of its binary has no end of its own.
                let size = if end == u64::MAX { 0 } else { end.saturating_sub(start) };
                self.push(binary, start, Named { name, size, source_file });
                id
            }
        }
    }

    /// The function with this name of which code is inlined. One name may be that of several functions.
    pub(super) fn inlined(&mut self, binary: BinaryId, name: FunctionName) -> FunctionId {
        fn key(function: &Function) -> (Option<BinaryId>, Option<&str>) {
            (function.binary, function.name())
        }
        let wanted = (Some(binary), Some(name.shown()));
        match find_or_add(&mut self.inlined, &self.list, wanted, key) {
            Ok(id) => {
                if let Some(known) = self.named_mut(id)
                    && known.name.linkage() != name.linkage()
                {
                    known.name = FunctionName::plain(known.name.shown().to_owned());
                }
                id
            }
            Err(id) => {
                self.push(binary, 0, Named { name, size: 0, source_file: None });
                id
            }
        }
    }

    /// What stands for an address without a name.
    pub(super) fn unnamed(&mut self, binary: Option<BinaryId>, address: u64, reason: Arc<str>) -> FunctionId {
        let id = FunctionId::new(self.list.len());
        self.list.push(Function { binary, address, known: Err(reason) });
        id
    }

    /// A function of no binary, that is only a name.
    pub(super) fn outside(&mut self, name: &str) -> FunctionId {
        self.known(None, 0, FunctionName::new(name.to_owned(), String::new()))
    }

    /// A function that is known by its name alone. Symbols that are learned later do not find it.
    pub(super) fn known(&mut self, binary: Option<BinaryId>, address: u64, name: FunctionName) -> FunctionId {
        let id = FunctionId::new(self.list.len());
        let known = Ok(Box::new(Named { name, size: 0, source_file: None }));
        self.list.push(Function { binary, address, known });
        id
    }

    /// Gives functions other names. Those that are learned later have theirs.
    pub(super) fn rename(&mut self, rename: impl Fn(&str) -> Option<String>) {
        self.inlined.clear();
        for named in self.list.iter_mut().filter_map(|function| function.known.as_deref_mut().ok()) {
            if let Some(name) = rename(named.name.shown()) {
                let linkage = named.name.linkage().unwrap_or_default().to_owned();
                named.name = FunctionName::new(name, linkage);
            }
        }
    }

    fn push(&mut self, binary: BinaryId, address: u64, named: Named) {
        self.list.push(Function { binary: Some(binary), address, known: Ok(Box::new(named)) });
    }

    /// What is known of a function that has a name.
    pub(super) fn named_mut(&mut self, id: FunctionId) -> Option<&mut Named> {
        self.list.get_mut(id.index())?.known.as_deref_mut().ok()
    }
}

/// The function with this key or, as an error, the id of a new one, which is then to be pushed.
fn find_or_add<'f, K: Eq + std::hash::Hash>(
    index: &mut HashTable<FunctionId>,
    list: &'f [Function],
    wanted: K,
    key: impl Fn(&'f Function) -> K,
) -> Result<FunctionId, FunctionId> {
    let hash = FxBuildHasher.hash_one(&wanted);
    let key_of = |id: &FunctionId| list.get(id.index()).map(&key);
    let is_it = |id: &FunctionId| key_of(id).is_some_and(|key| key == wanted);
    match index.entry(hash, is_it, |id| key_of(id).map_or(0, |key| FxBuildHasher.hash_one(key))) {
        Entry::Occupied(known) => Ok(*known.get()),
        Entry::Vacant(free) => {
            let id = FunctionId::new(list.len());
            free.insert(id);
            Err(id)
        }
    }
}
