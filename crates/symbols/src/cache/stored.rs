//! An answer as it is kept: columns of small numbers, and names before demangling.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::batch::{BatchBuilder, Found, Provides, SourceFrame, Symbol, SymbolBatch};
use crate::build_id::BuildId;
use crate::demangle::Demangle;
use crate::function_name::FunctionName;
use crate::ids::{FileId, FunctionId, FxIndexSet, SymbolId};
use crate::reason::Reason;
use crate::subject::{AddressBatch, Subject};
use crate::table::Binding;

/// An answer as it is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored {
    found: Vec<(Vec<u8>, u8)>,
    /// Each address as its distance from the one before.
    steps: Vec<u64>,
    /// For each address the number of its symbol and one more, or 0 when none covers it.
    names: Vec<u32>,
    /// For each address how many frames it has.
    depths: Vec<u16>,
    frames: Vec<StoredFrame>,
    symbols: Vec<StoredSymbol>,
    /// For each symbol where its source file is in `source_files` and one more, or 0 when it is not known.
    symbol_files: Vec<u32>,
    source_files: Vec<String>,
    functions: Vec<String>,
    /// In which style the names below are: it saves time if the same is asked for.
    style: u8,
    /// The names of symbols and functions to show; empty where they are those above.
    shown_symbols: Vec<String>,
    shown_functions: Vec<String>,
    files: Vec<String>,
    /// Why an address without a symbol has none: what is known of the stripped file, or nothing if it has all symbols.
    stripped: Option<Stripped>,
}

/// Path and build-id of a stripped file, and whether it has the symbols that it exports.
type Stripped = (Vec<u8>, Option<String>, bool);

/// Numbers of function and file with one more, 0 for none; line; column.
type StoredFrame = (u32, u32, u32, u32);

/// Name, start, length, and a number for the binding.
type StoredSymbol = (String, u64, u64, u8);

const PROVIDES: &[Provides] = &[
    Provides::SymbolTable,
    Provides::DynamicSymbols,
    Provides::KernelSymbols,
    Provides::DebugInfo,
    Provides::Layout,
];

const STYLES: &[Demangle] = &[Demangle::Full, Demangle::Simple, Demangle::None];

const BINDINGS: &[Binding] = &[Binding::Local, Binding::Global, Binding::Weak];

impl Stored {
    /// What is kept of an answer whose names are in this style; `None` when it has something that cannot be kept.
    pub(super) fn of(answer: &SymbolBatch, style: Demangle) -> Option<Stored> {
        let mut stored = Stored { style: number_of(STYLES, &style)?, ..Stored::default() };
        let shown =
            |name: &FunctionName| name.linkage().map_or_else(String::new, |_| name.shown().to_owned());
        stored.shown_symbols = answer.symbols.iter().map(|symbol| shown(&symbol.name)).collect();
        stored.shown_functions = answer.functions.iter().map(shown).collect();
        let mut last = 0_u64;
        for (index, address) in answer.addresses.iter().enumerate() {
            stored.steps.push(address.checked_sub(last)?);
            last = *address;
            let name = match answer.symbol(index) {
                Ok(id) => held(Some(id.index()))?,
                Err(reason) => stored.note_reason(reason)?,
            };
            stored.names.push(name);
            let frames = answer.frames(index);
            stored.depths.push(u16::try_from(frames.len()).ok()?);
            for SourceFrame { function, file, line, column } in frames {
                let function = held(function.map(FunctionId::index))?;
                let file = held(file.map(FileId::index))?;
                stored.frames.push((function, file, *line, *column));
            }
        }
        let mut source_files: FxIndexSet<&str> = FxIndexSet::default();
        for Symbol { name, start, end, binding, source_file } in &answer.symbols {
            let length = end.wrapping_sub(*start);
            stored.symbols.push((name.raw().to_owned(), *start, length, number_of(BINDINGS, binding)?));
            let file = source_file.as_deref().map(|file| source_files.insert_full(file).0);
            stored.symbol_files.push(held(file)?);
        }
        stored.source_files = source_files.into_iter().map(str::to_owned).collect();
        stored.functions = answer.functions.iter().map(|name| name.raw().to_owned()).collect();
        stored.files = answer.files.iter().map(|file| (**file).to_owned()).collect();
        for Found { path, provides } in &answer.found {
            stored.found.push((bytes_of(path), number_of(PROVIDES, provides)?));
        }
        Some(stored)
    }

    /// Notes why an address has no symbol. It is the same for all of a binary.
    fn note_reason(&mut self, reason: &Reason) -> Option<u32> {
        match reason {
            Reason::NoSymbolCovers => Some(0),
            Reason::Stripped { path, build_id } | Reason::NotExported { path, build_id } => {
                let exports = matches!(reason, Reason::NotExported { .. });
                self.stripped
                    .get_or_insert_with(|| (bytes_of(path), build_id.map(|id| id.to_string()), exports));
                Some(0)
            }
            _ => None,
        }
    }

    /// The answer, with names in this style. `None` when the numbers do not fit together.
    pub(super) fn answer(self, subject: Subject, style: Demangle) -> Option<SymbolBatch> {
        let count = self.steps.len();
        let fits = self.names.len() == count
            && self.depths.len() == count
            && self.shown_symbols.len() == self.symbols.len()
            && self.symbol_files.len() == self.symbols.len()
            && self.shown_functions.len() == self.functions.len();
        if !fits {
            return None;
        }
        let is_style = number_of(STYLES, &style) == Some(self.style);
        let name = |shown: String, raw: String| match (is_style, shown.is_empty()) {
            (true, true) => FunctionName::plain(raw),
            (true, false) => FunctionName::new(shown, raw),
            (false, _) => FunctionName::mangled(raw, style),
        };
        let mut addresses: Vec<u64> = Vec::with_capacity(count);
        for (index, step) in self.steps.iter().enumerate() {
            // Sorted and unique.
            let last = addresses.last().copied().unwrap_or(0);
            addresses.push(last.checked_add(*step).filter(|_| index == 0 || *step > 0)?);
        }
        let batch = AddressBatch { subject, addresses };
        let mut builder = BatchBuilder::new(&batch);
        let reason = self.stripped.map_or(Reason::NoSymbolCovers, |(path, build_id, exports)| {
            let (path, build_id) = (path_of(&path), build_id.and_then(|id| BuildId::parse(&id)));
            match exports {
                true => Reason::NotExported { path, build_id },
                false => Reason::Stripped { path, build_id },
            }
        });
        let index = |number: u32, len: usize| match number.checked_sub(1) {
            None => Some(None),
            Some(number) => usize::try_from(number).ok().filter(|index| *index < len).map(Some),
        };
        let mut frames = self.frames.into_iter();
        for (name, depth) in self.names.iter().zip(&self.depths) {
            match index(*name, self.symbols.len())? {
                Some(symbol) => builder.push_symbol(SymbolId::new(symbol)),
                None => builder.push_reason(&reason),
            }
            let mut own = Vec::new();
            for _ in 0..*depth {
                let (function, file, line, column) = frames.next()?;
                let function = index(function, self.functions.len())?.map(FunctionId::new);
                let file = index(file, self.files.len())?.map(FileId::new);
                own.push(SourceFrame { function, file, line, column });
            }
            builder.push_frames(own);
        }
        let source_files: Vec<Arc<str>> = self.source_files.into_iter().map(Into::into).collect();
        let named = self.symbols.into_iter().zip(self.shown_symbols).zip(self.symbol_files);
        for (((raw_name, start, length, binding), shown), file) in named {
            let binding = *BINDINGS.get(usize::from(binding))?;
            let end = start.wrapping_add(length);
            let file = index(file, source_files.len())?;
            let source_file = file.and_then(|file| source_files.get(file)).map(Arc::clone);
            let name = name(shown, raw_name);
            builder.symbols.push(Symbol { name, start, end, binding, source_file });
        }
        let functions = self.functions.into_iter().zip(self.shown_functions);
        builder.functions = functions.map(|(raw, shown)| name(shown, raw)).collect();
        builder.files = self.files.into_iter().map(Into::into).collect();
        for (path, provides) in self.found {
            let provides = *PROVIDES.get(usize::from(provides))?;
            builder.found.push(Found { path: path_of(&path), provides });
        }
        Some(builder.finish(batch))
    }
}

/// An index as it is kept: one more, 0 for none.
fn held(index: Option<usize>) -> Option<u32> {
    index.map_or(Some(0), |index| u32::try_from(index).ok()?.checked_add(1))
}

fn number_of<T: PartialEq>(all: &[T], one: &T) -> Option<u8> {
    all.iter().position(|other| other == one).and_then(|number| u8::try_from(number).ok())
}

fn bytes_of(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_owned()
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}
