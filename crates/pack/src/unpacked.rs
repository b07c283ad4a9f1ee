//! An archive that is read: its recording first, and the rest when names are asked for.

use crate::manifest::Manifest;
use crate::{CACHE, MANIFEST, RECORDING, ROOT, SOURCES};
use readperf_files::ScratchFolder;
use readperf_symbols::{Origins, Wanted, first_member, unpack};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// An archive in a temporary folder, which goes with this value.
#[derive(Debug)]
pub struct Unpacked {
    archive: PathBuf,
    folder: ScratchFolder,
    origins: Origins,
    /// Whether more than the recording is there.
    is_complete: Mutex<bool>,
}

impl Unpacked {
    /// Unpacks the recording, if the file is such an archive.
    ///
    /// # Errors
    /// What the operating system says; an archive that is damaged, hostile, or of a later form.
    pub fn open(archive: &Path) -> io::Result<Option<Unpacked>> {
        // A pipe must not be opened: what is read of it is gone.
        let is_it = fs::metadata(archive).is_ok_and(|found| found.is_file())
            && File::open(archive).is_ok_and(|mut file| first_member(&mut file) == Some(MANIFEST.into()));
        if !is_it {
            return Ok(None);
        }
        let folder = ScratchFolder::create()?;
        unpack(archive, folder.path(), |path| match path.starts_with(RECORDING) {
            _ if path == Path::new(MANIFEST) => Wanted::Yes,
            true => Wanted::Yes,
            false => Wanted::NothingMore,
        })?;
        let files = Manifest::read(&folder.path().join(MANIFEST))?.origins(folder.path());
        let origins = Origins { root: folder.path().join(ROOT), files };
        let unpacked =
            Unpacked { archive: archive.to_owned(), folder, origins, is_complete: Mutex::new(false) };
        match unpacked.recording().exists() {
            true => Ok(Some(unpacked)),
            false => Err(io::Error::new(io::ErrorKind::InvalidData, "there is no recording in it")),
        }
    }

    /// The recording.
    pub fn recording(&self) -> PathBuf {
        self.folder.path().join(RECORDING)
    }

    /// Unpacks what else is there.
    ///
    /// # Errors
    /// As of [`Unpacked::open`].
    pub fn complete(&self) -> io::Result<()> {
        let mut is_complete = self.is_complete.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_complete {
            unpack(&self.archive, self.folder.path(), |path| {
                let is_there = path == Path::new(MANIFEST) || path.starts_with(RECORDING);
                if is_there { Wanted::No } else { Wanted::Yes }
            })?;
            *is_complete = true;
        }
        Ok(())
    }

    /// The build-id cache.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join(CACHE)
    }

    /// The root of the recorded machine, with what is found by its path.
    pub fn root(&self) -> PathBuf {
        self.folder.path().join(ROOT)
    }

    /// Where its files come from.
    pub fn origins(&self) -> &Origins {
        &self.origins
    }

    /// The kernel symbols, where nothing was recorded that tells which kernel it was.
    pub fn kernel_symbols(&self) -> Option<PathBuf> {
        Some(self.root().join("proc/kallsyms")).filter(|list| list.is_file())
    }

    /// The source files.
    pub fn sources(&self) -> PathBuf {
        self.folder.path().join(SOURCES)
    }
}
