//! What will be in an archive.

use crate::layout;
use crate::tables::only_tables;
use crate::{CACHE, RECORDING};
use readperf_symbols::{BuildId, FileBytes, Role, UsedFile};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// What a member is, for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The recording, or a file of it.
    Recording,
    /// A file that was mapped.
    Binary,
    /// Symbols and debug information in files of their own.
    DebugFile,
    /// Symbols of the kernel: lists, images, modules.
    Kernel,
    /// Perf maps and jitdumps.
    Generated,
    /// A source file.
    Source,
}

impl Kind {
    /// All, in the order in which they are told.
    pub const ALL: [Kind; 6] =
        [Kind::Recording, Kind::Binary, Kind::DebugFile, Kind::Kernel, Kind::Generated, Kind::Source];

    /// Its name, for one and for several.
    pub fn name(self, count: usize) -> &'static str {
        match (self, count) {
            (Kind::Recording, _) => "recording",
            (Kind::Binary, 1) => "binary",
            (Kind::Binary, _) => "binaries",
            (Kind::DebugFile, 1) => "debug file",
            (Kind::DebugFile, _) => "debug files",
            (Kind::Kernel, 1) => "file with symbols of the kernel",
            (Kind::Kernel, _) => "files with symbols of the kernel",
            (Kind::Generated, 1) => "list of generated code",
            (Kind::Generated, _) => "lists of generated code",
            (Kind::Source, 1) => "source file",
            (Kind::Source, _) => "source files",
        }
    }

    fn of(used: &UsedFile) -> Kind {
        match used.role {
            Role::DebugFile | Role::Supplement | Role::SplitDebug => Kind::DebugFile,
            Role::KernelImage | Role::Module | Role::KernelList => Kind::Kernel,
            Role::PerfMap | Role::JitDump => Kind::Generated,
            _ => Kind::Binary,
        }
    }
}

/// A file in the archive.
#[derive(Clone, Debug)]
pub struct Member {
    /// Its path in the archive.
    pub path: PathBuf,
    /// What it is.
    pub kind: Kind,
    /// Where it comes from.
    pub from: PathBuf,
    /// The path of the recorded machine, or the one that the compiler wrote.
    pub recorded: PathBuf,
    /// The build-id by which it was found.
    pub build_id: Option<BuildId>,
    /// How many bytes it has.
    pub bytes: u64,
    /// When it was written, in seconds since 1970.
    pub modified: u64,
    pub(crate) content: Content,
}

#[derive(Clone)]
pub(crate) enum Content {
    /// It is read when it is packed.
    File,
    Bytes(FileBytes),
}

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Content::File => "File",
            Content::Bytes(_) => "Bytes",
        })
    }
}

/// What will be in an archive.
#[derive(Debug, Default)]
pub struct Contents {
    pub(crate) members: Vec<Member>,
    /// Links, and where they lead, both as paths in the archive.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    pub(crate) only_symbols: bool,
    /// What is missing, in sentences.
    pub(crate) missing: Vec<String>,
    taken: FxHashSet<PathBuf>,
    folders: FxHashMap<BuildId, PathBuf>,
}

impl Contents {
    /// With nothing but a recording: a file, or a directory with all files in it. With `only_symbols` binaries that are added go in
    /// [without their code](crate::only_tables).
    ///
    /// # Errors
    /// What the operating system says.
    pub fn new(recording: &Path, only_symbols: bool) -> io::Result<Contents> {
        let mut contents = Contents { only_symbols, ..Contents::default() };
        contents.add_recording(recording, Path::new(RECORDING))?;
        Ok(contents)
    }

    fn add_recording(&mut self, from: &Path, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(from)?;
        if !metadata.is_dir() {
            self.members.push(Member {
                path: path.to_owned(),
                kind: Kind::Recording,
                from: from.to_owned(),
                recorded: PathBuf::new(),
                build_id: None,
                bytes: metadata.len(),
                modified: modified(&metadata),
                content: Content::File,
            });
            return Ok(());
        }
        let mut names =
            fs::read_dir(from)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
        names.sort();
        names.into_iter().try_for_each(|name| self.add_recording(&from.join(&name), &path.join(&name)))
    }

    /// Adds a file that was used.
    pub fn add_used(&mut self, used: &UsedFile) {
        let folders = &mut self.folders;
        let places = layout::places(used, |build_id, folder| {
            // What belongs to a build-id is together, whatever it is called in one file or the other.
            folders.entry(*build_id).or_insert(folder).clone()
        });
        let Some(path) = places.into_iter().find(|place| !self.taken.contains(place)) else {
            // The same file may have been used twice, as a binary that is mapped under two names.
            if !self.members.iter().any(|member| member.from == used.path) {
                self.missing.push(format!("{}: another file has its place", used.path.display()));
            }
            return;
        };
        self.link(used, &path);
        let (bytes, is_whole) = self.content(used);
        if self.only_symbols && is_whole && is_elf_role(used.role) {
            self.missing
                .push(format!("{}: packed whole: nothing tells tables from code", used.path.display()));
        }
        self.add(path, Kind::of(used), used, bytes);
    }

    /// Adds a file that belongs to one that was used and lies beside it, if there is one.
    pub fn add_beside(&mut self, used: &UsedFile, name: &str) {
        let beside = used.path.with_file_name(name);
        let list = layout::places(used, |id, folder| self.folders.get(id).cloned().unwrap_or(folder));
        let Some(path) = list.first().map(|list| list.with_file_name(name)) else { return };
        if let Ok(bytes) = fs::read(&beside)
            && !self.taken.contains(&path)
        {
            let used = UsedFile { path: beside, recorded: name.into(), ..used.clone() };
            self.add(path, Kind::of(&used), &used, Arc::new(bytes));
        }
    }

    /// Adds a source file: the path that the compiler wrote, where it was found, and its text.
    pub fn add_source(&mut self, recorded: &str, from: &Path, text: Arc<[u8]>) {
        let path = layout::source(recorded);
        if self.taken.contains(&path) {
            return;
        }
        let (recorded, from, bytes) = (recorded.into(), from.to_owned(), Arc::new(text) as FileBytes);
        let used = UsedFile { role: Role::Binary, recorded, build_id: None, path: from, bytes };
        self.add(path, Kind::Source, &used, Arc::clone(&used.bytes));
    }

    /// Notes that something is missing.
    pub fn add_missing(&mut self, sentence: String) {
        self.missing.push(sentence);
    }

    fn add(&mut self, path: PathBuf, kind: Kind, used: &UsedFile, bytes: FileBytes) {
        self.taken.insert(path.clone());
        self.members.push(Member {
            path,
            kind,
            from: used.path.clone(),
            recorded: used.recorded.clone(),
            build_id: used.build_id,
            bytes: (*bytes).as_ref().len() as u64,
            modified: File::open(&used.path)
                .and_then(|file| file.metadata())
                .map_or(0, |found| modified(&found)),
            content: Content::Bytes(bytes),
        });
    }

    /// Leads from the build-id to what is in the cache, and from the path of a binary.
    fn link(&mut self, used: &UsedFile, path: &Path) {
        let Some(build_id) = used.build_id.filter(|_| path.starts_with(CACHE)) else { return };
        let folder = path.parent().unwrap_or(Path::new(CACHE)).to_owned();
        let mut add = |link: PathBuf, to: PathBuf| {
            if self.taken.insert(link.clone()) {
                self.links.push((link, to));
            }
        };
        add(layout::cache_link(&build_id), folder);
        if used.role == Role::Binary && used.recorded.is_absolute() {
            add(layout::in_root(&used.recorded), path.to_owned());
        }
    }

    /// What goes into the archive of a file, and whether that is all of it.
    fn content(&self, used: &UsedFile) -> (FileBytes, bool) {
        let tables = || only_tables((*used.bytes).as_ref());
        match self.only_symbols && is_elf_role(used.role) {
            true => tables().map_or((Arc::clone(&used.bytes), true), |bytes| (Arc::new(bytes), false)),
            false => (Arc::clone(&used.bytes), true),
        }
    }

    /// The files, in the order of the archive.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// What is missing, in sentences.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// How many files of a kind there are, and how many bytes they have.
    pub fn size_of(&self, kind: Kind) -> (usize, u64) {
        let of_kind = self.members.iter().filter(|member| member.kind == kind);
        of_kind.fold((0, 0), |(count, bytes), member| (count + 1, bytes.saturating_add(member.bytes)))
    }
}

/// Whether files of this role may be reduced to tables. Those of split debug information have nothing else, and an index that counts on it.
fn is_elf_role(role: Role) -> bool {
    matches!(role, Role::Binary | Role::DebugFile | Role::Supplement | Role::KernelImage | Role::Module)
}

fn modified(metadata: &fs::Metadata) -> u64 {
    let since = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_secs())
}
