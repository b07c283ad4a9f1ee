//! Between the profile and the symbols: binaries of a session become subjects, answers become functions.

use crate::embedded::{Embedded, embedded};
use crate::pass::{Chunk, Sample};
use crate::recorded_kernel::KernelEvidence;
use perffile::wire::text::decoded;
use perffile::{IssueKind, Issues, Metadata, Part, Place};
use readperf_profile::{
    AddressBatch, Addresses, Named, NamedBatch, NamedFrame, NamedFunction, NamedInline, Names,
};
use readperf_session::{Binary, BinaryKind, CpuMode, ReferenceSymbol, Session};
use readperf_symbols::{
    self as symbols, BuildId, FileBytes, FileLoader, Files, JitDump, ListedSymbol, Options, Resolver,
    Subject, SymbolArchive, SymbolBatch, SymbolList,
};
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

/// Looks names up.
#[derive(Debug)]
pub struct Namer<'f> {
    files: &'f Files,
    options: Options,
    /// Made when it is known which kernel was recorded.
    resolver: Option<Resolver<'f>>,
    embedded: Embedded,
    kernel: KernelEvidence,
    /// Whether a kernel or a module without a build-id was asked about.
    uses_evidence: bool,
    ahead: Ahead,
}

/// Whether what takes long is read before the first question.
#[derive(Debug, Default)]
enum Ahead {
    /// Nothing of the kernel was seen yet.
    #[default]
    Waiting,
    /// A thread reads.
    Reading(JoinHandle<()>),
    Done,
}

impl<'f> Namer<'f> {
    /// One that looks where these options say, and where the recording itself says, and keeps what it opens in `files`.
    pub fn new(files: &'f Files, options: Options, metadata: &Metadata) -> Namer<'f> {
        let features = &metadata.features;
        Namer {
            files,
            options: with_recorded(options, metadata),
            resolver: None,
            embedded: embedded(features),
            kernel: KernelEvidence::new(features),
            uses_evidence: false,
            ahead: Ahead::default(),
        }
    }

    /// Has the kernel's symbols read by another thread, if it may, from the first chunk on in which a sample was taken in the
    /// kernel. Names are the same without.
    pub fn read_ahead(&mut self, session: &Session, chunk: &Chunk<'_>) {
        let is_in_kernel = |sample: Sample<'_, '_>| sample.moment.code.mode == CpuMode::Kernel;
        if !matches!(self.ahead, Ahead::Waiting) || !chunk.samples().any(is_in_kernel) {
            return;
        }
        self.ahead = Ahead::Done;
        let kernel = session.kernel_image().and_then(|image| session.binary(image.binary));
        let Some(subject) = kernel.filter(|_| self.options.thread_count() > 1).and_then(subject_with_file)
        else {
            return;
        };
        let work = self.resolver(session).ahead(subject);
        // If the system has no thread for it, the list is read when it is needed.
        if let Ok(thread) =
            thread::Builder::new().name("reading ahead".to_owned()).stack_size(8 << 20).spawn(work)
        {
            self.ahead = Ahead::Reading(thread);
        }
    }

    /// Learns the names of the addresses that are not known yet. Those of each binary go out once, sorted; binaries are
    /// looked up in parallel.
    pub fn learn(&mut self, names: &mut Names, addresses: &Addresses, session: &Session) {
        let answers = self.answers(names, addresses, session);
        names.learn(addresses, &answers);
    }

    /// The same for the last time: what was read of the binaries is let go before the names are taken in. Returns
    /// [`Namer::told`].
    pub fn learn_last(
        mut self,
        names: &mut Names,
        addresses: &Addresses,
        session: &Session,
    ) -> Option<String> {
        let answers = self.answers(names, addresses, session);
        let told = self.told();
        drop(self);
        names.learn(addresses, &answers);
        told
    }

    /// Says where names come from that the recording does not vouch for, and by what they are known to be right.
    pub fn told(&self) -> Option<String> {
        let told = [self.kernel.told().filter(|_| self.uses_evidence), self.options.symbol_files.told()];
        let archives = self.options.file_loader.archives().iter().filter_map(SymbolArchive::told);
        let told: Vec<String> = told.into_iter().flatten().chain(archives).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// The names of the addresses that are not known yet.
    fn answers(
        &mut self,
        names: &Names,
        addresses: &Addresses,
        session: &Session,
    ) -> Vec<(AddressBatch, NamedBatch)> {
        let (mut asked, mut answers) = (Vec::new(), Vec::new());
        let mut questions = Vec::new();
        let mut dumps = Dumps::default();
        for batch in names.unknown(addresses) {
            let binary = session.binary(batch.binary);
            let subject = binary.map(|binary| match self.embedded.get(&binary.name) {
                Some(symbols) => Ok(Subject::Listed { symbols: symbols.clone() }),
                None => subject(binary, session, &mut dumps),
            });
            match subject {
                Some(Ok(subject)) => {
                    self.uses_evidence |= lacks_kernel_id(&subject);
                    questions.push(symbols::AddressBatch::new(subject, batch.addresses.clone()));
                    asked.push(batch);
                }
                Some(Err(reason)) => answers.push(unnamed(batch, reason)),
                None => answers.push(unnamed(batch, "the binary is not known")),
            }
        }
        let answered = self.resolver(session).resolve(questions);
        if let Ahead::Reading(thread) = std::mem::replace(&mut self.ahead, Ahead::Done) {
            // Whoever needed what it reads has waited for it; what it could not read was tried again.
            let _ = thread.join();
        }
        for (batch, answer) in asked.into_iter().zip(answered) {
            let named = named(&batch, &answer);
            answers.push((batch, named));
        }
        answers
    }

    /// The resolver, made when it is known which kernel was recorded.
    fn resolver(&mut self, session: &Session) -> &mut Resolver<'f> {
        self.resolver.get_or_insert_with(|| {
            let mut options = self.options.clone();
            self.kernel.apply(&mut options, session);
            Resolver::new(self.files, options)
        })
    }
}

fn lacks_kernel_id(subject: &Subject) -> bool {
    matches!(subject, Subject::Kernel { build_id: None, .. } | Subject::KernelModule { build_id: None, .. })
}

/// Where the recording itself says to look, if the options say nothing else.
pub(crate) fn with_recorded(options: Options, metadata: &Metadata) -> Options {
    let release = || metadata.features.osrelease().map(|release| release.into_owned());
    let mut guest = options.guest;
    if guest.kcore_dirs.is_empty() {
        guest.kcore_dirs.clone_from(&metadata.guest_kcore_dirs);
    }
    Options {
        guest,
        kernel_release: options.kernel_release.or_else(release),
        kcore_dir: options.kcore_dir.or_else(|| metadata.kcore_dir.clone()),
        ..options
    }
}

/// Adds to the issues of a recording what the system, or damage, kept from being read of the files that names come from.
pub fn add_losses(issues: &mut Issues, symbols: &Options) {
    for loss in symbols.file_loader.losses() {
        issues.add(IssueKind::NamesLost, Place::new(Part::Elsewhere, 0), || {
            format!("names may be missing: {loss}")
        });
    }
}

/// A loader that maps files instead of reading them, those in archives, too.
pub fn mapped_files(archives: Vec<SymbolArchive>) -> FileLoader {
    let map = |file: File| Ok(Arc::new(perffile::bytes::map_file(&file)?) as FileBytes);
    FileLoader::new(move |path| map(File::open(path)?)).with_archives(archives, map)
}

pub(crate) fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(name))
}

/// What to ask the symbols about a binary that is a file, or an image of the kernel; of others nothing.
pub(crate) fn subject_with_file(binary: &Binary) -> Option<Subject> {
    let build_id = binary.build_id.as_deref().and_then(BuildId::from_bytes);
    match &binary.kind {
        BinaryKind::User => Some(Subject::File { path: path(&binary.name), build_id }),
        BinaryKind::Kernel { reference: symbol } => {
            Some(Subject::Kernel { build_id, reference: reference(symbol.as_ref()) })
        }
        BinaryKind::Module { start } => {
            Some(Subject::KernelModule { name: path(&binary.name), build_id, start: Some(*start) })
        }
        BinaryKind::Vdso => Some(Subject::Vdso { build_id }),
        BinaryKind::GuestKernel { reference: symbol } => Some(Subject::GuestKernel {
            pid: guest_pid(&binary.name),
            build_id,
            reference: reference(symbol.as_ref()),
        }),
        BinaryKind::GuestModule { start } => {
            Some(Subject::GuestModule { pid: None, name: path(&binary.name), build_id, start: Some(*start) })
        }
        BinaryKind::Jit { .. } | BinaryKind::Bpf { .. } | BinaryKind::Vsyscall | BinaryKind::Anon => None,
    }
}

/// The jitdump file of each process that was asked about, with the number in its name.
pub(crate) type Dumps = FxHashMap<u32, Option<(u32, PathBuf)>>;

/// What to ask the symbols about a binary, or why there is nothing to ask.
pub(crate) fn subject(
    binary: &Binary,
    session: &Session,
    dumps: &mut Dumps,
) -> Result<Subject, &'static str> {
    match &binary.kind {
        BinaryKind::Jit { pid, generation } => {
            let dump = dumps.entry(*pid).or_insert_with(|| jitdump(*pid, session)).clone();
            let (inner_pid, dump) = dump.unzip();
            let inner_pid = inner_pid.filter(|inner| inner != pid);
            Ok(Subject::Generated { pid: *pid, inner_pid, dump, generation: *generation })
        }
        BinaryKind::Bpf { start } => {
            let name = decoded(&binary.name).into_owned();
            // It is one symbol, and all of it: what else lies there is another binary.
            let symbol = ListedSymbol { start: *start, end: u64::MAX, name };
            Ok(Subject::Listed { symbols: SymbolList::new(path(&binary.name), [symbol]) })
        }
        BinaryKind::Vsyscall => Err("the page of old system calls has no symbols"),
        BinaryKind::Anon => Err("memory without a file"),
        _ => subject_with_file(binary).ok_or("the binary is no file"),
    }
}

fn reference(symbol: Option<&ReferenceSymbol>) -> Option<(String, u64)> {
    symbol.map(|symbol| (decoded(&symbol.name).into_owned(), symbol.address))
}

/// The process that runs a guest: its number is in the name, `[guest.kernel.kallsyms.PID]`.
fn guest_pid(name: &[u8]) -> Option<u32> {
    let name = std::str::from_utf8(name).ok()?;
    name.strip_prefix("[guest.kernel.kallsyms.")?.strip_suffix(']')?.parse().ok()
}

/// The jitdump file that a process mapped to tell of itself, if it did, and the number in its name. That is the one that the
/// process sees, which is another in a pid namespace.
fn jitdump(pid: u32, session: &Session) -> Option<(u32, PathBuf)> {
    let dump = |binary: &Binary| {
        let name = path(&binary.name);
        Some((JitDump::pid_in_name(&name)?, name))
    };
    let mapped_by = |pid: u32| {
        let processes = session.processes().iter().filter(move |process| process.pid == pid);
        processes
            .flat_map(|process| process.space().iter())
            .filter_map(|mapping| dump(session.binary(mapping.binary)?))
    };
    let own = mapped_by(pid).filter(|(inner, name)| {
        // A child that was forked has the mappings of its parent, and did not write that file.
        *inner == pid || !mapped_by(*inner).any(|(_, other)| other == *name)
    });
    let own = own.max_by_key(|(inner, _)| *inner == pid);
    // It may have been unmapped since.
    own.or_else(|| session.binaries().iter().rev().filter_map(dump).find(|(inner, _)| *inner == pid))
}

/// A name, if it is another one than what is shown.
fn other_name(name: &str, shown: &str) -> Option<Box<str>> {
    (!name.is_empty() && name != shown).then(|| name.into())
}

fn unnamed(batch: AddressBatch, reason: &str) -> (AddressBatch, NamedBatch) {
    let reason: Arc<str> = reason.into();
    let named = batch.addresses.iter().map(|_| Named::Unnamed(Arc::clone(&reason))).collect();
    (batch, NamedBatch { named, ..NamedBatch::default() })
}

/// The answer of the symbols in the profile's words. A function's source file is the one in which it is written or, where only
/// lines are known, that of its outermost frame at the lowest of the addresses that has one.
fn named(batch: &AddressBatch, answer: &SymbolBatch) -> NamedBatch {
    let function = |symbol: &symbols::Symbol| NamedFunction {
        name: symbol.name.clone(),
        linkage_name: other_name(&symbol.raw_name, &symbol.name),
        start: symbol.start,
        // What is all of its binary has no end of its own.
        size: if symbol.end == u64::MAX { 0 } else { symbol.end.saturating_sub(symbol.start) },
        source_file: symbol.source_file.as_deref().map(str::to_owned),
    };
    let mut named = NamedBatch {
        functions: answer.symbols.iter().map(function).collect(),
        inlined: answer
            .functions
            .iter()
            .map(|function| NamedInline {
                name: function.name.clone(),
                linkage_name: other_name(&function.raw_name, &function.name),
            })
            .collect(),
        files: answer.files.clone(),
        ..NamedBatch::default()
    };
    let mut reasons: FxHashMap<&symbols::Reason, Arc<str>> = FxHashMap::default();
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
            Err(reason) => {
                let words = reasons.entry(reason).or_insert_with(|| {
                    let words: Arc<str> = reason.to_string().into();
                    let remedy = reason.remedy().map(|remedy| (Arc::clone(&words), remedy.into_owned()));
                    named.remedies.extend(remedy);
                    words
                });
                Named::Unnamed(Arc::clone(words))
            }
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
