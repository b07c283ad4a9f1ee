//! The members of a tar file, one after the other, as they come out of a stream.
//!
//! The crate `tar` knows what a header says; the run from one to the next is made here, because that of the crate holds a long
//! name of any length in memory, and gives out the holes of a sparse member as if they were there.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use tar::{EntryType, GnuExtSparseHeader, Header};

/// Headers and contents are filled up to this.
const BLOCK: usize = 512;

/// Longest path (PATH_MAX of Linux), and longest extended header, in bytes.
const MAX_PATH_BYTES: u64 = 4096;
const MAX_EXTENDED_BYTES: u64 = 1 << 20;

/// What stands in an archive under a name.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    /// How many bytes it has, by its header.
    pub(super) size: u64,
    /// When it was written, in seconds since 1970; 0 if that is not told.
    pub(super) modified: u64,
}

#[derive(Debug)]
pub(super) enum Kind {
    File,
    Directory,
    /// To a path beside it.
    SymbolicLink(PathBuf),
    /// To another member, by its path in the archive.
    HardLink(PathBuf),
    /// A file with holes, whose contents are packed in some other way.
    Sparse,
    /// A device, a pipe or what else is no file.
    Other,
}

/// What is done with each member: it may read the contents, and says whether to go on.
pub(super) type Visit<'v> = dyn FnMut(Member, &mut dyn Read) -> io::Result<bool> + 'v;

/// What extended headers say of the member behind them.
#[derive(Default)]
struct Extended {
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    is_sparse: bool,
}

/// Goes over the members up to the end mark, or until `visit` does not want to go on.
pub(super) fn each(from: &mut dyn Read, visit: &mut Visit<'_>) -> io::Result<()> {
    let mut extended = Extended::default();
    loop {
        let mut header = Header::new_old();
        from.read_exact(header.as_mut_bytes())?;
        if header.as_bytes().iter().all(|byte| *byte == 0) {
            return Ok(());
        }
        if header.cksum().map_err(is_no_header)? != checksum(&header) {
            return Err(damaged("no header where one should be"));
        }
        let size = header.entry_size().map_err(is_no_header)?;
        match header.entry_type() {
            EntryType::GNULongName => extended.path = Some(name(from, size)?),
            EntryType::GNULongLink => extended.link = Some(name(from, size)?),
            EntryType::XHeader => extended.read(&contents(from, size, MAX_EXTENDED_BYTES)?),
            // What holds for all members: comments, and nothing that matters here.
            EntryType::XGlobalHeader => skip(from, filled_up(size)?)?,
            kind => {
                skip_map_of_holes(from, &header)?;
                let about = std::mem::take(&mut extended);
                let size = about.size.unwrap_or(size);
                let rest = filled_up(size)?;
                let mut body = from.take(size);
                let go_on = visit(about.member(&header, kind, size), &mut body)?;
                let read = size.saturating_sub(body.limit());
                if !go_on {
                    return Ok(());
                }
                skip(from, rest.saturating_sub(read))?;
            }
        }
    }
}

/// What is no number where a header has one: the bytes are wrong, whoever says it.
fn is_no_header(error: io::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The sum of all bytes, with blanks where the sum itself stands.
fn checksum(header: &Header) -> u32 {
    let bytes = header.as_bytes().iter().enumerate();
    bytes.map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u32::from(*byte) }).sum()
}

fn damaged(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// With what fills it up to whole blocks.
fn filled_up(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(BLOCK as u64).ok_or_else(|| damaged("a member of more bytes than can be"))
}

fn skip(from: &mut dyn Read, bytes: u64) -> io::Result<()> {
    let skipped = io::copy(&mut from.take(bytes), &mut io::sink())?;
    if skipped < bytes { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// The contents of a header that is about the next member.
fn contents(from: &mut dyn Read, size: u64, most: u64) -> io::Result<Vec<u8>> {
    if size > most {
        return Err(damaged("an extended header of more bytes than can be"));
    }
    let mut bytes = Vec::new();
    from.take(size).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    skip(from, filled_up(size)?.saturating_sub(read))?;
    Ok(bytes)
}

fn name(from: &mut dyn Read, size: u64) -> io::Result<Vec<u8>> {
    let mut name = contents(from, size, MAX_PATH_BYTES)?;
    name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
    Ok(name)
}

/// GNU's form of a file with holes has the list of what is there in its header, and if that is too long behind it.
fn skip_map_of_holes(from: &mut dyn Read, header: &Header) -> io::Result<()> {
    let is_sparse = header.entry_type().is_gnu_sparse();
    let mut goes_on = is_sparse && header.as_gnu().is_some_and(|header| header.is_extended());
    while goes_on {
        let mut more = GnuExtSparseHeader::new();
        from.read_exact(more.as_mut_bytes())?;
        goes_on = more.is_extended();
    }
    Ok(())
}

impl Extended {
    /// Records `LENGTH KEY=VALUE\n` (POSIX, pax). What is not of the form is passed over.
    fn read(&mut self, mut bytes: &[u8]) {
        let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<u64>().ok();
        while let Some(blank) = bytes.iter().position(|byte| *byte == b' ') {
            let len = bytes.get(..blank).and_then(number).and_then(|len| usize::try_from(len).ok());
            let Some((record, rest)) = len.and_then(|len| bytes.split_at_checked(len)) else { return };
            let record = record.get(blank.saturating_add(1)..).unwrap_or_default();
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            let equals = record.iter().position(|byte| *byte == b'=').unwrap_or(record.len());
            let (key, value) = record.split_at(equals);
            let value = value.get(1..).unwrap_or_default();
            match key {
                b"path" => self.path = Some(value.to_vec()),
                b"linkpath" => self.link = Some(value.to_vec()),
                b"size" => self.size = number(value),
                _ if key.starts_with(b"GNU.sparse.") => {
                    self.is_sparse = true;
                    if key == b"GNU.sparse.name" {
                        self.path = Some(value.to_vec());
                    }
                }
                _ => {}
            }
            bytes = rest;
        }
    }

    fn member(self, header: &Header, kind: EntryType, size: u64) -> Member {
        let path = |bytes: &[u8]| PathBuf::from(OsStr::from_bytes(bytes));
        let name = self.path.as_deref().map_or_else(|| path(&header.path_bytes()), path);
        let link = || match (&self.link, header.link_name_bytes()) {
            (Some(link), _) => path(link),
            (None, link) => path(&link.unwrap_or_default()),
        };
        let kind = match kind {
            _ if self.is_sparse || kind.is_gnu_sparse() => Kind::Sparse,
            EntryType::Directory => Kind::Directory,
            EntryType::Regular | EntryType::Continuous => Kind::File,
            EntryType::Symlink => Kind::SymbolicLink(link()),
            EntryType::Link => Kind::HardLink(link()),
            _ => Kind::Other,
        };
        Member { path: name, kind, size, modified: header.mtime().unwrap_or(0) }
    }
}
