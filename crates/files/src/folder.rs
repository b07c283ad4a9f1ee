//! An output folder that is whole or not there.

use crate::scratch::{Listed, list_new, undisturbed};
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// Beginning of the names of folders that are not complete yet.
const PREFIX: &str = ".readperf-";

/// An output folder. Under its name it is there once it is published; it goes with this value before.
#[derive(Debug)]
pub struct WholeFolder {
    place: PathBuf,
    scratch: PathBuf,
    _listed: Listed,
}

impl WholeFolder {
    /// Begins an output for its user alone. There must be nothing of that name.
    ///
    /// # Errors
    /// What the operating system says; something of that name.
    pub fn create(place: &Path) -> io::Result<WholeFolder> {
        if place.symlink_metadata().is_ok() {
            return Err(is_there());
        }
        let parent = place.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let make = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path);
        let (scratch, listed) = list_new(|| {
            let made = tempfile::Builder::new().prefix(PREFIX).make_in(parent, make)?;
            made.into_temp_path().keep().map_err(|error| error.error)
        })?;
        Ok(WholeFolder { place: place.to_owned(), scratch, _listed: listed })
    }

    /// Where to write to.
    pub fn path(&self) -> &Path {
        &self.scratch
    }

    /// Gives the folder its name.
    ///
    /// # Errors
    /// What the operating system says; the folder is gone then.
    pub fn publish(self) -> io::Result<()> {
        undisturbed(|| {
            // A rename would take the place of an empty folder.
            if self.place.symlink_metadata().is_ok() {
                return Err(is_there());
            }
            fs::rename(&self.scratch, &self.place)
        })
    }
}

fn is_there() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "is there already, and a folder is never replaced")
}

impl Drop for WholeFolder {
    fn drop(&mut self) {
        // It is not there any more if it was published.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// A temporary folder. It goes with this value, with all that is in it.
#[derive(Debug)]
pub struct ScratchFolder {
    path: PathBuf,
    _listed: Listed,
}

impl ScratchFolder {
    /// A new folder where the system has its temporary files, for its user alone.
    ///
    /// # Errors
    /// What the operating system says.
    pub fn create() -> io::Result<ScratchFolder> {
        let (path, listed) = list_new(|| {
            let make = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path);
            let made = tempfile::Builder::new().prefix(PREFIX).make(make)?;
            made.into_temp_path().keep().map_err(|error| error.error)
        })?;
        Ok(ScratchFolder { path, _listed: listed })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_being_published_there_is_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("out");
        let folder = WholeFolder::create(&place).unwrap();
        fs::write(folder.path().join("data"), "half").unwrap();
        drop(folder);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);

        let folder = WholeFolder::create(&place).unwrap();
        fs::write(folder.path().join("data"), "whole").unwrap();
        folder.publish().unwrap();
        assert_eq!(fs::read_to_string(place.join("data")).unwrap(), "whole");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("out");
        let folder = WholeFolder::create(&place).unwrap();
        fs::create_dir(&place).unwrap();
        assert_eq!(folder.publish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(WholeFolder::create(&place).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
