//! The code that the kernel maps into every process, read from this process or out of a copy
//! that the recorder, or a package, has put somewhere.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::build_id::BuildId;
use crate::files::FileBytes;
use crate::find::Search;
use crate::image::Image;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::naming::{ElfNames, Parts};
use crate::source::{Names, Shared, running_kernel};
use crate::subject::Subject;
use crate::uses::{Role, UsedFile};

/// Larger than any such image, which is two pages on most machines.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn open<'f>(
    shared: &Shared<'f>,
    subject: &Subject,
) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::Vdso { build_id } = subject else { return None };
    let names = find(shared, *build_id).and_then(|(path, bytes)| read(shared, &path, bytes));
    Some(names.map(|names| Box::new(names) as Box<dyn Names + 'f>))
}

/// The image and where it was found.
pub(crate) fn find(shared: &Shared<'_>, recorded: Option<BuildId>) -> Result<(PathBuf, FileBytes), Reason> {
    from_own_image(shared, recorded).or_else(|reason| from_copy(shared, recorded).ok_or(reason))
}

fn read<'f>(shared: &Shared<'f>, path: &Path, bytes: FileBytes) -> Result<ElfNames<'f>, Reason> {
    let damaged = || Reason::NotElf { path: path.to_owned() };
    let image = Image::parse(shared.files.keep(bytes)).ok_or_else(damaged)?;
    let parts = Parts { runtime: (path, image), symbols: None, embedded: None, debug: None };
    ElfNames::read(parts, shared.files, &shared.options)
}

/// A copy in the recorder's cache, or in a package of the kernel. Only with a build-id is it known to be the right one.
fn from_copy(shared: &Shared<'_>, recorded: Option<BuildId>) -> Option<(PathBuf, FileBytes)> {
    let search =
        Search { options: &shared.options, path: Path::new("[vdso]"), build_id: recorded, debug_link: None };
    search.vdso().map(|opened| (opened.path, opened.bytes))
}

fn from_own_image(shared: &Shared<'_>, recorded: Option<BuildId>) -> Result<(PathBuf, FileBytes), Reason> {
    let bytes = image_of(&shared.options, recorded)?;
    Ok((PathBuf::from("[vdso]"), Arc::new(bytes)))
}

/// The image of this system, if it is the recorded one.
pub(crate) fn image_of(options: &Options, recorded: Option<BuildId>) -> Result<Vec<u8>, Reason> {
    let bytes = own_image().ok_or(Reason::NoVdso)?;
    let running = Image::parse(&bytes).ok_or(Reason::NoVdso)?.build_id();
    let is_same = match (recorded, running) {
        (Some(recorded), Some(running)) => recorded.matches(&running),
        (Some(_), None) => false,
        // The image is part of the kernel.
        (None, _) => options.trust_running_kernel || is_running(options.kernel_build_id),
    };
    if !is_same {
        return Err(Reason::VdsoDiffers { recorded, running });
    }
    options.file_loader.note_use(|| UsedFile {
        role: Role::Vdso,
        recorded: PathBuf::from("[vdso]"),
        build_id: recorded,
        path: PathBuf::from("[vdso]"),
        bytes: Arc::new(bytes.clone()),
    });
    Ok(bytes)
}

/// Whether the running kernel is the one with this build-id.
fn is_running(kernel: Option<BuildId>) -> bool {
    let running = || running_kernel::build_id();
    kernel.is_some_and(|recorded| running().is_some_and(|running| recorded.matches(&running)))
}

fn own_image() -> Option<Vec<u8>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let (start, end) = range_in(&maps)?;
    let size = end.checked_sub(start).filter(|size| *size <= MAX_BYTES)?;
    let mut memory = File::open("/proc/self/mem").ok()?;
    memory.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = vec![0; usize::try_from(size).ok()?];
    memory.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn range_in(maps: &str) -> Option<(u64, u64)> {
    let line = maps.lines().find(|line| line.ends_with(" [vdso]"))?;
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    Some((u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?))
}
