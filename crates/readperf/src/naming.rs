//! Between the profile and the symbols: binaries of a session become subjects, answers become functions.

use crate::embedded::{Embedded, embedded};
use perffile::Features;
use readperf_profile::{AddressBatch, Addresses, Named, NamedBatch, NamedFrame, NamedFunction, Names};
use readperf_session::{Binary, BinaryKind, Session};
use readperf_symbols::{
    self as symbols, BuildId, FileLoader, Files, JitDump, ListedSymbol, Options, Resolver, Subject,
    SymbolBatch, SymbolList,
};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Looks names up.
#[derive(Debug)]
pub struct Namer<'f> {
    resolver: Resolver<'f>,
    embedded: Embedded,
}

impl<'f> Namer<'f> {
    /// One that looks where these options say, and keeps what it opens in `files`.
    pub fn new(files: &'f Files, options: Options) -> Namer<'f> {
        Namer { resolver: Resolver::new(files, options), embedded: Embedded::default() }
    }

    /// Takes the names that a recording brings in its features.
    pub fn learn_embedded(&mut self, features: &Features) {
        self.embedded = embedded(features);
    }

    /// Learns the names of the addresses that are not known yet. Those of each binary go out once, sorted; binaries are
    /// looked up in parallel.
    pub fn learn(&mut self, names: &mut Names, addresses: &Addresses, session: &Session) {
        let (mut asked, mut answers) = (Vec::new(), Vec::new());
        let mut questions = Vec::new();
        for batch in names.unknown(addresses) {
            let binary = session.binary(batch.binary);
            let subject = binary.map(|binary| match self.embedded.get(&binary.name) {
                Some(symbols) => Ok(Subject::Listed { symbols: symbols.clone() }),
                None => subject(binary, session),
            });
            match subject {
                Some(Ok(subject)) => {
                    questions.push(symbols::AddressBatch::new(subject, batch.addresses.clone()));
                    asked.push(batch);
                }
                Some(Err(reason)) => answers.push(unnamed(batch, reason)),
                None => answers.push(unnamed(batch, "the binary is not known")),
            }
        }
        for (batch, answer) in asked.into_iter().zip(self.resolver.resolve(questions)) {
            let named = named(&batch, &answer);
            answers.push((batch, named));
        }
        names.learn(addresses, &answers);
    }
}

/// A loader that maps files instead of reading them.
pub fn mapped_files() -> FileLoader {
    FileLoader::new(|path| Ok(Arc::new(perffile::bytes::map_file(&File::open(path)?)?)))
}

fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}

/// What to ask the symbols about a binary that is a file, or an image of the kernel; of others nothing.
pub(crate) fn subject_with_file(binary: &Binary) -> Option<Subject> {
    let build_id = binary.build_id.as_deref().and_then(BuildId::from_bytes);
    match &binary.kind {
        BinaryKind::User => Some(Subject::File { path: path(&binary.name), build_id }),
        BinaryKind::Kernel { reference } => {
            let reference = reference.as_ref();
            let reference = reference.map(|r| (String::from_utf8_lossy(&r.name).into_owned(), r.address));
            Some(Subject::Kernel { build_id, reference })
        }
        BinaryKind::Module { start } => {
            Some(Subject::KernelModule { name: path(&binary.name), build_id, start: Some(*start) })
        }
        BinaryKind::Vdso => Some(Subject::Vdso { build_id }),
        _ => None,
    }
}

/// What to ask the symbols about a binary, or why there is nothing to ask.
fn subject(binary: &Binary, session: &Session) -> Result<Subject, &'static str> {
    match &binary.kind {
        BinaryKind::Jit { pid } => {
            Ok(Subject::Generated { pid: *pid, inner_pid: None, dump: jitdump(*pid, session) })
        }
        BinaryKind::Bpf { start } => {
            let name = String::from_utf8_lossy(&binary.name).into_owned();
            // It is one symbol, and all of it: what else lies there is another binary.
            let symbol = ListedSymbol { start: *start, end: u64::MAX, name };
            Ok(Subject::Listed { symbols: SymbolList::new(path(&binary.name), [symbol]) })
        }
        BinaryKind::Vsyscall => Err("the page of old system calls has no symbols"),
        BinaryKind::Anon => Err("memory without a file"),
        BinaryKind::GuestKernel { .. } | BinaryKind::GuestModule { .. } => {
            Err("a guest's kernel: its names are not looked up by this version")
        }
        _ => subject_with_file(binary).ok_or("the binary is no file"),
    }
}

/// The jitdump file that a process mapped to tell of itself, if it did.
fn jitdump(pid: u32, session: &Session) -> Option<PathBuf> {
    let names = session.binaries().iter().map(|binary| path(&binary.name));
    names.filter(|name| JitDump::pid_in_name(name) == Some(pid)).last()
}

fn unnamed(batch: AddressBatch, reason: &str) -> (AddressBatch, NamedBatch) {
    let named = batch.addresses.iter().map(|_| Named::Unnamed(reason.to_owned())).collect();
    (batch, NamedBatch { named, ..NamedBatch::default() })
}

/// The answer of the symbols in the profile's words. A function's source file is that of its outermost frame, at the lowest
/// of the addresses that has one.
fn named(batch: &AddressBatch, answer: &SymbolBatch) -> NamedBatch {
    let function = |symbol: &symbols::Symbol| NamedFunction {
        name: symbol.name.clone(),
        start: symbol.start,
        source_file: None,
    };
    let mut named = NamedBatch {
        functions: answer.symbols.iter().map(function).collect(),
        inlined: answer.functions.iter().map(|function| function.name.clone()).collect(),
        files: answer.files.clone(),
        ..NamedBatch::default()
    };
    for nr in 0..batch.addresses.len() {
        let frames = answer.frames(nr);
        let covered = answer.symbol(nr);
        named.named.push(match covered {
            Ok(symbol) => {
                let index = symbol.0 as usize;
                let file = frames.last().and_then(|frame| answer.file(frame.file?));
                if let (Some(NamedFunction { source_file: source @ None, .. }), Some(file)) =
                    (named.functions.get_mut(index), file)
                {
                    *source = Some(file.to_owned());
                }
                Named::Function(index)
            }
            Err(reason) => Named::Unnamed(reason.to_string()),
        });
        for (level, frame) in frames.iter().enumerate() {
            // The outermost level is the function that the symbol names.
            let is_symbol = covered.is_ok() && level + 1 == frames.len();
            let inlined = frame.function.filter(|_| !is_symbol).map(|function| function.0);
            named.frames.push(NamedFrame { inlined, file: frame.file.map(|file| file.0), line: frame.line });
        }
        named.frame_ends.push(named.frames.len());
    }
    named
}
