//! The recording a command reads: its argument, and opening it.

use anyhow::Context as _;
use clap::Args;
use perffile::{Limits, Recording};
use readperf_pack::Unpacked;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The name under which perf itself writes recordings.
const DEFAULT: &str = "perf.data";

/// Whether a place is an address in an object store, and no path.
pub(crate) fn is_address(place: &Path) -> bool {
    place.as_os_str().as_encoded_bytes().starts_with(b"s3://")
}

/// How recordings are read: the same options wherever there is one, two or many.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Exit with 1, not 3, if anything is wrong with a recording, and leave no file behind
    #[arg(long)]
    pub(crate) strict: bool,

    /// Show no progress
    #[arg(long)]
    pub(crate) no_progress: bool,

    /// How many times their size compressed records may expand to [default: 8192, and 1 GiB in any case: perf writes none
    /// that go so far]
    #[arg(long, value_name = "TIMES")]
    max_expansion: Option<u64>,
}

/// Which recording to read.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct Input {
    /// The recording: a file, a directory, what `pack` made, or - for standard input [default: perf.data]
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,

    /// The recording, as perf takes it
    #[arg(short = 'i', long = "input", value_name = "FILE", conflicts_with = "file")]
    named: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) reading: Reading,

    /// Whether only errors are printed.
    #[arg(skip)]
    pub(crate) quiet: bool,

    /// What it is called, if the file is what was fetched from there.
    #[arg(skip)]
    fetched_from: Option<String>,

    /// What was unpacked, if it is an archive that `pack` made.
    #[arg(skip)]
    unpacked: Arc<OnceLock<Unpacked>>,
}

impl Input {
    /// A recording that is named elsewhere.
    pub(crate) fn of(file: PathBuf, reading: &Reading) -> Input {
        Input { file: Some(file), reading: reading.clone(), ..Input::default() }
    }

    /// A recording that was fetched into a file, and is called otherwise.
    #[cfg(feature = "sql")]
    pub(crate) fn fetched(file: PathBuf, from: String, reading: &Reading) -> Input {
        Input { fetched_from: Some(from), ..Input::of(file, reading) }
    }

    /// The folder in which it lies beside other files; nothing for standard input, and for what was fetched.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let path = self.path().filter(|_| self.fetched_from.is_none())?;
        path.parent().map(Path::to_owned)
    }

    /// The file that was named.
    fn said(&self) -> Option<&PathBuf> {
        self.file.as_ref().or(self.named.as_ref())
    }

    /// The path; nothing for standard input.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        let path = self.said().cloned().unwrap_or_else(|| DEFAULT.into());
        (path.as_os_str() != "-").then_some(path)
    }

    /// Another recording, read in the same way.
    pub(crate) fn instead(&self, file: PathBuf) -> Input {
        Input { file: Some(file), named: None, unpacked: Arc::default(), ..self.clone() }
    }

    /// This input with a file, if none was named: for words that turn out to be no value of the option before them.
    pub(crate) fn or_file(&self, file: &str) -> Option<Input> {
        self.said().is_none().then(|| Input {
            file: Some(file.into()),
            unpacked: Arc::default(),
            ..self.clone()
        })
    }

    /// The recording as the user named it.
    pub(crate) fn name(&self) -> String {
        let path = || self.path().map(|path| path.display().to_string());
        self.fetched_from.clone().or_else(path).unwrap_or_else(|| "standard input".to_owned())
    }

    /// Whether a path names the recording, or a file of it: by device and inode, so that links do not deceive.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        let id = |file: std::fs::Metadata| (file.dev(), file.ino());
        let identity = |path: &Path| std::fs::metadata(path).ok().map(id);
        let Some(output) = identity(path) else { return false };
        let Some(input) = self.path() else {
            let stdin = io::stdin().as_fd().try_clone_to_owned().map(File::from);
            let read = stdin.and_then(|stdin| stdin.metadata()).ok().filter(|read| read.is_file());
            return read.map(id) == Some(output);
        };
        let files = std::fs::read_dir(&input).into_iter().flatten().flatten().map(|entry| entry.path());
        std::iter::once(input.clone()).chain(files).any(|file| identity(&file) == Some(output))
    }

    /// Opens it for a program to read the answer: what is no recording gets an answer of the usual form too, with an issue
    /// that says why nothing is in it.
    pub(crate) fn open_for_program(&self) -> anyhow::Result<Recording> {
        self.open().or_else(|error| match error.downcast_ref().and_then(Recording::nothing) {
            Some(nothing) => Ok(nothing),
            None => Err(error),
        })
    }

    /// What the recording was packed with, if it was: a temporary folder that is there as long as this input or a copy of it.
    pub(crate) fn unpacked(&self) -> anyhow::Result<Option<&Unpacked>> {
        let Some(path) = self.path().filter(|_| self.unpacked.get().is_none()) else {
            return Ok(self.unpacked.get());
        };
        let unpacked = Unpacked::open(&path).with_context(|| self.name())?;
        Ok(unpacked.map(|unpacked| self.unpacked.get_or_init(|| unpacked)))
    }

    fn limits(&self) -> Limits {
        let mut limits = Limits::default();
        if let Some(times) = self.reading.max_expansion {
            (limits.expansion, limits.expanded_bytes) = (times, 0);
        }
        limits
    }

    /// Opens it.
    pub(crate) fn open(&self) -> anyhow::Result<Recording> {
        let limits = self.limits();
        let opened = match self.path() {
            Some(path) if is_address(&path) => {
                anyhow::bail!(
                    "{}: only readperf sql reads what is in an object store: copy it first",
                    path.display()
                )
            }
            Some(path) => {
                let unpacked = self.unpacked()?;
                Recording::open_with(unpacked.map_or(path, Unpacked::recording), limits)
            }
            // The descriptor itself, not what buffers it: a file is mapped, not copied.
            None => {
                let stdin = io::stdin().as_fd().try_clone_to_owned().context("standard input")?;
                Recording::from_file(File::from(stdin), "reading", limits)
            }
        };
        let hint = if self.said().is_none() { " (no FILE was given; see readperf --help)" } else { "" };
        opened.with_context(|| format!("{}{hint}", self.name()))
    }
}
