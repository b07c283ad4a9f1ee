//! The sections of a binary that unwinding needs, found like the binaries of symbols are.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::ops::{Range, RangeInclusive};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use gimli::{BaseAddresses, RunTimeEndian};
use object::{Object as _, ObjectSection as _, elf};

use super::cfi::{self, Context, Entry, Frames};
use super::exidx::{self, Placed};
use super::rule::Rule;
use crate::build_id::BuildId;
use crate::files::FileBytes;
use crate::find::{DebugLink, Opened, Search};
use crate::image::{Image, Load, text_at};
use crate::machine::Machine;
use crate::options::Options;
use crate::reason::Reason;
use crate::source::elf::{RawSymbol, raw_symbols};
use crate::source::{dwarf, elf_file, vdso};
use crate::subject::Subject;

/// What the kernel calls its own image in every process.
const VDSO: &str = "[vdso]";

/// Sections of jumps into other binaries that are kept. Linkers make up to four.
const MAX_STUBS: usize = 8;

/// The call frame information of a binary.
pub(super) struct Tables {
    machine: Machine,
    endian: RunTimeEndian,
    /// Where the code is in the file and in memory.
    code: Vec<Load>,
    bases: BaseAddresses,
    eh_frame: Option<Section>,
    eh_frame_header: Option<Section>,
    eh_frame_index: OnceLock<Vec<Entry>>,
    debug_frame: OnceLock<Option<DebugFrame>>,
    /// `.ARM.exidx` and `.ARM.extab`, each with its virtual address.
    arm: Option<[(Section, u64); 2]>,
    /// Addresses in functions that nobody called.
    outermost: Vec<u64>,
    /// Where the linker's jumps into other binaries are: virtual addresses, first and behind the last.
    stubs: Vec<(u64, u64)>,
    subject: Subject,
    file: FileBytes,
    path: PathBuf,
}

/// `.debug_frame` and its entries by address.
struct DebugFrame {
    section: Section,
    index: Vec<Entry>,
}

/// The bytes of a section.
enum Section {
    InFile(FileBytes, Range<usize>),
    Unpacked(Vec<u8>),
}

impl Section {
    fn bytes(&self) -> &[u8] {
        match self {
            Section::InFile(file, range) => (**file).as_ref().get(range.clone()).unwrap_or(&[]),
            Section::Unpacked(bytes) => bytes,
        }
    }

    /// The section of an image of `file`; `None` when it is missing or empty.
    fn in_file(file: &FileBytes, image: &Image<'_>, name: &[u8]) -> Option<Section> {
        let section = image.section(name)?;
        let size = image.bytes(section).len();
        let start = usize::try_from(section.offset).ok()?;
        (size > 0).then(|| Section::InFile(Arc::clone(file), start..start.saturating_add(size)))
    }
}

impl std::fmt::Debug for Tables {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tables").field("subject", &self.subject).finish_non_exhaustive()
    }
}

impl Tables {
    /// Finds the file of a binary and its sections.
    pub(super) fn load(options: &Options, subject: &Subject, machine: Machine) -> Result<Tables, Reason> {
        let (path, file) = match subject {
            Subject::File { path, build_id } => {
                if elf_file::is_without_file(path, build_id.as_ref()) {
                    return Err(Reason::NotAFile { name: path.clone() });
                }
                let search = Search { options, path, build_id: *build_id, debug_link: None };
                let Opened { path, bytes } = search.binary()?;
                (path, bytes)
            }
            Subject::Vdso { build_id } => (PathBuf::from(VDSO), vdso_image(options, *build_id)?),
            // Only processes have their stacks recorded. What they generate has tables of its own.
            _ => {
                return Err(Reason::NotAFile { name: subject.to_string().into() });
            }
        };
        let image = Image::parse((*file).as_ref()).ok_or_else(|| Reason::NotElf { path: path.clone() })?;
        if !machine.is_of(image.machine, image.is_64) {
            return Err(Reason::OtherMachine { path });
        }
        Ok(Tables::of_image(&image, machine, subject, &file, path.clone()))
    }

    fn of_image(
        image: &Image<'_>,
        machine: Machine,
        subject: &Subject,
        file: &FileBytes,
        path: PathBuf,
    ) -> Tables {
        let address = |name: &[u8]| image.section(name).map_or(0, |section| section.address);
        let bases = BaseAddresses::default()
            .set_eh_frame(address(b".eh_frame"))
            .set_eh_frame_hdr(address(b".eh_frame_hdr"))
            .set_text(address(b".text"))
            .set_got(address(b".got"));
        Tables {
            machine,
            endian: if image.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little },
            code: image.loads.iter().filter(|load| load.executable).copied().collect(),
            bases,
            eh_frame: Section::in_file(file, image, b".eh_frame"),
            eh_frame_header: Section::in_file(file, image, b".eh_frame_hdr"),
            eh_frame_index: OnceLock::new(),
            debug_frame: OnceLock::new(),
            arm: (machine == Machine::Arm).then(|| {
                [&b".ARM.exidx"[..], b".ARM.extab"].map(|name| {
                    let section = Section::in_file(file, image, name);
                    (section.unwrap_or(Section::Unpacked(Vec::new())), address(name))
                })
            }),
            outermost: if machine == Machine::Arm { outermost(image) } else { Vec::new() },
            stubs: stubs(image),
            subject: subject.clone(),
            file: Arc::clone(file),
            path,
        }
    }

    /// The machine that the tables are for.
    pub(super) fn machine(&self) -> Machine {
        self.machine
    }

    /// The virtual address of code at a file offset.
    pub(super) fn address(&self, offset: u64) -> Option<u64> {
        self.code.iter().find_map(|load| {
            let within = offset.checked_sub(load.offset)?;
            (within < load.file_size).then(|| load.address.wrapping_add(within))
        })
    }

    /// The rule for the code at a virtual address and for which addresses it holds; `None` when the tables say nothing
    /// about it.
    pub(super) fn rule(
        &self,
        options: &Options,
        address: u64,
        context: &mut Context,
    ) -> Option<(Rule, RangeInclusive<u64>)> {
        self.eh_frame_rule(address, context)
            .or_else(|| self.stub_rule(address))
            .or_else(|| self.debug_frame_rule(options, address, context))
            .or_else(|| self.arm_rule(address))
    }

    fn debug_frame_rule(
        &self,
        options: &Options,
        address: u64,
        context: &mut Context,
    ) -> Option<(Rule, RangeInclusive<u64>)> {
        let frame = self.debug_frame.get_or_init(|| self.load_debug_frame(options)).as_ref()?;
        let section = cfi::debug_frame(frame.section.bytes(), self.endian, self.machine);
        let frames = Frames { section: &section, bases: &self.bases, machine: self.machine };
        frames.rule(entry_before(&frame.index, address)?, address, context)
    }

    fn arm_rule(&self, address: u64) -> Option<(Rule, RangeInclusive<u64>)> {
        let [index, table] = self.arm.as_ref()?;
        let big_endian = self.endian == RunTimeEndian::Big;
        let index = Placed { bytes: index.0.bytes(), address: index.1, big_endian };
        let table = Placed { bytes: table.0.bytes(), address: table.1, big_endian };
        exidx::rule(index, table, address, &self.outermost)
    }

    /// Jumps that the linker made have no frame, and some have no entry in the tables.
    fn stub_rule(&self, address: u64) -> Option<(Rule, RangeInclusive<u64>)> {
        let (start, end) = self.stubs.iter().find(|(start, end)| *start <= address && address < *end)?;
        Some((Rule::without_frame(&self.machine.convention()), *start..=end.saturating_sub(1)))
    }

    fn eh_frame_rule(&self, address: u64, context: &mut Context) -> Option<(Rule, RangeInclusive<u64>)> {
        let section = cfi::eh_frame(self.eh_frame.as_ref()?.bytes(), self.endian, self.machine);
        let frames = Frames { section: &section, bases: &self.bases, machine: self.machine };
        let header = self.eh_frame_header.as_ref().map_or(&[][..], Section::bytes);
        let offset = match cfi::search_header(header, self.endian, &self.bases, self.machine, address) {
            Some(offset) => offset,
            None => entry_before(self.eh_frame_index.get_or_init(|| frames.index()), address),
        };
        frames.rule(offset?, address, context)
    }

    /// Only looked for when something is missing in `.eh_frame`: it may be large, compressed, and in another file.
    fn load_debug_frame(&self, options: &Options) -> Option<DebugFrame> {
        let section = debug_frame_of(&self.file).or_else(|| {
            let debug_file = self.debug_file(options)?;
            debug_frame_of(&debug_file.bytes)
        })?;
        let parsed = cfi::debug_frame(section.bytes(), self.endian, self.machine);
        let index = Frames { section: &parsed, bases: &self.bases, machine: self.machine }.index();
        Some(DebugFrame { section, index })
    }

    fn debug_file(&self, options: &Options) -> Option<Opened> {
        let Subject::File { path, build_id } = &self.subject else { return None };
        let image = Image::parse((*self.file).as_ref())?;
        let debug_link = image.debug_link().map(|(name, checksum)| DebugLink {
            name: PathBuf::from(OsStr::from_bytes(name)),
            checksum,
            binary: self.path.clone(),
        });
        let build_id = build_id.or_else(|| image.build_id());
        let search = Search { options, path, build_id, debug_link };
        search
            .debug_file(|image, _| image.section(b".debug_frame").is_some_and(|s| !image.bytes(s).is_empty()))
    }
}

/// The sections of the linker's jumps into other binaries: `.plt`, `.plt.got`, `.plt.sec`, `.iplt`.
/// Where a program starts, and where a thread does: the C library gives the new thread code right behind `clone`, which cannot be
/// unwound either.
fn outermost(image: &Image<'_>) -> Vec<u64> {
    let mut found = vec![image.entry & !1];
    for kind in [elf::SHT_DYNSYM, elf::SHT_SYMTAB] {
        let Some(section) = image.section_of_kind(kind) else { continue };
        let names = image.section_at(section.link).map_or(&[][..], |names| image.bytes(names));
        let is_clone = |symbol: &RawSymbol| {
            let name = usize::try_from(symbol.name).ok().and_then(|at| text_at(names, at));
            symbol.section != 0 && matches!(name, Some(b"clone" | b"__clone"))
        };
        let ends = raw_symbols(image, section).filter(is_clone);
        found.extend(ends.map(|symbol| (symbol.value & !1).saturating_add(symbol.size)));
    }
    found.retain(|address| *address != 0);
    found
}

fn stubs(image: &Image<'_>) -> Vec<(u64, u64)> {
    let named = |name: &[u8]| name == b".iplt" || name == b".plt" || name.starts_with(b".plt.");
    let sections = image.sections.iter().filter(|section| named(section.name));
    let ranges = sections.map(|section| (section.address, section.address.saturating_add(section.size)));
    ranges.take(MAX_STUBS).collect()
}

/// The image of the running system, if it is the one that was recorded, or else the one that the recorder kept.
fn vdso_image(options: &Options, build_id: Option<BuildId>) -> Result<FileBytes, Reason> {
    vdso::image_of(options, build_id).map(|bytes| -> FileBytes { Arc::new(bytes) }).or_else(|reason| {
        let kept = build_id.and_then(|_| {
            let search = Search { options, path: Path::new(VDSO), build_id, debug_link: None };
            search.binary().ok()
        });
        kept.map(|kept| kept.bytes).ok_or(reason)
    })
}

/// The last entry that starts at an address or below it.
pub(super) fn entry_before(index: &[Entry], address: u64) -> Option<usize> {
    let above = index.partition_point(|entry| entry.start <= address);
    Some(index.get(above.checked_sub(1)?)?.offset)
}

fn debug_frame_of(file: &FileBytes) -> Option<Section> {
    let data = (**file).as_ref();
    let object = object::File::parse(data).ok()?;
    let section = object.section_by_name(".debug_frame")?;
    match dwarf::section_bytes(&section)? {
        Cow::Borrowed(_) => {
            let (start, size) = section.file_range()?;
            let (start, size) = (usize::try_from(start).ok()?, usize::try_from(size).ok()?);
            Some(Section::InFile(Arc::clone(file), start..start.checked_add(size)?))
        }
        Cow::Owned(bytes) => Some(Section::Unpacked(bytes)),
    }
}
