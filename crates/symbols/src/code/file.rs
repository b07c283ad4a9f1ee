//! The code in an ELF file.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use object::elf;
use readperf_code::{Content, Machine};

use super::function::{Extent, FunctionCode, Segment, Space};
use super::{NoCode, content, unwinding};
use crate::image::{Image, Load};

/// What is shown of code of which nothing says where its function ends, in bytes.
const WINDOW: u64 = 256;

/// The longest function that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// An ELF file with code, and where the code was.
#[derive(Debug)]
pub(super) struct CodeFile<'f> {
    path: PathBuf,
    image: Image<'f>,
    machine: Machine,
    segments: Arc<[Segment]>,
    /// By linked address.
    marks: Vec<(u64, Content)>,
    is_linked: bool,
}

impl<'f> CodeFile<'f> {
    /// A file that was mapped: addresses are offsets in it. `symbols` is the file with its symbols, if it has none itself.
    pub(super) fn mapped(
        path: PathBuf,
        image: Image<'f>,
        symbols: impl FnOnce(&Image<'f>) -> Option<Image<'f>>,
    ) -> Result<CodeFile<'f>, NoCode> {
        let code = |load: &&Load| load.executable && load.file_size > 0;
        let segments = image.loads.iter().filter(code).map(|load| Segment {
            address: load.offset,
            linked: load.address,
            size: load.file_size,
            offset: load.offset,
        });
        // Data may be named, too; code is looked for first.
        let data = image.loads.iter().filter(|load| !load.executable).map(|load| Segment {
            address: load.offset,
            linked: load.address,
            size: load.file_size,
            offset: load.offset,
        });
        let segments = segments.chain(data).collect();
        let marks = match content::has_marks(image.machine) {
            true => {
                symbols(&image).map_or_else(|| content::marks(&image), |symbols| content::marks(&symbols))
            }
            false => Vec::new(),
        };
        CodeFile::placed(path, image, segments, marks, true)
    }

    /// A file whose parts were put somewhere.
    pub(super) fn placed(
        path: PathBuf,
        image: Image<'f>,
        segments: Arc<[Segment]>,
        marks: Vec<(u64, Content)>,
        is_linked: bool,
    ) -> Result<CodeFile<'f>, NoCode> {
        let machine = Machine::of_elf(image.machine, image.is_64, image.big_endian)
            .ok_or(NoCode::UnknownMachine { machine: image.machine.into() })?;
        if !image.has_layout() {
            return Err(NoCode::OnlyDebugFile { path });
        }
        Ok(CodeFile { path, image, machine, segments, marks, is_linked })
    }

    /// The code at an address of the subject; `symbol` are the addresses of its symbol.
    pub(super) fn function(&self, address: u64, symbol: Option<Range<u64>>) -> Result<FunctionCode, NoCode> {
        let not_code = || NoCode::NotCode { path: self.path.clone() };
        let segment = self.segment(address).ok_or_else(not_code)?;
        let linked_of = |address: u64| address.wrapping_sub(segment.address).wrapping_add(segment.linked);
        let linked = linked_of(address);
        let bounds = self.bounds(&segment, linked)?;
        let (range, extent) = match symbol.map(|symbol| linked_of(symbol.start)..linked_of(symbol.end)) {
            Some(symbol) if symbol.contains(&linked) => (symbol, Extent::Symbol),
            // A symbol without a size may be found right before its start.
            Some(symbol) if symbol.start >= linked && symbol.end > symbol.start => (symbol, Extent::Symbol),
            _ => match unwinding::function_at(&self.image, linked) {
                Some(range) => (range, Extent::UnwindingTable),
                None => (linked..linked.saturating_add(WINDOW), Extent::Unknown),
            },
        };
        let start = range.start.clamp(bounds.start, bounds.end);
        let end = range.end.clamp(start, bounds.end).min(start.saturating_add(LONGEST));
        let offset = start.wrapping_sub(segment.linked).wrapping_add(segment.offset);
        let bytes = self.bytes(offset, end.saturating_sub(start)).ok_or_else(not_code)?;
        if bytes.is_empty() {
            return Err(not_code());
        }
        Ok(FunctionCode {
            machine: self.machine,
            start: start.wrapping_sub(segment.linked).wrapping_add(segment.address),
            linked: start,
            extent,
            is_linked: self.is_linked,
            bytes: bytes.into(),
            parts: self.parts(start..end, bounds.start),
            space: Space::Segments(Arc::clone(&self.segments)),
        })
    }

    fn segment(&self, address: u64) -> Option<Segment> {
        let covers = |segment: &&Segment| {
            address.checked_sub(segment.address).is_some_and(|within| within < segment.size)
        };
        self.segments.iter().find(covers).copied()
    }

    /// The linked addresses between which code may be: those of the section, or of the segment where there are no sections.
    fn bounds(&self, segment: &Segment, linked: u64) -> Result<Range<u64>, NoCode> {
        let whole = segment.linked..segment.linked.saturating_add(segment.size);
        let in_code = u64::from(elf::SHF_ALLOC | elf::SHF_EXECINSTR);
        if self.image.is_relocatable
            || self.image.sections.iter().all(|section| section.flags & in_code != in_code)
        {
            return Ok(whole);
        }
        let found = self.image.sections.iter().find(|section| {
            section.flags & in_code == in_code
                && linked.checked_sub(section.address).is_some_and(|within| within < section.size)
        });
        match found {
            None => Err(NoCode::NotCode { path: self.path.clone() }),
            Some(section) if section.kind == elf::SHT_NOBITS => {
                Err(NoCode::OnlyDebugFile { path: self.path.clone() })
            }
            Some(section) => {
                let end = section.address.saturating_add(section.size);
                Ok(section.address.max(whole.start)..end.min(whole.end))
            }
        }
    }

    fn bytes(&self, offset: u64, size: u64) -> Option<&'f [u8]> {
        let start = usize::try_from(offset).ok()?;
        let rest = self.image.data.get(start..)?;
        // A file may have been cut.
        Some(rest.get(..usize::try_from(size).ok()?).unwrap_or(rest))
    }

    /// What is what in some linked addresses, of a section that starts at `section`.
    fn parts(&self, range: Range<u64>, section: u64) -> Vec<(usize, Content)> {
        let first = self.marks.partition_point(|(address, _)| *address <= range.start);
        let before = first.checked_sub(1).and_then(|at| self.marks.get(at));
        let mut parts = vec![(
            0,
            before.filter(|(address, _)| *address >= section).map_or(Content::Code, |(_, content)| *content),
        )];
        let within = self.marks.get(first..).unwrap_or_default().iter();
        for (address, content) in within.take_while(|(address, _)| *address < range.end) {
            let Ok(at) = usize::try_from(address - range.start) else { break };
            match parts.last_mut() {
                Some((_, last)) if last == content => {}
                Some((start, last)) if *start == at => *last = *content,
                _ => parts.push((at, *content)),
            }
        }
        parts
    }
}
