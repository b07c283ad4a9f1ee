//! What the addresses are called: functions, inlined functions, source lines.

mod functions;
mod learn;
mod levels;
mod places;
pub(crate) mod same;
mod unknown;

pub(crate) use self::functions::CauseId;
use self::functions::{Functions, Named};
use self::levels::Levels;
use crate::addresses::AddressId;
use crate::together::Left;
use indexmap::IndexSet;
use readperf_session::BinaryId;
pub use readperf_symbols::{FileId, FunctionId};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::borrow::Cow;
use std::sync::Arc;
pub use unknown::BinaryPlaces;

/// A function, or an address that has no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function<'n> {
    /// The binary; `None` where no mapping covers the address.
    pub binary: Option<BinaryId>,
    /// First address of the function, or the unnamed address; of functions that only appear inlined 0.
    pub address: u64,
    /// What is known of it, or why it has no name.
    known: Result<&'n Named, &'n str>,
}

impl<'n> Function<'n> {
    /// The name; without one the address itself stands in.
    #[inline]
    pub fn name(self) -> Option<&'n str> {
        self.known.ok().map(|known| known.name.shown())
    }

    /// Whether it has a name. That is known at once; a name is made when it is asked for.
    #[inline]
    pub fn has_name(self) -> bool {
        self.known.is_ok()
    }

    /// The name in the symbol table, where that is another one: as the compiler mangled it. Of an inlined name that several
    /// functions share, none.
    pub fn linkage_name(self) -> Option<&'n str> {
        self.known.ok()?.name.linkage()
    }

    /// Its size in bytes, as the symbol table has it; 0 if not known.
    pub fn size(self) -> u64 {
        self.known.map_or(0, |known| known.size)
    }

    /// Source file, as the compiler recorded it.
    pub fn source_file(self) -> Option<&'n str> {
        self.known.ok()?.source_file.as_deref()
    }

    /// Why there is no name, in plain words.
    pub fn reason(self) -> Option<&'n str> {
        self.known.err()
    }

    /// The name, or the address in hex.
    pub fn label(self) -> Cow<'n, str> {
        self.name().map_or_else(|| Cow::Owned(format!("{:#018x}", self.address)), Cow::Borrowed)
    }
}

/// One level of the code at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function.
    pub function: FunctionId,
    /// The source file of the code, or of the call that was inlined.
    pub file: Option<FileId>,
    /// The line in that file, from 1; 0 where unknown.
    pub line: u32,
}

impl Frame {
    /// A function without inlined ones and lines.
    fn alone(function: FunctionId) -> Frame {
        Frame { function, file: None, line: 0 }
    }
}

/// The names of addresses. They are learned in one go or, where the answer is wanted before the end, piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// Copies that only have other places share them.
    functions: Arc<Functions>,
    /// The source files by number.
    files: IndexSet<Arc<str>, FxBuildHasher>,
    levels: Levels,
    /// What can be done about a reason.
    remedies: FxHashMap<String, String>,
    is_of_pieces: bool,
    /// The function that stands for each, once that was asked for; empty if each stands for itself.
    one_of: Vec<FunctionId>,
    /// The function that stands for those that are hidden.
    hidden: Option<FunctionId>,
    /// Beginnings that were taken away from names, the first one first.
    dropped: Vec<String>,
}

impl Names {
    /// The functions by number.
    pub fn functions(&self) -> impl ExactSizeIterator<Item = Function<'_>> + Clone {
        self.functions.iter()
    }

    /// Whether functions have the same names and numbers in others.
    pub(crate) fn has_functions_of(&self, other: &Names) -> bool {
        Arc::ptr_eq(&self.functions, &other.functions)
    }

    /// Leaves the places that stand for others, and of the functions those that have a name, and theirs.
    pub(crate) fn leave(&mut self, left: &[Left]) {
        let mut is_left: Vec<bool> = self.functions().map(Function::has_name).collect();
        for function in left.iter().filter_map(|left| self.piece_at(left.first)) {
            if let Some(is_left) = is_left.get_mut(function.index()) {
                *is_left = true;
            }
        }
        let levels = std::mem::take(&mut self.levels);
        let now = self.functions_mut().leave(&is_left);
        let number = |id: FunctionId| now.get(id.index()).copied().unwrap_or(id);
        for Left { first, code, .. } in left {
            let Some(function) = levels.function(*first) else {
                self.levels.push_none();
                continue;
            };
            let of_place = levels.at(*first, Some(function));
            let of_place = of_place.map(|level| Frame { function: number(level.function), ..level });
            self.levels.push(number(function), of_place);
            self.functions_mut().round(number(function), code.address);
        }
    }

    fn functions_mut(&mut self) -> &mut Functions {
        Arc::make_mut(&mut self.functions)
    }

    /// The source files by number.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &str> {
        self.files.iter().map(|file| &**file)
    }

    /// How many addresses have been learned.
    pub fn len(&self) -> usize {
        self.levels.len()
    }

    /// Whether none has been learned.
    pub fn is_empty(&self) -> bool {
        self.levels.len() == 0
    }

    /// A function by its number.
    #[inline]
    pub fn function(&self, id: FunctionId) -> Option<Function<'_>> {
        self.functions.get(id)
    }

    /// Whether a function has a name.
    #[inline]
    pub fn has_name(&self, id: FunctionId) -> bool {
        self.functions.has_name(id)
    }

    /// Why the function that an address lies in has no name.
    #[inline]
    pub(crate) fn why_unnamed_at(&self, address: AddressId) -> Option<CauseId> {
        self.functions.why_unnamed(self.function_at(address)?)
    }

    /// All causes why something has no name, by number: the binary, `None` where no mapping covers an address, and the reason in words.
    pub(crate) fn causes(&self) -> impl ExactSizeIterator<Item = (Option<BinaryId>, &str)> {
        self.functions.causes()
    }

    /// A source file by its number.
    pub fn file(&self, id: FileId) -> Option<&str> {
        self.files.get_index(id.index()).map(|file| &**file)
    }

    /// What a user can do about the reason why something has no name, if anything.
    pub fn remedy(&self, reason: &str) -> Option<&str> {
        self.remedies.get(reason).map(String::as_str)
    }

    /// The function that an address lies in: the real one, whatever is inlined there. After [`Names::unify`] it is the one that
    /// stands for all that are the same.
    #[inline]
    pub fn function_at(&self, address: AddressId) -> Option<FunctionId> {
        let piece = self.piece_at(address)?;
        Some(self.one_of.get(piece.index()).copied().unwrap_or(piece))
    }

    /// The function that an address lies in, before [`Names::unify`]: of code that was generated several times the very piece.
    #[inline]
    pub fn piece_at(&self, address: AddressId) -> Option<FunctionId> {
        self.levels.function(address)
    }

    /// Whether more is known of an address than the function that it lies in.
    #[inline]
    pub(crate) fn has_frames(&self, address: AddressId) -> bool {
        self.levels.is_held(address)
    }

    /// The levels at an address: the innermost inlined function first, the real function last. Never empty for an address
    /// that has been learned.
    #[inline]
    pub fn frames_at(
        &self,
        address: AddressId,
    ) -> impl DoubleEndedIterator<Item = Frame> + ExactSizeIterator + Clone + use<'_> {
        self.levels.at(address, self.function_at(address))
    }
}

/// Memory is at its end long before the numbers are.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
