//! Between the profile and the symbols: binaries of a session become subjects, answers become functions.

use readperf_profile::{AddressBatch, Named, NamedBatch, Profile};
use readperf_session::{Binary, BinaryKind, Session};
use readperf_symbols::{self as symbols, BuildId, FileLoader, Options, Subject, SymbolBatch};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// Gives the functions of a profile their names. Unique addresses of each binary go out once, sorted; binaries are looked
/// up in parallel.
pub(crate) fn name_functions(profile: &mut Profile, session: &Session, options: &Options) {
    let (mut asked, mut answers) = (Vec::new(), Vec::new());
    let mut questions = Vec::new();
    for batch in profile.address_batches() {
        match session.binary(batch.binary).map(subject) {
            Some(Ok(subject)) => {
                questions.push(symbols::AddressBatch::new(subject, batch.addresses.clone()));
                asked.push(batch);
            }
            Some(Err(reason)) => answers.push(unnamed(batch, &reason)),
            None => answers.push(unnamed(batch, "the binary is not known")),
        }
    }
    for (batch, answer) in asked.into_iter().zip(symbols::resolve(options, questions)) {
        let named = named(&batch, &answer);
        answers.push((batch, named));
    }
    profile.name_functions(&answers);
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
    (batch, NamedBatch { functions: Vec::new(), named })
}

/// The answer of the symbols in the profile's words. A function's source file is that of its outermost frame, at the lowest
/// of the addresses that has one.
fn named(batch: &AddressBatch, answer: &SymbolBatch) -> NamedBatch {
    let mut functions: Vec<(String, u64, Option<String>)> =
        answer.symbols.iter().map(|symbol| (symbol.name.clone(), symbol.start, None)).collect();
    let named = (0..batch.addresses.len()).map(|nr| match answer.symbol(nr) {
        Ok(symbol) => {
            let index = symbol.0 as usize;
            let file = answer.frames(nr).last().and_then(|frame| answer.file(frame.file?));
            if let (Some((_, _, source @ None)), Some(file)) = (functions.get_mut(index), file) {
                *source = Some(file.to_owned());
            }
            Named::Function(index)
        }
        Err(reason) => Named::Unnamed(reason.to_string()),
    });
    let named = named.collect();
    NamedBatch { functions, named }
}
