//! Between the profile and the symbols: what has no name is asked about, and the answers are learned.

use crate::bpf_code::bpf_code;
use crate::chunk::Chunk;
use crate::embedded::{Embedded, embedded};
use crate::recorded_kernel::KernelEvidence;
use crate::subjects::{Dumps, subject, subject_with_file};
use perffile::{IssueKind, Issues, Metadata, Part, Place};
use readperf_profile::{Addresses, BinaryPlaces, CodesSlice, Names};
use readperf_session::{BinaryId, Session};
use readperf_symbols::{
    AddressBatch, FileBytes, FileLoader, Files, Options, Resolver, Subject, SymbolArchive, SymbolBatch,
};
use std::fs::File;
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
        if !matches!(self.ahead, Ahead::Waiting) || !chunk.has_kernel_samples() {
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
        let new = addresses.since(names.len());
        let answers = self.answers(new, session);
        names.learn(new, answers);
    }

    /// Learns the names of all places for the last time: what was read of the binaries is let go before. Returns
    /// [`Namer::told`].
    pub fn learn_last(
        mut self,
        names: &mut Names,
        addresses: &Addresses,
        session: &Session,
    ) -> Option<String> {
        let new = addresses.since(names.len());
        let answers = self.answers(new, session);
        let told = self.told();
        drop(self);
        names.learn(new, answers);
        told
    }

    /// What to ask about these addresses.
    pub fn ask(&mut self, new: CodesSlice<'_>, session: &Session) -> Questions {
        let mut dumps = Dumps::default();
        let asked = BinaryPlaces::ask(new, |id| self.subject(session, id, &mut dumps));
        self.uses_evidence |= asked.iter().any(|(_, question)| lacks_kernel_id(&question.subject));
        Questions(asked)
    }

    /// What answers the questions, for a thread that is to do it from now on.
    pub fn hand_over(&mut self, session: &Session) -> Resolver<'f> {
        self.resolver(session);
        // What is read ahead goes with it, and nothing more should be.
        if let Ahead::Waiting = self.ahead {
            self.ahead = Ahead::Done;
        }
        self.resolver.take().unwrap_or_else(|| Resolver::new(self.files, self.options.clone()))
    }

    /// Says where names come from that the recording does not vouch for, and by what they are known to be right.
    pub fn told(&self) -> Option<String> {
        let told = [self.kernel.told().filter(|_| self.uses_evidence), self.options.symbol_files.told()];
        let archives = self.options.file_loader.archives().iter().filter_map(SymbolArchive::told);
        let told: Vec<String> = told.into_iter().flatten().chain(archives).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// The names of these addresses.
    fn answers(&mut self, new: CodesSlice<'_>, session: &Session) -> Vec<(BinaryPlaces, SymbolBatch)> {
        let answers = self.ask(new, session).answers(self.resolver(session));
        self.end_ahead();
        answers
    }

    /// Waits for what is read ahead.
    pub fn end_ahead(&mut self) {
        if let Ahead::Reading(thread) = std::mem::replace(&mut self.ahead, Ahead::Done) {
            // Whoever needed what it reads has waited for it; what it could not read was tried again.
            let _ = thread.join();
        }
    }

    /// What to ask the symbols about a binary.
    pub(crate) fn subject(&self, session: &Session, id: BinaryId, dumps: &mut Dumps) -> Option<Subject> {
        let binary = session.binary(id)?;
        Some(match self.embedded.get(&binary.name) {
            Some(symbols) => Subject::Listed { symbols: symbols.clone() },
            None => subject(binary, session, dumps),
        })
    }

    /// The resolver, made when it is known which kernel was recorded.
    pub(crate) fn resolver(&mut self, session: &Session) -> &mut Resolver<'f> {
        self.resolver.get_or_insert_with(|| {
            let mut options = self.options.clone();
            self.kernel.apply(&mut options, session);
            Resolver::new(self.files, options)
        })
    }
}

/// Questions about the names of addresses.
#[derive(Debug)]
pub struct Questions(Vec<(BinaryPlaces, AddressBatch)>);

impl Questions {
    /// The answers, which [`Names::learn`] takes together with the addresses.
    pub fn answers(self, resolver: &mut Resolver<'_>) -> Vec<(BinaryPlaces, SymbolBatch)> {
        let (places, questions): (Vec<BinaryPlaces>, Vec<AddressBatch>) = self.0.into_iter().unzip();
        places.into_iter().zip(resolver.resolve(questions)).collect()
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
        recorded_code: bpf_code(&metadata.features),
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
