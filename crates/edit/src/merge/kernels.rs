//! Kernels: recordings of several boots have the same one at different addresses. In a recording it is in one place.

use super::{Error, Source};
use perffile::Event;
use perffile::wire::head::CpuMode;
use perffile::wire::record::{Record, kind};

/// How the name of the image's mapping begins; behind it stands the symbol that its place is told by.
const IMAGE: &[u8] = b"[kernel.kallsyms]";

/// A mapping of the kernel: its image, or a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct KernelMap {
    start: u64,
    len: u64,
    /// Of the image, the address of its symbol.
    pgoff: u64,
    name: Box<[u8]>,
    build_id: Option<Box<[u8]>>,
}

impl KernelMap {
    /// The mapping that a record tells, if it is one of the host's kernel.
    pub(super) fn of(event: &Event<'_>) -> Option<KernelMap> {
        let head = event.head();
        if !matches!(head.kind, kind::MMAP | kind::MMAP2) || head.cpu_mode() != CpuMode::Kernel {
            return None;
        }
        let (start, len, pgoff, name, build_id) = match event.record().ok()?.0 {
            Record::Mmap(map) => (map.addr, map.len, map.pgoff, map.filename, None),
            Record::Mmap2(map) => {
                let build_id = map.file.build_id().map(Box::from);
                (map.addr, map.len, map.pgoff, map.filename, build_id)
            }
            _ => return None,
        };
        Some(KernelMap { start, len, pgoff, name: name.bytes().into(), build_id })
    }

    fn is_image(&self) -> bool {
        self.name.starts_with(IMAGE)
    }

    /// Of the image, the name of its symbol and where that is, if the recorder could see it.
    pub(super) fn reference(&self) -> Option<(&[u8], u64)> {
        let symbol = self.name.get(IMAGE.len()..).filter(|_| self.is_image() && self.pgoff != 0)?;
        Some((symbol, self.pgoff))
    }

    fn end(&self) -> u64 {
        self.start.saturating_add(self.len)
    }

    fn overlaps(&self, other: &KernelMap) -> bool {
        self.start < other.end() && other.start < self.end()
    }
}

/// Addresses that become others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Move {
    start: u64,
    end: u64,
    /// What is added, modulo 2⁶⁴.
    by: u64,
}

/// What becomes of the kernel of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kernel {
    /// It is where it was.
    Stays,
    /// It goes where that of another recording is.
    Moves(Vec<Move>),
    /// No sample is in it, and another one is in its place.
    Goes,
}

impl Kernel {
    /// Where an address of the kernel is now.
    pub(super) fn address(&self, address: u64) -> u64 {
        let Kernel::Moves(moves) = self else { return address };
        let found = moves.iter().find(|range| (range.start..range.end).contains(&address));
        found.map_or(address, |range| address.wrapping_add(range.by))
    }
}

/// What becomes of the kernels of all recordings. The first that has samples in it says where it is.
pub(super) fn place(sources: &[Source<'_>], notes: &mut Vec<String>) -> Result<Vec<Kernel>, Error> {
    let has_kernel = |source: &&Source<'_>| !source.survey.kernel.is_empty();
    let first = sources.iter().filter(has_kernel).find(|source| !source.survey.is_of_user_code());
    let first = first.or_else(|| sources.iter().find(has_kernel));
    let Some(first) = first else { return Ok(vec![Kernel::Stays; sources.len()]) };
    let place = |source: &Source<'_>| match onto(source, first) {
        Ok(Kernel::Moves(moves)) => {
            notes.push(format!("{}: the kernel is moved to where it is in {}", source.name, first.name));
            Ok(Kernel::Moves(moves))
        }
        Err(_) if source.survey.is_of_user_code() => Ok(Kernel::Goes),
        Err(why) => Err(Error::Refused(format!(
            "the kernels of {} and {} cannot be one: {why}. Recordings of user code alone (perf record -e cycles:u) can be merged",
            first.name, source.name
        ))),
        stays => Ok(stays.unwrap_or(Kernel::Stays)),
    };
    sources.iter().map(place).collect()
}

/// How the kernel of a recording comes to where that of another one is; why it does not.
fn onto(source: &Source<'_>, first: &Source<'_>) -> Result<Kernel, String> {
    let (own, its) = (&source.survey.kernel, &first.survey.kernel);
    if own.is_empty() || own == its {
        return Ok(Kernel::Stays);
    }
    let image = |maps: &'_ [KernelMap]| maps.iter().find(|map| map.is_image()).cloned();
    let (Some(own_image), Some(its_image)) = (image(own), image(its)) else {
        return Err("one of them has no image".to_owned());
    };
    match (build_id(source, &own_image), build_id(first, &its_image)) {
        (Some(id), Some(other)) if id != other => return Err("they are different builds".to_owned()),
        (Some(_), Some(_)) => {}
        _ if own_image.reference() == its_image.reference() && release(source) == release(first) => {}
        _ => {
            return Err(
                "nothing says that they are the same build, and they are in different places".to_owned()
            );
        }
    }
    let by = match (own_image.reference(), its_image.reference()) {
        (Some((symbol, at)), Some((other, other_at))) if symbol == other => other_at.wrapping_sub(at),
        (None, None) => 0,
        _ => return Err("they do not tell their place by the same symbol".to_owned()),
    };
    moves(own, its, by).map(|moves| if moves.is_empty() { Kernel::Stays } else { Kernel::Moves(moves) })
}

/// The moves of the image, by this distance, and of the modules, each to where it is in the other recording.
fn moves(own: &[KernelMap], its: &[KernelMap], by: u64) -> Result<Vec<Move>, String> {
    let mut moves = Vec::new();
    for map in own {
        let there = its.iter().find(|other| other.name == map.name);
        let by = match there {
            _ if map.is_image() => by,
            Some(other) => other.start.wrapping_sub(map.start),
            None if its.iter().any(|other| !other.is_image() && other.overlaps(map)) => {
                let name = String::from_utf8_lossy(&map.name).into_owned();
                return Err(format!("{name} lies where another module is"));
            }
            None => 0,
        };
        if by != 0 {
            moves.push(Move { start: map.start, end: map.end(), by });
        }
    }
    Ok(moves)
}

/// The build-id of a kernel's image: that of its mapping, or that of the table of build-ids.
fn build_id(source: &Source<'_>, image: &KernelMap) -> Option<Box<[u8]>> {
    let of_table = || {
        let ids = source.survey.head.features.build_ids()?;
        let entry = ids.entries.iter().find(|entry| entry.name() == IMAGE)?;
        Some(Box::from(entry.id()))
    };
    image.build_id.clone().or_else(of_table)
}

fn release<'s>(source: &'s Source<'_>) -> Option<std::borrow::Cow<'s, str>> {
    source.survey.head.features.osrelease()
}
