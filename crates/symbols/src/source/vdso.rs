//! The code that the kernel maps into every process, read from this process.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use crate::build_id::BuildId;
use crate::reason::Reason;
use crate::source::image::Image;
use crate::source::naming::{ElfNames, Parts};
use crate::source::{Names, Shared};
use crate::subject::Subject;

/// Larger than any such image, which is two pages on most machines.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn open<'f>(
    shared: &Shared<'f>,
    subject: &Subject,
) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    let Subject::Vdso { build_id } = subject else { return None };
    let names = from_own_image(shared, *build_id);
    Some(names.map(|names| Box::new(names) as Box<dyn Names + 'f>))
}

fn from_own_image<'f>(shared: &Shared<'f>, recorded: Option<BuildId>) -> Result<ElfNames<'f>, Reason> {
    let bytes = shared.files.keep(Arc::new(own_image().ok_or(Reason::NoVdso)?));
    let image = Image::parse(bytes).ok_or(Reason::NoVdso)?;
    let running = image.build_id();
    let is_same = match (recorded, running) {
        (Some(recorded), Some(running)) => recorded.matches(&running),
        (Some(_), None) => false,
        (None, _) => shared.options.trust_running_kernel,
    };
    if !is_same {
        return Err(Reason::VdsoDiffers { recorded, running });
    }
    let parts = Parts { runtime: (Path::new("[vdso]"), image), symbols: None, debug: None };
    ElfNames::read(parts, shared.files, &shared.options)
}

pub(crate) fn own_image() -> Option<Vec<u8>> {
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
