//! What `perf archive` packs: a tar file with the part of the build-id cache that a recording needs.
//!
//! In it are `.build-id/xx/yyyy`, links to directories or files, and what they lead to. The archive is gone through once when it
//! is opened, and nothing of it is kept but what its members are called. Those that are asked for are unpacked when they are,
//! all that are known to be wanted in one go: into memory, or into a file without a name, which goes with this program however
//! it ends.

mod index;
mod members;
mod unpack;

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};

use crate::build_id::BuildId;
use crate::compressed::Compression;
use crate::files::FileBytes;
use index::Index;
use members::{Kind, Member};
pub use unpack::{Wanted, first_member, unpack};

/// Most that may come out of an archive in one go, in bytes: so many, and as many times its size. Binaries become a tenth of
/// their size, and kernel symbols a twentieth.
const MAX_BYTES: (u64, u64) = (256 << 20, 100);

/// How often an archive is gone through to unpack something. What is known to be wanted is unpacked at once.
const MAX_PASSES: u32 = 64;

/// Members up to this size are unpacked into memory, and all of them together up to that.
const IN_MEMORY: (u64, u64) = (64 << 20, 256 << 20);

/// What belongs to a build-id in a recorder's cache and is of no use here: the memory of a kernel, a list of probes.
const UNUSED: [&str; 2] = ["kcore", "probes"];

/// `perf archive --all` packs the recording and, within, such a file with the symbols.
const INNER: [&str; 2] = ["perf.symbols", "perf.all"];

/// How many archives may be packed into each other.
const MAX_NESTING: u32 = 2;

/// An archive of binaries. What is in it is found below its own path, as if that were a directory:
/// see [`FileLoader::with_archives`](crate::FileLoader::with_archives).
#[derive(Debug)]
pub struct SymbolArchive {
    path: PathBuf,
    index: Index,
    /// What is wrong with it, if anything.
    damage: Option<String>,
    unpacked: Mutex<Unpacked>,
}

#[derive(Default)]
struct Unpacked {
    /// Numbers of members that the recording asks for.
    wanted: FxHashSet<u32>,
    files: FxHashMap<u32, Result<FileBytes, String>>,
    passes: u32,
    bytes_in_memory: u64,
    bytes_on_disk: u64,
}

impl std::fmt::Debug for Unpacked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacked").field("files", &self.files.len()).finish_non_exhaustive()
    }
}

/// Makes the bytes of a file that was unpacked: reads or maps it.
pub(crate) type ReadFile = dyn Fn(File) -> io::Result<FileBytes> + Send + Sync;

impl SymbolArchive {
    /// Looks what is in a tar file, which may be compressed with gzip, bzip2, xz or zstd. Of one that is damaged, what lies
    /// before the damage is used; see [`Self::damage`].
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no tar file, or nothing in it can be used.
    pub fn open(path: &Path) -> io::Result<SymbolArchive> {
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Err(io::Error::other("not a regular file"));
        }
        if metadata.len() == 0 {
            return Err(io::Error::other("an empty file or archive"));
        }
        let mut index = Index::default();
        let mut inner_damage = None;
        let gone_through = walk(path, &mut inner_damage, &mut |number, member, _| {
            index.add(number, member);
            Ok(true)
        });
        let damage = match gone_through {
            Err(error) if is_about_the_system(&error) => return Err(error),
            Err(error) => {
                let error = explained(error, index.members());
                if index.members() == 0 {
                    return Err(error);
                }
                Some(error.to_string())
            }
            Ok(()) => inner_damage,
        };
        if index.len() == 0 && index.refused() == index.members() {
            let what = match index.told() {
                None => "an empty file or archive".to_owned(),
                Some(told) => format!("an archive of which nothing can be used: {told}"),
            };
            return Err(io::Error::other(what));
        }
        Ok(SymbolArchive { path: path.to_owned(), index, damage, unpacked: Mutex::default() })
    }

    /// The directory to search, as one of [`Options::search_dirs`](crate::Options::search_dirs): the path of the archive.
    pub fn directory(&self) -> &Path {
        &self.path
    }

    /// How many members can never be asked for: devices, what leads out of the archive, what has the name of another member.
    pub fn refused(&self) -> usize {
        self.index.refused()
    }

    /// Says which those are, if there are any.
    pub fn told(&self) -> Option<String> {
        Some(format!("{}: {}", self.path.display(), self.index.told()?))
    }

    /// What is wrong with it, if anything: then not all that it holds is known.
    pub fn damage(&self) -> Option<String> {
        Some(format!("{}: {}", self.path.display(), self.damage.as_ref()?))
    }

    /// How many bytes of members were unpacked into memory, and into files.
    pub fn unpacked_bytes(&self) -> (u64, u64) {
        let unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        (unpacked.bytes_in_memory, unpacked.bytes_on_disk)
    }

    /// Has what belongs to a build-id unpacked together with what is asked for next.
    pub(crate) fn want(&self, build_id: &BuildId) {
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        for id in build_id.spellings() {
            let (dir, file) = id.directory_and_file();
            let beside = Path::new(".build-id").join(dir);
            let of_cache =
                ["[kernel.kallsyms]", "[kernel.kcore]"].map(|name| Path::new(name).join(id.to_string()));
            let places =
                [beside.join(&file), beside.join(format!("{file}.debug"))].into_iter().chain(of_cache);
            for place in places {
                let files = self.index.files_at(&place);
                let is_used = |path: &Path| !UNUSED.iter().any(|name| path.ends_with(name));
                unpacked.wanted.extend(files.filter(|(path, _)| is_used(path)).map(|(_, number)| number));
            }
        }
    }

    /// The names of what is in a directory; `None` if it is not below this archive.
    pub(crate) fn names_in(&self, directory: &Path) -> Option<Vec<PathBuf>> {
        Some(self.index.names_in(directory.strip_prefix(&self.path).ok()?))
    }

    /// The bytes of a member; `None` if the path is not below this archive.
    pub(crate) fn load(&self, path: &Path, read_file: &ReadFile) -> Option<io::Result<FileBytes>> {
        let Some(number) = self.index.file(path.strip_prefix(&self.path).ok()?) else {
            return Some(Err(io::ErrorKind::NotFound.into()));
        };
        let mut unpacked = self.unpacked.lock().unwrap_or_else(PoisonError::into_inner);
        if !unpacked.files.contains_key(&number) {
            unpacked.wanted.insert(number);
            self.unpack(&mut unpacked, read_file);
        }
        let found = unpacked.files.get(&number).cloned();
        let found = found.unwrap_or_else(|| Err("it was not where it had been".to_owned()));
        Some(found.map_err(io::Error::other))
    }

    /// Unpacks what is wanted.
    fn unpack(&self, unpacked: &mut Unpacked, read_file: &ReadFile) {
        let mut open: FxHashSet<u32> = std::mem::take(&mut unpacked.wanted);
        open.retain(|number| !unpacked.files.contains_key(number));
        unpacked.passes = unpacked.passes.saturating_add(1);
        let result = match unpacked.passes > MAX_PASSES {
            true => Err(io::Error::other("the archive was unpacked too often")),
            false => walk(&self.path, &mut None, &mut |number, member, body| {
                if open.remove(&number) {
                    let file = unpacked.take(member.size, body, read_file);
                    unpacked.files.insert(number, file.map_err(|error| error.to_string()));
                }
                Ok(!open.is_empty())
            }),
        };
        // What was not come to has the reason why.
        let why = result.err().map(|error| explained(error, self.index.members()).to_string());
        if let Some(why) = why {
            unpacked.files.extend(open.into_iter().map(|number| (number, Err(why.clone()))));
        }
    }
}

impl Unpacked {
    /// Takes the bytes of a member out of the stream.
    fn take(&mut self, size: u64, body: &mut dyn Read, read_file: &ReadFile) -> io::Result<FileBytes> {
        let (most, most_in_all) = IN_MEMORY;
        let in_memory = self.bytes_in_memory.saturating_add(size);
        if size <= most && in_memory <= most_in_all {
            let mut bytes = Vec::new();
            body.read_to_end(&mut bytes)?;
            self.bytes_in_memory = in_memory;
            return whole(bytes.len() as u64, size).map(|()| Arc::new(bytes) as FileBytes);
        }
        let mut file = tempfile::tempfile()?;
        let written = io::copy(body, &mut file)?;
        self.bytes_on_disk = self.bytes_on_disk.saturating_add(written);
        whole(written, size)?;
        io::Seek::rewind(&mut file)?;
        read_file(file)
    }
}

fn whole(read: u64, size: u64) -> io::Result<()> {
    if read < size { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

/// What is done with each member and its number: whether to go on.
type Visit<'v> = dyn FnMut(u32, Member, &mut dyn Read) -> io::Result<bool> + 'v;

/// Goes over the members of an archive, and of those that are packed into it. What is wrong with one of these ends only it.
fn walk(path: &Path, inner_damage: &mut Option<String>, visit: &mut Visit<'_>) -> io::Result<()> {
    let file = File::open(path)?;
    let (fixed, times) = MAX_BYTES;
    let most = file.metadata()?.len().saturating_mul(times).saturating_add(fixed);
    let walk = Walk { left: Cell::new(most), most, number: Cell::new(0), goes_on: Cell::new(true) };
    walk.members(&mut BufReader::new(file), 0, inner_damage, visit)
}

struct Walk {
    /// How many bytes may still come out.
    left: Cell<u64>,
    most: u64,
    number: Cell<u32>,
    goes_on: Cell<bool>,
}

impl Walk {
    fn members(
        &self,
        from: &mut dyn Read,
        nesting: u32,
        inner_damage: &mut Option<String>,
        visit: &mut Visit<'_>,
    ) -> io::Result<()> {
        let mut start = Vec::new();
        (&mut *from).take(8).read_to_end(&mut start)?;
        let compression = Compression::of(&start);
        let from = io::Cursor::new(start).chain(from);
        let from: Box<dyn Read + '_> = match compression {
            Some(compression) => compression.reader(from)?,
            None => Box::new(from),
        };
        members::each(&mut Counted { from, walk: self }, &mut |member, body| {
            let number = self.number.get();
            self.number.set(number.saturating_add(1));
            let name = member.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_inner = name.contains(".tar") && INNER.iter().any(|start| name.starts_with(start));
            let is_packed = is_inner && matches!(member.kind, Kind::File) && nesting < MAX_NESTING;
            // What is packed is read as members, not as a file.
            let nothing: &mut dyn Read = &mut io::empty();
            self.goes_on.set(visit(number, member, if is_packed { nothing } else { &mut *body })?);
            if is_packed && self.goes_on.get() {
                let inner = self.members(body, nesting.saturating_add(1), inner_damage, visit);
                if let Err(error) = inner {
                    let within = usize::try_from(self.number.get().saturating_sub(number)).unwrap_or(0);
                    inner_damage
                        .get_or_insert(format!("{name}: {}", explained(error, within.saturating_sub(1))));
                }
            }
            Ok(self.goes_on.get())
        })
    }
}

/// Counts what comes out of an archive, up to the limit.
struct Counted<'w, R> {
    from: R,
    walk: &'w Walk,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        match self.walk.left.get().checked_sub(read as u64) {
            Some(left) => self.walk.left.set(left),
            None => {
                let most = self.walk.most >> 20;
                let what =
                    format!("more than {most} MiB would come out of it, which is too much for its size");
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
            }
        }
        Ok(read)
    }
}

/// Whether it is not about the contents of the archive.
fn is_about_the_system(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
}

/// What went wrong in words that do not suppose that one knows how a tar file is made.
fn explained(error: io::Error, members: usize) -> io::Error {
    let kind = error.kind();
    let what = match (kind, members) {
        _ if is_about_the_system(&error) => return error,
        (io::ErrorKind::UnexpectedEof, 0) => {
            "neither an ELF file nor a tar archive, or only its beginning".to_owned()
        }
        (io::ErrorKind::UnexpectedEof, read) => {
            format!("the archive ends early, after {read} entries: it is not all there")
        }
        (io::ErrorKind::FileTooLarge, _) => format!("the rest of the archive is not looked at: {error}"),
        (io::ErrorKind::Other, 0) => format!("it cannot be decompressed: {error}"),
        (_, 0) => "neither an ELF file nor a tar archive (compressed or not)".to_owned(),
        (_, read) => format!("the archive is damaged behind entry {read}: {error}"),
    };
    io::Error::new(kind, what)
}
