//! The code that the kernel maps into every process, read from this process.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use crate::batch::SymbolBatch;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::Shared;
use crate::source::image::Image;
use crate::source::naming::{self, Parts};
use crate::subject::{AddressBatch, Subject};

/// Larger than any such image, which is two pages on most machines.
const MAX_BYTES: u64 = 1 << 20;

pub(crate) fn answer(shared: &Shared<'_>, batch: &AddressBatch) -> Option<Result<SymbolBatch, Reason>> {
    let Subject::Vdso { .. } = batch.subject else { return None };
    Some(from_own_image(shared.options, batch))
}

fn from_own_image(options: &Options, batch: &AddressBatch) -> Result<SymbolBatch, Reason> {
    let bytes = own_image().ok_or(Reason::NoVdso)?;
    let image = Image::parse(&bytes).ok_or(Reason::NoVdso)?;
    let (recorded, running) = (batch.subject.build_id().copied(), image.build_id());
    let is_same = match (recorded, running) {
        (Some(recorded), Some(running)) => recorded.matches(&running),
        (Some(_), None) => false,
        (None, _) => options.trust_running_kernel,
    };
    if !is_same {
        return Err(Reason::VdsoDiffers { recorded, running });
    }
    let own = (Path::new("[vdso]"), &image);
    naming::name(&Parts { runtime: own, symbols: own, debug: None }, options, batch)
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
