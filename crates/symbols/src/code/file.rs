//! The code in an ELF file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object::elf;
use readperf_code::{Content, Machine};

use super::function::{Extent, FunctionCode, Segment, Space};
use super::{NoCode, content, unwinding};
use crate::image::{Image, Load};
use crate::source::Shared;

/// What is shown of code of which nothing says where its function ends, in bytes.
const WINDOW: u64 = 256;

/// The longest function that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// An ELF file with code, and where the code was.
#[derive(Debug)]
pub(crate) struct CodeFile<'f> {
    path: PathBuf,
    image: Image<'f>,
    contents: Contents<'f>,
    machine: Machine,
    segments: Arc<[Segment]>,
    /// By linked address.
    marks: Vec<(u64, Content)>,
    is_linked: bool,
}

/// Where the bytes are read from.
#[derive(Debug)]
enum Contents<'f> {
    Kept(&'f [u8]),
    /// A file that is too large to be read whole, as the memory of a kernel is.
    InFile(File),
}

/// What is read of the memory of a kernel to find its parts, in bytes.
const MEMORY_HEADERS: u64 = 64 << 10;

impl<'f> CodeFile<'f> {
    /// The memory of a kernel, or a copy (`kcore`). `shift` is what to add to a recorded address to get that in the memory. `None` if it
    /// cannot be read.
    pub(super) fn memory(shared: &Shared<'f>, path: &Path, shift: u64) -> Option<CodeFile<'f>> {
        if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return None;
        }
        let file = File::open(path).ok()?;
        let mut headers = Vec::new();
        file.try_clone().ok()?.take(MEMORY_HEADERS).read_to_end(&mut headers).ok()?;
        let image = Image::parse(shared.files.keep(Arc::new(headers)))?;
        let segments = image.loads.iter().map(|load| Segment {
            address: load.address.wrapping_sub(shift),
            linked: load.address,
            size: load.file_size,
            offset: load.offset,
        });
        let segments = segments.collect();
        let mut code = CodeFile::placed(path.to_owned(), image, segments, Vec::new(), true).ok()?;
        code.contents = Contents::InFile(file);
        Some(code)
    }

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
        // Data may be named, too, also what begins as zeros and is not in the file; code is looked for first.
        let data = image.loads.iter().filter(|load| !load.executable).map(|load| Segment {
            address: load.offset,
            linked: load.address,
            size: load.memory_size,
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
        let contents = Contents::Kept(image.data);
        Ok(CodeFile { path, image, contents, machine, segments, marks, is_linked })
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
        // Bit 0 of functions that are chosen when the program starts says that they are Thumb.
        let first = if self.machine == Machine::Arm { range.start & !1 } else { range.start };
        let start = first.clamp(bounds.start, bounds.end);
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

    /// Bytes of the file; fewer if it was cut.
    fn bytes(&self, offset: u64, size: u64) -> Option<Vec<u8>> {
        let size_here = usize::try_from(size).ok()?;
        match &self.contents {
            Contents::Kept(data) => {
                let rest = data.get(usize::try_from(offset).ok()?..)?;
                Some(rest.get(..size_here).unwrap_or(rest).to_vec())
            }
            Contents::InFile(file) => {
                let mut file = file.try_clone().ok()?;
                file.seek(SeekFrom::Start(offset)).ok()?;
                let mut bytes = Vec::new();
                file.take(size).read_to_end(&mut bytes).ok()?;
                Some(bytes)
            }
        }
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
