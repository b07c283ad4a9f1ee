//! An answer as it is kept: columns of small numbers, and names before demangling.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::batch::{
    BatchBuilder, Binding, FileId, Found, Frame, Function, FunctionId, Provides, Symbol, SymbolBatch,
    SymbolId, next_number,
};
use crate::build_id::BuildId;
use crate::demangle::Demangle;
use crate::reason::Reason;
use crate::subject::{AddressBatch, Subject};

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
        let shown = |name: &String, raw: &String| if name == raw { String::new() } else { name.clone() };
        stored.shown_symbols = answer.symbols.iter().map(|one| shown(&one.name, &one.raw_name)).collect();
        stored.shown_functions = answer.functions.iter().map(|one| shown(&one.name, &one.raw_name)).collect();
        let mut last = 0_u64;
        for (index, address) in answer.addresses.iter().enumerate() {
            stored.steps.push(address.checked_sub(last)?);
            last = *address;
            let name = match answer.symbol(index) {
                Ok(id) => id.0.checked_add(1)?,
                Err(reason) => stored.note_reason(reason)?,
            };
            stored.names.push(name);
            let frames = answer.frames(index);
            stored.depths.push(u16::try_from(frames.len()).ok()?);
            for Frame { function, file, line, column } in frames {
                let function = function.map_or(Some(0), |id| id.0.checked_add(1))?;
                let file = file.map_or(Some(0), |id| id.0.checked_add(1))?;
                stored.frames.push((function, file, *line, *column));
            }
        }
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for Symbol { raw_name, start, end, binding, source_file, .. } in &answer.symbols {
            let length = end.wrapping_sub(*start);
            stored.symbols.push((raw_name.clone(), *start, length, number_of(BINDINGS, binding)?));
            let number = source_file.as_deref().map(|file| {
                let next = next_number(numbers.len()).saturating_add(1);
                *numbers.entry(file).or_insert_with(|| {
                    stored.source_files.push(file.to_owned());
                    next
                })
            });
            stored.symbol_files.push(number.unwrap_or(0));
        }
        stored.functions = answer.functions.iter().map(|function| function.raw_name.clone()).collect();
        stored.files.clone_from(&answer.files);
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
                self.stripped = Some((bytes_of(path), build_id.map(|id| id.to_string()), exports));
                Some(0)
            }
            _ => None,
        }
    }

    /// The answer; its names are empty if they are not kept in this style. `None` when the numbers do not fit
    /// together.
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
        let shown = |shown: String, raw: &String| match (is_style, shown.is_empty()) {
            (true, true) => raw.clone(),
            (true, false) => shown,
            (false, _) => String::new(),
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
        let id = |number: u32, len: usize| match number.checked_sub(1) {
            None => Some(None),
            Some(number) => usize::try_from(number).is_ok_and(|number| number < len).then_some(Some(number)),
        };
        let mut frames = self.frames.into_iter();
        for (name, depth) in self.names.iter().zip(&self.depths) {
            match id(*name, self.symbols.len())? {
                Some(number) => builder.push_symbol(SymbolId(number)),
                None => builder.push_reason(&reason),
            }
            let mut own = Vec::new();
            for _ in 0..*depth {
                let (function, file, line, column) = frames.next()?;
                let function = id(function, self.functions.len())?.map(FunctionId);
                let file = id(file, self.files.len())?.map(FileId);
                own.push(Frame { function, file, line, column });
            }
            builder.push_frames(own);
        }
        let source_files: Vec<Arc<str>> = self.source_files.into_iter().map(Into::into).collect();
        let named = self.symbols.into_iter().zip(self.shown_symbols).zip(self.symbol_files);
        for (((raw_name, start, length, binding), name), file) in named {
            let binding = *BINDINGS.get(usize::from(binding))?;
            let end = start.wrapping_add(length);
            let file = id(file, source_files.len())?.and_then(|number| usize::try_from(number).ok());
            let source_file = file.and_then(|number| source_files.get(number)).map(Arc::clone);
            let name = shown(name, &raw_name);
            builder.symbols.push(Symbol { name, raw_name, start, end, binding, source_file });
        }
        let functions = self.functions.into_iter().zip(self.shown_functions);
        let function = |(raw_name, name)| Function { name: shown(name, &raw_name), raw_name };
        builder.functions = functions.map(function).collect();
        builder.files = self.files;
        for (path, provides) in self.found {
            let provides = *PROVIDES.get(usize::from(provides))?;
            builder.found.push(Found { path: path_of(&path), provides });
        }
        Some(builder.finish(batch))
    }
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
