//! The tracing data blob: header feature 1, or the payload after a `HEADER_TRACING_DATA` record.
//!
//! Its integers obey its own byte order flag, not that of the file around it.

use crate::wire::text::decoded;
use std::fmt;

use super::{Abi, ByteOrder};

/// Three bytes and the word that every blob starts with.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";
const HEADER_PAGE: &[u8] = b"header_page\0";
const HEADER_EVENT: &[u8] = b"header_event\0";

/// The parts of a tracing data blob, borrowed from it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TracingData<'a> {
    /// Version text without its NUL: `0.6`, or `0.5` in old files.
    pub version: &'a [u8],
    /// Byte order flag as stored: 0 is little, anything else big.
    pub big_endian_flag: u8,
    /// Bytes of a `long` on the recorded machine, as stored (4 or 8 in sane files).
    pub long_size: u8,
    /// Bytes of a page on the recorded machine.
    pub page_size: u32,
    /// Text that describes the head of a ring buffer page.
    pub header_page: &'a [u8],
    /// Text that describes the head of a ring buffer entry.
    pub header_event: &'a [u8],
    /// Formats of ftrace's own events.
    pub ftrace_formats: Vec<&'a [u8]>,
    /// Event systems with the formats of their events.
    pub systems: Vec<System<'a>>,
    /// Text of `/proc/kallsyms`; empty in files made since 2014.
    pub kallsyms: &'a [u8],
    /// `0xADDRESS : "text"` lines.
    pub printk_formats: &'a [u8],
    /// `PID NAME` lines; `None` before version 0.6.
    pub saved_cmdlines: Option<&'a [u8]>,
    /// Bytes after the last part: padding.
    pub trailing: &'a [u8],
}

/// One event system: a directory of the kernel's `events` tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct System<'a> {
    /// Name without its NUL, as `sched`.
    pub name: &'a [u8],
    /// The texts of the `format` files.
    pub formats: Vec<&'a [u8]>,
}

/// What could be read, and why not more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial<'a> {
    /// The parts before the fault; the rest is empty.
    pub data: TracingData<'a>,
    /// The fault.
    pub error: TracingDataError,
}

/// Where a blob stops making sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TracingDataError {
    /// Bytes from the start of the blob.
    pub offset: usize,
    /// What should have stood there.
    pub expected: &'static str,
}

impl fmt::Display for TracingDataError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "tracing data: expected {} at byte {}", self.expected, self.offset)
    }
}

impl std::error::Error for TracingDataError {}

impl<'a> TracingData<'a> {
    /// Takes a blob apart. A damaged one gives the parts before the damage together with its place.
    pub fn parse(blob: &'a [u8]) -> Result<Self, Box<Partial<'a>>> {
        let mut data = TracingData::default();
        let mut reader = SectionReader { blob, offset: 0, endian: ByteOrder::Little };
        match data.fill(&mut reader) {
            Ok(()) => Ok(data),
            Err(error) => Err(Box::new(Partial { data, error })),
        }
    }

    /// Byte order of the blob and of the payloads it describes.
    pub fn endian(&self) -> ByteOrder {
        if self.big_endian_flag == 0 { ByteOrder::Little } else { ByteOrder::Big }
    }

    /// Byte order and size of `long` of the recorded kernel.
    pub fn abi(&self) -> Abi {
        Abi::new(self.endian(), self.long_size)
    }

    /// The blob again, byte for byte if it was read without a fault.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer { bytes: Vec::new(), endian: self.endian() };
        out.raw(MAGIC);
        out.raw(self.version);
        out.raw(&[0, self.big_endian_flag, self.long_size]);
        out.u32(u64::from(self.page_size));
        out.raw(HEADER_PAGE);
        out.sized(self.header_page);
        out.raw(HEADER_EVENT);
        out.sized(self.header_event);
        out.texts(&self.ftrace_formats);
        out.u32(self.systems.len() as u64);
        for system in &self.systems {
            out.raw(system.name);
            out.raw(&[0]);
            out.texts(&system.formats);
        }
        out.u32(self.kallsyms.len() as u64);
        out.raw(self.kallsyms);
        out.u32(self.printk_formats.len() as u64);
        out.raw(self.printk_formats);
        if let Some(cmdlines) = self.saved_cmdlines {
            out.sized(cmdlines);
        }
        out.raw(self.trailing);
        out.bytes
    }

    fn fill(&mut self, reader: &mut SectionReader<'a>) -> Result<(), TracingDataError> {
        reader.literal(MAGIC, "the tracing data magic")?;
        self.version = reader.c_string("a version ending in NUL")?;
        self.big_endian_flag = reader.u8("the byte order flag")?;
        reader.endian = self.endian();
        self.long_size = reader.u8("the size of long")?;
        self.page_size = reader.u32("the page size")?;
        reader.literal(HEADER_PAGE, "\"header_page\"")?;
        self.header_page = reader.sized("the header page text")?;
        reader.literal(HEADER_EVENT, "\"header_event\"")?;
        self.header_event = reader.sized("the header event text")?;
        reader.texts(&mut self.ftrace_formats)?;
        let systems = reader.u32("the number of event systems")?;
        for _ in 0..systems {
            let name = reader.c_string("the name of an event system")?;
            self.systems.push(System { name, formats: Vec::new() });
            if let Some(system) = self.systems.last_mut() {
                reader.texts(&mut system.formats)?;
            }
        }
        let size = reader.u32("the size of kallsyms")?;
        self.kallsyms = reader.bytes(u64::from(size), "the kallsyms text")?;
        let size = reader.u32("the size of the printk formats")?;
        self.printk_formats = reader.bytes(u64::from(size), "the printk formats")?;
        if at_least_0_6(self.version) {
            self.saved_cmdlines = Some(reader.sized("the saved command lines")?);
        }
        self.trailing = reader.rest();
        Ok(())
    }
}

/// The command lines came with version 0.6.
fn at_least_0_6(version: &[u8]) -> bool {
    let text = decoded(version);
    let mut parts = text.trim().split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let major = parts.next().unwrap_or(0);
    let minor = parts.next().unwrap_or(0);
    (major, minor) >= (0, 6)
}

/// A cursor over the blob; every error it makes carries its offset.
struct SectionReader<'a> {
    blob: &'a [u8],
    offset: usize,
    endian: ByteOrder,
}

impl<'a> SectionReader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.blob.get(self.offset..).unwrap_or_default()
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, TracingDataError> {
        Err(TracingDataError { offset: self.offset, expected })
    }

    fn bytes(&mut self, count: u64, expected: &'static str) -> Result<&'a [u8], TracingDataError> {
        let taken = usize::try_from(count).ok().and_then(|count| self.rest().get(..count));
        let Some(taken) = taken else { return self.fail(expected) };
        self.offset += taken.len();
        Ok(taken)
    }

    fn literal(&mut self, text: &[u8], expected: &'static str) -> Result<(), TracingDataError> {
        if !self.rest().starts_with(text) {
            return self.fail(expected);
        }
        self.offset += text.len();
        Ok(())
    }

    fn c_string(&mut self, expected: &'static str) -> Result<&'a [u8], TracingDataError> {
        let rest = self.rest();
        let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        if text.len() == rest.len() {
            return self.fail(expected);
        }
        self.offset += text.len() + 1;
        Ok(text)
    }

    fn u8(&mut self, expected: &'static str) -> Result<u8, TracingDataError> {
        let bytes = self.bytes(1, expected)?;
        Ok(bytes.first().copied().unwrap_or(0))
    }

    fn integer(&mut self, size: u64, expected: &'static str) -> Result<u64, TracingDataError> {
        let bytes = self.bytes(size, expected)?;
        Ok(self.endian.unsigned(bytes).unwrap_or(0))
    }

    fn u32(&mut self, expected: &'static str) -> Result<u32, TracingDataError> {
        let value = self.integer(4, expected)?;
        Ok(u32::try_from(value).unwrap_or(u32::MAX))
    }

    /// A text after its u64 size.
    fn sized(&mut self, expected: &'static str) -> Result<&'a [u8], TracingDataError> {
        let size = self.integer(8, expected)?;
        self.bytes(size, expected)
    }

    /// A u32 count and that many sized texts. Nothing is reserved in advance: the count is only a claim.
    fn texts(&mut self, texts: &mut Vec<&'a [u8]>) -> Result<(), TracingDataError> {
        let count = self.u32("a number of event formats")?;
        for _ in 0..count {
            texts.push(self.sized("an event format")?);
        }
        Ok(())
    }
}

/// The reader's counterpart.
struct Writer {
    bytes: Vec<u8>,
    endian: ByteOrder,
}

impl Writer {
    fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Lengths beyond what the format can hold are cut to its largest; no blob that was read has any.
    fn u32(&mut self, value: u64) {
        let value = u32::try_from(value).unwrap_or(u32::MAX);
        match self.endian {
            ByteOrder::Little => self.raw(&value.to_le_bytes()),
            ByteOrder::Big => self.raw(&value.to_be_bytes()),
        }
    }

    fn u64(&mut self, value: u64) {
        match self.endian {
            ByteOrder::Little => self.raw(&value.to_le_bytes()),
            ByteOrder::Big => self.raw(&value.to_be_bytes()),
        }
    }

    fn sized(&mut self, text: &[u8]) {
        self.u64(text.len() as u64);
        self.raw(text);
    }

    fn texts(&mut self, texts: &[&[u8]]) {
        self.u32(texts.len() as u64);
        for text in texts {
            self.sized(text);
        }
    }
}
