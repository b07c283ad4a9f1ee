//! Where the recording is written to: under its name it is there when it is complete.

use crate::input::Input;
use crate::out::{create, publish};
use anyhow::Context as _;
use perffile::write::{DirectoryTarget, FileTarget, PipeTarget, Target};
use perffile::{ByteOrder, Container, Recording};
use readperf_files::{WholeFile, WholeFolder};
use std::fs;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::path::Path;

/// What kind of recording is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Pipe,
    File,
    Directory,
}

impl From<Container> for Kind {
    fn from(container: Container) -> Kind {
        match container {
            Container::Pipe => Kind::Pipe,
            Container::File => Kind::File,
            Container::Directory => Kind::Directory,
        }
    }
}

/// Where it goes.
pub(super) enum Destination {
    /// A pipe stream to standard output.
    Standard,
    /// A file or a pipe stream in a file.
    File(WholeFile, Kind),
    Folder(WholeFolder, String),
}

impl Destination {
    /// Begins the output: refuses to write over the recording itself.
    pub(super) fn create(path: &Path, kind: Kind, input: &Input) -> anyhow::Result<Destination> {
        if path.as_os_str() == "-" {
            if kind != Kind::Pipe {
                anyhow::bail!("only a pipe stream can be written to standard output: give a name, or --pipe");
            }
            if io::stdout().is_terminal() {
                anyhow::bail!("a recording is nothing for a terminal: give a name with -o");
            }
            return Ok(Destination::Standard);
        }
        if kind == Kind::Directory {
            let name = path.display().to_string();
            let folder = WholeFolder::create(path).with_context(|| name.clone())?;
            return Ok(Destination::Folder(folder, name));
        }
        Ok(Destination::File(create(path, &[input])?, kind))
    }

    /// Whether it is a pipe stream.
    pub(super) fn is_pipe(&self) -> bool {
        matches!(self, Destination::Standard | Destination::File(_, Kind::Pipe))
    }

    /// Its name, as the user gave it.
    pub(super) fn name(&self) -> String {
        match self {
            Destination::Standard => "standard output".to_owned(),
            Destination::File(file, _) => file.path().display().to_string(),
            Destination::Folder(_, name) => name.clone(),
        }
    }

    /// What takes the records.
    pub(super) fn target(&self, order: ByteOrder) -> anyhow::Result<Box<dyn Target>> {
        Ok(match self {
            Destination::Standard => {
                // The descriptor itself: what is between would write with every end of a line.
                let out = fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
                Box::new(PipeTarget::new(out, order))
            }
            Destination::File(file, Kind::Pipe) => Box::new(PipeTarget::new(self.open(file)?, order)),
            Destination::File(file, _) => Box::new(FileTarget::new(self.open(file)?, order)),
            Destination::Folder(folder, _) => Box::new(DirectoryTarget::new(folder.path(), order)?),
        })
    }

    fn open(&self, file: &WholeFile) -> anyhow::Result<fs::File> {
        file.writer().with_context(|| self.name())
    }

    /// Copies of the kernel that lie in the directory that was read go along into another one.
    pub(super) fn add_kernel(&self, recording: &Recording) -> anyhow::Result<()> {
        let Destination::Folder(folder, _) = self else { return Ok(()) };
        let metadata = recording.metadata();
        let guests = metadata.guest_kcore_dirs.iter().map(|(_, path)| path);
        for from in metadata.kcore_dir.iter().chain(guests) {
            let to = folder.path().join(from.file_name().unwrap_or_default());
            copy_files(from, &to).with_context(|| from.display().to_string())?;
        }
        Ok(())
    }

    /// Puts it in its place.
    pub(super) fn publish(self) -> anyhow::Result<()> {
        match self {
            Destination::Standard => Ok(()),
            Destination::File(file, _) => publish([file]),
            Destination::Folder(folder, name) => folder.publish().context(name),
        }
    }
}

/// Copies the files of a folder; perf makes none in it that has folders.
fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        if path.is_file() {
            fs::copy(&path, to.join(path.file_name().unwrap_or_default()))?;
        }
    }
    Ok(())
}
