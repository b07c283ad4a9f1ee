//! An archive put into a folder, for what has to be there as files.
//!
//! Nothing gets out of the folder, and what comes out is bounded: an archive may be anybody's. What is neither a file, a directory nor
//! a link within it is an error, since an archive that was made to be unpacked has no such thing.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::index::{inside, leads_up_only_first};
use super::members::{self, Kind, Member};
use super::{explained, is_about_the_system};
use crate::compressed::Compression;

/// Most bytes that may come out: so many, and as many times the size of the archive.
const MAX_BYTES: (u64, u64) = (1 << 30, 100);

/// The same for zeros in whole blocks, which take no room: binaries without their code have many.
const MAX_HOLES: (u64, u64) = (16 << 30, 100);

/// Most bytes behind the end mark of an archive that are looked at: usually it is filled up to some KiB.
const MAX_REST: u64 = 1 << 20;

/// Most members.
const MAX_MEMBERS: u64 = 1 << 20;

/// What is a hole where it is all zeros.
const BLOCK: usize = 4096;

/// What is to be done with a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is unpacked.
    Yes,
    /// It is passed over.
    No,
    /// It is passed over, and so is all that comes after it.
    NothingMore,
}

/// Unpacks the members of a tar file, which may be compressed with gzip, bzip2, xz or zstd, into a folder. `wanted` is asked about each by its
/// path in the archive.
///
/// # Errors
///
/// What the operating system says; an archive that is damaged, has members that lead out of it or are no files, or more in it than its
/// size makes believable. What was unpacked before is there then.
pub fn unpack(archive: &Path, into: &Path, mut wanted: impl FnMut(&Path) -> Wanted) -> io::Result<()> {
    let file = File::open(archive)?;
    let size = file.metadata()?.len();
    let most = |(fixed, times): (u64, u64)| size.saturating_mul(times).saturating_add(fixed);
    let mut unpacking =
        Unpacking { into, links: BTreeSet::new(), data_left: most(MAX_BYTES), holes_left: most(MAX_HOLES) };
    let (mut seen, mut is_whole) = (0_u64, true);
    let mut from = decompressed(BufReader::new(file))?;
    let done = members::each(&mut from, &mut |member, body| {
        seen += 1;
        if seen > MAX_MEMBERS {
            return Err(refused(&member.path, "the archive has too many members"));
        }
        let Some(path) = inside(&member.path) else {
            return match member.kind {
                Kind::Directory => Ok(true),
                _ => Err(refused(&member.path, "it leads out of the archive")),
            };
        };
        match wanted(&path) {
            Wanted::Yes => unpacking.take(&path, &member, body).map(|()| true),
            // Its bytes count, too: they have to be gone through.
            Wanted::No => unpacking.pass_over(&path, member.size).map(|()| true),
            Wanted::NothingMore => {
                is_whole = false;
                Ok(false)
            }
        }
    });
    // What is behind the end mark is little, but for the checksum of all.
    let rest = done.and_then(|()| match is_whole {
        true => io::copy(&mut from.take(MAX_REST), &mut io::sink()).map(drop),
        false => Ok(()),
    });
    rest.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidInput => error,
        _ if is_about_the_system(&error) => error,
        _ => explained(error, usize::try_from(seen).unwrap_or(usize::MAX)),
    })
}

/// The path of the first member, if the file is a tar file that is compressed with zstd.
pub fn first_member(archive: &mut File) -> Option<PathBuf> {
    let mut magic = [0; 4];
    archive.read_exact(&mut magic).ok()?;
    if Compression::of(&magic) != Some(Compression::Zstd) {
        return None;
    }
    archive.rewind().ok()?;
    let mut first = None;
    let mut from = decompressed(archive).ok()?;
    members::each(&mut from, &mut |member, _| {
        first = Some(member.path);
        Ok(false)
    })
    .ok()?;
    first
}

fn decompressed<'r>(mut from: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut start = Vec::new();
    (&mut from).take(8).read_to_end(&mut start)?;
    let compression = Compression::of(&start);
    let from = io::Cursor::new(start).chain(from);
    match compression {
        Some(compression) => compression.reader(from),
        None => Ok(Box::new(from)),
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    let path: String = path.display().to_string().chars().take(200).collect();
    io::Error::new(io::ErrorKind::InvalidInput, format!("{path}: {why}; nothing of it is used"))
}

struct Unpacking<'i> {
    into: &'i Path,
    /// Nothing is put below these.
    links: BTreeSet<PathBuf>,
    data_left: u64,
    holes_left: u64,
}

impl Unpacking<'_> {
    fn take(&mut self, path: &Path, member: &Member, body: &mut dyn Read) -> io::Result<()> {
        if path.ancestors().any(|above| self.links.contains(above)) {
            return Err(refused(path, "it lies behind a link"));
        }
        let place = self.into.join(path);
        let parent =
            if matches!(member.kind, Kind::Directory) { Some(place.as_path()) } else { place.parent() };
        if let Some(parent) = parent {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        let another = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => refused(path, "there is another member of its name"),
            _ => error,
        };
        match &member.kind {
            Kind::Directory => Ok(()),
            Kind::File => {
                let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
                let file = options.open(&place).map_err(another)?;
                self.file(path, file, member, body)
            }
            Kind::SymbolicLink(target) => {
                let beside = path.parent().unwrap_or(Path::new("")).join(target);
                if !leads_up_only_first(target) || inside(&beside).is_none() {
                    return Err(refused(path, "a link that leads out of the archive"));
                }
                symlink(target, &place).map_err(another)?;
                self.links.insert(path.to_owned());
                Ok(())
            }
            Kind::HardLink(_) | Kind::Sparse | Kind::Other => {
                Err(refused(path, "neither a file, a directory nor a symbolic link"))
            }
        }
    }

    fn pass_over(&mut self, path: &Path, bytes: u64) -> io::Result<()> {
        self.holes_left = self.holes_left.checked_sub(bytes).ok_or_else(|| too_much(path))?;
        Ok(())
    }

    /// Writes what is not zero.
    fn file(&mut self, path: &Path, mut file: File, member: &Member, body: &mut dyn Read) -> io::Result<()> {
        let mut read = 0_u64;
        let mut block = Vec::with_capacity(BLOCK);
        loop {
            block.clear();
            let got = (&mut *body).take(BLOCK as u64).read_to_end(&mut block)? as u64;
            if got == 0 {
                break;
            }
            read += got;
            let is_hole = block.iter().all(|byte| *byte == 0);
            let left = if is_hole { &mut self.holes_left } else { &mut self.data_left };
            *left = left.checked_sub(got).ok_or_else(|| too_much(path))?;
            match is_hole {
                true => drop(file.seek(SeekFrom::Start(read))?),
                false => file.write_all(&block)?,
            }
        }
        if read < member.size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        file.set_len(read)?;
        // When a source file was written says whether it is the one that was compiled.
        let modified = UNIX_EPOCH.checked_add(Duration::from_secs(member.modified));
        modified.map_or(Ok(()), |modified| file.set_modified(modified))
    }
}

fn too_much(path: &Path) -> io::Error {
    refused(path, "more than is believable would come out of the archive for its size")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tar::{Builder, EntryType, Header};

    /// Path, kind, where it leads, contents.
    type Packed<'m> = (&'m str, EntryType, &'m str, &'m [u8]);

    fn archive(members: &[Packed<'_>]) -> tempfile::NamedTempFile {
        let mut builder = Builder::new(Vec::new());
        for (path, kind, link, bytes) in members {
            let mut header = Header::new_gnu();
            // As it is: the builder would refuse what is to be refused here.
            header.as_old_mut().name[..path.len()].copy_from_slice(path.as_bytes());
            header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
            header.set_entry_type(*kind);
            header.set_size(bytes.len() as u64);
            header.set_mtime(7);
            header.set_cksum();
            builder.append(&header, *bytes).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let packed = zstd::encode_all(&builder.into_inner().unwrap()[..], 1).unwrap();
        fs::write(file.path(), packed).unwrap();
        file
    }

    const FILE: EntryType = EntryType::Regular;
    const LINK: EntryType = EntryType::Symlink;

    #[test]
    fn files_links_and_holes() {
        let mut binary = vec![0; 3 * BLOCK];
        binary[BLOCK] = 1;
        let packed = archive(&[
            ("m.json", FILE, "", b"{}"),
            ("./root/usr/prog", FILE, "", &binary),
            (".debug/aa/bb", LINK, "../../root/usr", b""),
            ("later", FILE, "", b"x"),
        ]);
        let folder = tempfile::tempdir().unwrap();
        unpack(packed.path(), folder.path(), |path| match path.to_str() {
            Some("later") => Wanted::NothingMore,
            Some("m.json") => Wanted::No,
            _ => Wanted::Yes,
        })
        .unwrap();
        assert_eq!(fs::read(folder.path().join(".debug/aa/bb/prog")).unwrap(), binary);
        let written = fs::metadata(folder.path().join("root/usr/prog")).unwrap().modified().unwrap();
        assert_eq!(written, UNIX_EPOCH + Duration::from_secs(7));
        assert!(!folder.path().join("m.json").exists() && !folder.path().join("later").exists());
        let first = first_member(&mut File::open(packed.path()).unwrap());
        assert_eq!(first, Some(PathBuf::from("m.json")));
    }

    #[test]
    fn what_is_hostile_is_refused() {
        let hostile: &[(&[Packed<'_>], &str)] = &[
            (&[("../x", FILE, "", b"x")], "leads out"),
            (&[("a/../../x", FILE, "", b"x")], "leads out"),
            (&[("a", LINK, "/etc", b"")], "leads out"),
            (&[("a", LINK, "../etc", b"")], "leads out"),
            (&[("d/a", LINK, "b/../../../etc", b"")], "leads out"),
            (&[("a", LINK, "b", b""), ("a/x", FILE, "", b"x")], "behind a link"),
            (&[("a", FILE, "", b"x"), ("a", FILE, "", b"y")], "another member"),
            (&[("a", LINK, "b", b""), ("a", FILE, "", b"y")], "behind a link"),
            (&[("a", EntryType::Fifo, "", b"")], "neither a file"),
            (&[("a", EntryType::Char, "", b"")], "neither a file"),
            (&[("a", FILE, "", b"x"), ("b", EntryType::Link, "a", b"")], "neither a file"),
        ];
        for (members, why) in hostile {
            let folder = tempfile::tempdir().unwrap();
            let into = folder.path().join("in");
            fs::create_dir(&into).unwrap();
            let error = unpack(archive(members).path(), &into, |_| Wanted::Yes).unwrap_err();
            assert!(error.to_string().contains(why), "{members:?}: {error}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{members:?}");
        }
    }

    #[test]
    fn a_bomb_ends_early() {
        let folder = tempfile::tempdir().unwrap();
        let mut unpacking =
            Unpacking { into: folder.path(), links: BTreeSet::new(), data_left: 10_000, holes_left: 10_000 };
        let member = |size| Member { path: "x".into(), kind: Kind::File, size, modified: 0 };
        for (name, byte) in [("ones", 1), ("zeros", 0)] {
            let mut body = io::repeat(byte).take(1 << 40);
            let error = unpacking.take(Path::new(name), &member(1 << 40), &mut body).unwrap_err();
            assert!(error.to_string().contains("believable"), "{error}");
        }
    }

    #[test]
    fn what_is_cut_is_told() {
        let whole = archive(&[("a", FILE, "", &[7; 5000])]);
        let bytes = fs::read(whole.path()).unwrap();
        fs::write(whole.path(), &bytes[..bytes.len() / 2]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert!(unpack(whole.path(), folder.path(), |_| Wanted::Yes).is_err());
        assert!(unpack(Path::new("/nonexistent"), folder.path(), |_| Wanted::Yes).is_err());
    }
}
