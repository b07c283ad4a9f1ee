//! Between the profile and the symbols: binaries of a session become subjects, answers become functions.

use readperf_profile::{AddressBatch, Addresses, Named, NamedBatch, NamedFrame, NamedFunction, Names};
use readperf_session::{Binary, BinaryKind, Session};
use readperf_symbols::{self as symbols, BuildId, FileLoader, Options, Subject, SymbolBatch};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Looks names up.
#[derive(Debug)]
pub struct Namer {
    options: Options,
}

impl Namer {
    /// One that looks where these options say.
    pub fn new(options: Options) -> Namer {
        Namer { options }
    }

    /// Learns the names of the addresses that are not known yet. Those of each binary go out once, sorted; binaries are
    /// looked up in parallel.
    pub fn learn(&mut self, names: &mut Names, addresses: &Addresses, session: &Session) {
        let (mut asked, mut answers) = (Vec::new(), Vec::new());
        let mut questions = Vec::new();
        for batch in names.unknown(addresses) {
            match session.binary(batch.binary).map(subject) {
                Some(Ok(subject)) => {
                    questions.push(symbols::AddressBatch::new(subject, batch.addresses.clone()));
                    asked.push(batch);
                }
                Some(Err(reason)) => answers.push(unnamed(batch, &reason)),
                None => answers.push(unnamed(batch, "the binary is not known")),
            }
        }
        for (batch, answer) in asked.into_iter().zip(symbols::resolve(&self.options, questions)) {
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

/// What to ask the symbols about a binary, or why there is nothing to ask.
pub(crate) fn subject(binary: &Binary) -> Result<Subject, String> {
    let build_id = binary.build_id.as_deref().and_then(BuildId::from_bytes);
    match &binary.kind {
        BinaryKind::User => Ok(Subject::File { path: path(&binary.name), build_id }),
        BinaryKind::Kernel { reference } => {
            let reference = reference.as_ref();
            let reference = reference.map(|r| (String::from_utf8_lossy(&r.name).into_owned(), r.address));
            Ok(Subject::Kernel { build_id, reference })
        }
        BinaryKind::Module { start } => {
            Ok(Subject::KernelModule { name: path(&binary.name), build_id, start: Some(*start) })
        }
        BinaryKind::Vdso => Ok(Subject::Vdso { build_id }),
        BinaryKind::Vsyscall => Err("the page of old system calls has no symbols".into()),
        BinaryKind::Jit { .. } => Err("generated code: its names are not looked up by this version".into()),
        BinaryKind::Anon => Err("memory without a file".into()),
        BinaryKind::Bpf { .. } => {
            Err("code the kernel generated: its names are not looked up by this version".into())
        }
        BinaryKind::GuestKernel { .. } | BinaryKind::GuestModule { .. } => {
            Err("a guest's kernel: its names are not looked up by this version".into())
        }
    }
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
