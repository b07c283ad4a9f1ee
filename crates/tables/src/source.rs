//! Which recording it is: known by its content, so that the same one under another name is the same.

use crate::error::{Error, Result};
use crate::id::{Id, Key};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use twox_hash::xxhash3_128;

/// Which recording it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its name in `profiles.source`: mostly the path.
    pub name: String,
    /// The hash of its content.
    pub profile_id: Id,
    /// How long it is, bytes.
    pub bytes: u64,
}

impl Source {
    /// The recording at a path: a file, or a directory with the files of one.
    ///
    /// # Errors
    /// What the operating system says; something else than a file or a directory, whose content can be read only once.
    pub fn at(path: &Path) -> Result<Source> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| Error::Io { path, error }
        };
        let name = path.to_string_lossy().into_owned();
        let metadata = path.metadata().map_err(failed(path))?;
        if metadata.is_file() {
            let (profile_id, bytes) = hash_file(path).map_err(failed(path))?;
            return Ok(Source { name, profile_id, bytes });
        }
        if !metadata.is_dir() {
            let error = io::Error::other(
                "its content can be read only once: tables are made of files and directories",
            );
            return Err(failed(path)(error));
        }
        let mut key = Key::new("directory");
        let mut bytes = 0;
        for file in files_of(path).map_err(failed(path))? {
            let (id, length) = hash_file(&file).map_err(failed(&file))?;
            key.text(file.file_name().map(|name| name.as_encoded_bytes()));
            key.id(Some(id));
            bytes += length;
        }
        Ok(Source { name, profile_id: key.end(), bytes })
    }
}

/// The files in a directory, by name; what is deeper in it are copies of the kernel.
fn files_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = path.read_dir()?.map(|entry| Ok(entry?.path()));
    let mut files: Vec<PathBuf> = entries.collect::<io::Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort_unstable();
    Ok(files)
}

fn hash_file(path: &Path) -> io::Result<(Id, u64)> {
    const PIECE: usize = 1 << 18;
    let mut file = File::open(path)?;
    let mut hasher = xxhash3_128::Hasher::new();
    let (mut piece, mut length) = (vec![0; PIECE], 0);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((Id::of_hash(hasher.finish_128()), length)),
            Ok(read) => {
                hasher.write(piece.get(..read).unwrap_or_default());
                length += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_counts_and_not_the_name() {
        let dir = tempfile::tempdir().unwrap();
        let of = |name: &str, bytes: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            Source::at(&path).unwrap()
        };
        let long = vec![7; 1 << 20];
        let (a, b, c) = (of("a", &long), of("b", &long), of("c", b"c"));
        assert_eq!((a.profile_id, a.bytes), (b.profile_id, 1 << 20));
        assert_eq!(a.profile_id, Id::of(&long));
        assert_ne!(a.profile_id, c.profile_id);
        let all = Source::at(dir.path()).unwrap();
        assert_eq!(all.bytes, (2 << 20) + 1);
        std::fs::rename(dir.path().join("a"), dir.path().join("d")).unwrap();
        assert_ne!(Source::at(dir.path()).unwrap().profile_id, all.profile_id);
        assert!(matches!(Source::at(Path::new("/dev/null")), Err(Error::Io { .. })));
    }
}
