//! The functions, each held once: their names are most of what a profile holds. Addresses without a name may be many, and are small.

use super::{Function, FunctionId};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use indexmap::IndexSet;
use readperf_session::BinaryId;
use readperf_symbols::{FunctionName, Symbol};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;
use std::sync::Arc;

/// What is known of a function that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    binary: Option<BinaryId>,
    pub(super) name: FunctionName,
    /// In bytes; 0 if not known.
    pub(super) size: u64,
    pub(super) source_file: Option<Arc<str>>,
}

/// Functions by number, and indexes of them that hold nothing but numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    list: List,
    /// Those that symbols name, by binary and start.
    by_start: HashTable<FunctionId>,
    /// Those that only appear inlined, by binary and name.
    inlined: HashTable<FunctionId>,
}

/// Functions by number. There may be millions of addresses without a name, so of these there is nothing but the address and a number.
#[derive(Clone, Debug, Default)]
pub(super) struct List {
    addresses: Vec<u64>,
    known: Vec<Known>,
    named: Vec<Named>,
    causes: IndexSet<Cause, FxBuildHasher>,
    /// Each reason once.
    reasons: IndexSet<Arc<str>, FxBuildHasher>,
}

/// The number of a name, or that of the cause why there is none, which has the lowest bit.
#[derive(Clone, Copy, Debug)]
struct Known(u32);

/// Where something has no name, and the number of the reason why.
type Cause = (Option<BinaryId>, usize);

/// Number of a cause: of a binary in which something has no name, and the reason why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CauseId(usize);

impl CauseId {
    /// Its index: they are numbered from 0 without gaps.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

impl Known {
    fn named(index: usize) -> Known {
        Known(super::number(index) << 1)
    }

    fn unnamed(CauseId(index): CauseId) -> Known {
        Known(super::number(index) << 1 | 1)
    }

    /// The index of the name, or the cause why there is none.
    #[inline]
    fn index(self) -> Result<usize, CauseId> {
        let index = (self.0 >> 1) as usize;
        if self.0 & 1 == 0 { Ok(index) } else { Err(CauseId(index)) }
    }
}

impl List {
    fn next(&self) -> FunctionId {
        FunctionId::new(self.known.len())
    }

    /// A function by its index.
    #[inline]
    fn get(&self, index: usize) -> Option<Function<'_>> {
        let (address, known) = (self.addresses.get(index)?, self.known.get(index)?);
        Some(self.function(*address, *known))
    }

    #[inline]
    fn function(&self, address: u64, known: Known) -> Function<'_> {
        let (binary, known) = match known.index() {
            Ok(name) => match self.named.get(name) {
                Some(named) => (named.binary, Ok(named)),
                None => (None, Err("")),
            },
            Err(cause) => {
                let (binary, reason) = self.cause(cause);
                (binary, Err(reason))
            }
        };
        Function { binary, address, known }
    }

    fn cause(&self, CauseId(cause): CauseId) -> (Option<BinaryId>, &str) {
        let (binary, reason) = self.causes.get_index(cause).copied().unwrap_or_default();
        (binary, self.reasons.get_index(reason).map_or("", |reason| &**reason))
    }

    fn push(&mut self, address: u64, known: Known) -> FunctionId {
        let id = self.next();
        self.addresses.push(address);
        self.known.push(known);
        id
    }

    fn push_named(&mut self, address: u64, named: Named) -> FunctionId {
        let id = self.push(address, Known::named(self.named.len()));
        self.named.push(named);
        id
    }

    /// What is known of a function that has a name.
    fn named_mut(&mut self, id: FunctionId) -> Option<&mut Named> {
        let name = self.known.get(id.index())?.index().ok()?;
        self.named.get_mut(name)
    }
}

impl Functions {
    /// All of them, by number.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Function<'_>> + Clone {
        let List { addresses, known, .. } = &self.list;
        addresses.iter().zip(known).map(|(address, known)| self.list.function(*address, *known))
    }

    /// A function by its number.
    #[inline]
    pub(super) fn get(&self, id: FunctionId) -> Option<Function<'_>> {
        self.list.get(id.index())
    }

    /// Whether a function has a name.
    #[inline]
    pub(super) fn has_name(&self, id: FunctionId) -> bool {
        self.list.known.get(id.index()).is_some_and(|known| known.index().is_ok())
    }

    /// Why a function has no name.
    #[inline]
    pub(super) fn why_unnamed(&self, id: FunctionId) -> Option<CauseId> {
        self.list.known.get(id.index())?.index().err()
    }

    /// All causes why something has no name, by number: the binary, and the reason in words.
    pub(super) fn causes(&self) -> impl ExactSizeIterator<Item = (Option<BinaryId>, &str)> {
        (0..self.list.causes.len()).map(|cause| self.list.cause(CauseId(cause)))
    }

    /// Room for so many more.
    pub(super) fn reserve(&mut self, more: usize) {
        self.list.addresses.reserve(more);
        self.list.known.reserve(more);
    }

    /// The function that a symbol names; it may be known by a question before this one.
    pub(super) fn of_symbol(&mut self, binary: BinaryId, symbol: Symbol) -> FunctionId {
        let Symbol { name, start, end, source_file, .. } = symbol;
        let key = |function: Function<'_>| (function.binary, function.address);
        match find_or_add(&mut self.by_start, &self.list, (Some(binary), start), key) {
            Ok(id) => {
                if let (Some(known), Some(file)) = (self.list.named_mut(id), source_file) {
                    known.source_file.get_or_insert(file);
                }
                id
            }
            Err(id) => {
                // What is all of its binary has no end of its own.
                let size = if end == u64::MAX { 0 } else { end.saturating_sub(start) };
                self.list.push_named(start, Named { binary: Some(binary), name, size, source_file });
                id
            }
        }
    }

    /// The function with this name of which code is inlined. One name may be that of several functions.
    pub(super) fn inlined(&mut self, binary: BinaryId, name: FunctionName) -> FunctionId {
        fn key(function: Function<'_>) -> (Option<BinaryId>, Option<&str>) {
            (function.binary, function.name())
        }
        let wanted = (Some(binary), Some(name.shown()));
        match find_or_add(&mut self.inlined, &self.list, wanted, key) {
            Ok(id) => {
                if let Some(known) = self.list.named_mut(id)
                    && known.name.linkage() != name.linkage()
                {
                    known.name = FunctionName::plain(known.name.shown().to_owned());
                }
                id
            }
            Err(id) => {
                self.list.push_named(0, Named { binary: Some(binary), name, size: 0, source_file: None });
                id
            }
        }
    }

    /// What stands for an address without a name.
    pub(super) fn unnamed(&mut self, address: u64, cause: CauseId) -> FunctionId {
        self.list.push(address, Known::unnamed(cause))
    }

    /// Leaves those of which this is true, by their numbers; it has to be of all that have a name. Returns what number each has now.
    pub(super) fn leave(&mut self, is_left: &[bool]) -> Vec<FunctionId> {
        let mut count = 0;
        let numbers = is_left.iter().map(|is_left| {
            count += usize::from(*is_left);
            FunctionId::new(count.saturating_sub(1))
        });
        let numbers: Vec<FunctionId> = numbers.collect();
        retain(&mut self.list.addresses, is_left);
        retain(&mut self.list.known, is_left);
        for id in self.by_start.iter_mut().chain(self.inlined.iter_mut()) {
            *id = numbers.get(id.index()).copied().unwrap_or(*id);
        }
        numbers
    }

    /// Tells the address of a function without a name less exactly.
    pub(super) fn round(&mut self, id: FunctionId, address: u64) {
        let is_unnamed = self.why_unnamed(id).is_some();
        if let Some(exactly) = self.list.addresses.get_mut(id.index()).filter(|_| is_unnamed) {
            *exactly = address;
        }
    }

    /// The number of a cause: the reason why something in a binary has no name.
    pub(super) fn cause(&mut self, binary: Option<BinaryId>, reason: &str) -> CauseId {
        let List { causes, reasons, .. } = &mut self.list;
        let reason = reasons.get_index_of(reason).unwrap_or_else(|| reasons.insert_full(reason.into()).0);
        CauseId(causes.insert_full((binary, reason)).0)
    }

    /// A function of no binary, that is only a name.
    pub(super) fn outside(&mut self, name: &str) -> FunctionId {
        self.known(None, 0, FunctionName::new(name.to_owned(), String::new()))
    }

    /// A function that is known by its name alone. Symbols that are learned later do not find it.
    pub(super) fn known(&mut self, binary: Option<BinaryId>, address: u64, name: FunctionName) -> FunctionId {
        self.list.push_named(address, Named { binary, name, size: 0, source_file: None })
    }

    /// Gives functions other names. Those that are learned later have theirs.
    pub(super) fn rename(&mut self, rename: impl Fn(&str) -> Option<String>) {
        self.inlined.clear();
        for named in &mut self.list.named {
            if let Some(name) = rename(named.name.shown()) {
                let linkage = named.name.linkage().unwrap_or_default().to_owned();
                named.name = FunctionName::new(name, linkage);
            }
        }
    }

    /// What is known of a function that has a name.
    pub(super) fn named_mut(&mut self, id: FunctionId) -> Option<&mut Named> {
        self.list.named_mut(id)
    }
}

/// Leaves the elements of which this is true.
fn retain<T>(list: &mut Vec<T>, is_left: &[bool]) {
    let mut is_left = is_left.iter();
    list.retain(|_| is_left.next() == Some(&true));
}

/// The function with this key or, as an error, the id of a new one, which is then to be pushed.
fn find_or_add<'f, K: Eq + std::hash::Hash>(
    index: &mut HashTable<FunctionId>,
    list: &'f List,
    wanted: K,
    key: impl Fn(Function<'f>) -> K,
) -> Result<FunctionId, FunctionId> {
    let hash = FxBuildHasher.hash_one(&wanted);
    let key_of = |id: &FunctionId| list.get(id.index()).map(&key);
    let is_it = |id: &FunctionId| key_of(id).is_some_and(|key| key == wanted);
    match index.entry(hash, is_it, |id| key_of(id).map_or(0, |key| FxBuildHasher.hash_one(key))) {
        Entry::Occupied(known) => Ok(*known.get()),
        Entry::Vacant(free) => {
            let id = list.next();
            free.insert(id);
            Err(id)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_session::{Binary, BinaryKind, Session};
    use readperf_symbols::Binding;

    #[test]
    fn what_is_left_is_found_under_its_new_number() {
        let mut functions = Functions::default();
        let binary = Session::default().add_binary(Binary {
            name: b"/bin/a".as_slice().into(),
            short_name: b"a".as_slice().into(),
            kind: BinaryKind::User,
            build_id: None,
        });
        let symbol = |start: u64| {
            let name = FunctionName::plain(format!("f{start}"));
            Symbol { name, start, end: start + 8, binding: Binding::Global, source_file: None }
        };
        let (inside, outside) =
            (functions.cause(Some(binary), "nobody knows"), functions.cause(None, "nobody knows"));
        let unnamed = functions.unnamed(40, inside);
        let first = functions.of_symbol(binary, symbol(8));
        let rounded = functions.unnamed(0x1234, outside);
        let inlined = functions.inlined(binary, FunctionName::plain("inlined".to_owned()));
        let last = functions.of_symbol(binary, symbol(16));
        assert_eq!([unnamed, first, rounded, inlined, last].map(FunctionId::index), [0, 1, 2, 3, 4]);
        let now = functions.leave(&[false, true, true, true, true]);
        assert_eq!([first, rounded, inlined, last].map(|id| now[id.index()].index()), [0, 1, 2, 3]);
        functions.round(now[rounded.index()], 0x1000);
        functions.round(now[last.index()], 0x1000);
        assert_eq!(functions.of_symbol(binary, symbol(16)), now[last.index()]);
        assert_eq!(functions.of_symbol(binary, symbol(8)), now[first.index()]);
        let again = functions.inlined(binary, FunctionName::plain("inlined".to_owned()));
        assert_eq!(again, now[inlined.index()]);
        let labels: Vec<String> = functions.iter().map(|function| function.label().into_owned()).collect();
        assert_eq!(labels, ["f8", "0x0000000000001000", "inlined", "f16"]);
    }
}
