//! The records of a jitdump file, version 1, as bytes.
//!
//! `tools/perf/Documentation/jitdump-specification.txt` of the kernel describes them. All numbers are in the byte order
//! of the machine that wrote the file, which the magic number shows.

use std::ops::Range;

use super::lines::Lines;

/// "JiTD", as the machine that wrote it reads the number.
const MAGIC: u32 = 0x4a69_5444;

/// Bytes of the file header of version 1; the file says how long its own is.
const HEADER_BYTES: usize = 40;

/// Identifier, size and time: what each record begins with.
const PREFIX_BYTES: usize = 16;

/// `JITDUMP_FLAGS_ARCH_TIMESTAMP`: times are not in nanoseconds but in ticks of the processor.
const ARCH_TIMESTAMP: u64 = 1;

/// What the header says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) is_big_endian: bool,
    /// Where the records begin.
    pub(super) size: usize,
    /// ELF machine (`EM_*`).
    pub(super) machine: u32,
    pub(super) pid: u32,
    pub(super) has_processor_time: bool,
}

impl Header {
    /// `None` when it is no jitdump file.
    pub(super) fn read(bytes: &[u8]) -> Option<Header> {
        let magic: [u8; 4] = bytes.get(..4)?.try_into().ok()?;
        let is_big_endian = match magic {
            magic if u32::from_le_bytes(magic) == MAGIC => false,
            magic if u32::from_be_bytes(magic) == MAGIC => true,
            _ => return None,
        };
        let mut fields = Fields { bytes: bytes.get(..HEADER_BYTES)?, at: 8, is_big_endian };
        let size = usize::try_from(fields.u32()?).ok()?.max(HEADER_BYTES);
        let machine = fields.u32()?;
        let _padding = fields.u32()?;
        let pid = fields.u32()?;
        let _started = fields.u64()?;
        let has_processor_time = fields.u64()? & ARCH_TIMESTAMP != 0;
        Some(Header { is_big_endian, size, machine, pid, has_processor_time })
    }
}

/// A record. Ranges are bytes of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Record {
    /// Code was put into memory.
    Load { address: u64, size: u64, index: u64, name: Range<usize>, code: Range<usize> },
    /// Code was moved.
    Move { from: u64, to: u64, size: u64, index: u64 },
    /// Source lines of the code that is loaded next.
    DebugInfo { address: u64, lines: Lines },
    /// Unwinding information of the code that is loaded next: `.eh_frame`, and `.eh_frame_hdr` as its last bytes. If that
    /// tells an absolute address for the first, it is here.
    UnwindingInfo { header_size: usize, data: Range<usize>, eh_frame_at: Option<u64> },
    /// The file was closed in good order.
    Close,
    /// A record of another kind.
    Other,
    /// A record whose fields do not fit in it.
    Damaged,
}

/// Goes over the records: the time of each, and what it is.
#[derive(Debug)]
pub(super) struct Records<'f> {
    bytes: &'f [u8],
    at: usize,
    is_big_endian: bool,
    /// Whether the file ends within a record.
    pub(super) is_cut: bool,
}

impl<'f> Records<'f> {
    pub(super) fn of(bytes: &'f [u8], header: &Header) -> Records<'f> {
        Records { bytes, at: header.size, is_big_endian: header.is_big_endian, is_cut: false }
    }

    fn fields(&self, at: usize, end: usize) -> Fields<'f> {
        Fields { bytes: self.bytes.get(..end).unwrap_or(&[]), at, is_big_endian: self.is_big_endian }
    }
}

impl Iterator for Records<'_> {
    type Item = (u64, Record);

    fn next(&mut self) -> Option<(u64, Record)> {
        let rest = self.bytes.get(self.at..).unwrap_or(&[]);
        // A file that is still written to, or whose writer was killed, may be longer than what was written.
        if rest.iter().take(PREFIX_BYTES).all(|byte| *byte == 0) {
            return None;
        }
        let mut prefix = self.fields(self.at, self.bytes.len());
        let record = prefix.u32().zip(prefix.u32()).zip(prefix.u64());
        let end = record.and_then(|((_, size), _)| {
            let size = usize::try_from(size).ok().filter(|size| *size >= PREFIX_BYTES)?;
            self.at.checked_add(size).filter(|end| *end <= self.bytes.len())
        });
        let (Some(((id, _), time)), Some(end)) = (record, end) else {
            self.is_cut = true;
            self.at = self.bytes.len();
            return None;
        };
        let body = self.fields(prefix.at, end);
        self.at = end;
        let record = match id {
            0 => load(body),
            1 => code_move(body),
            2 => debug_info(body),
            3 => Some(Record::Close),
            4 => unwinding_info(body),
            _ => Some(Record::Other),
        };
        Some((time, record.unwrap_or(Record::Damaged)))
    }
}

fn load(mut body: Fields<'_>) -> Option<Record> {
    let _pid_and_tid = (body.u32()?, body.u32()?);
    let _address_space = body.u64()?;
    let (address, size, index) = (body.u64()?, body.u64()?, body.u64()?);
    address.checked_add(size)?;
    let name = body.text()?;
    // A writer that does not dump the code still tells its size.
    let available = body.rest().len();
    let length = usize::try_from(size).unwrap_or(usize::MAX).min(available);
    Some(Record::Load { address, size, index, name, code: body.at..body.at.checked_add(length)? })
}

fn code_move(mut body: Fields<'_>) -> Option<Record> {
    let _pid_and_tid = (body.u32()?, body.u32()?);
    let _address_space = body.u64()?;
    let (from, to, size, index) = (body.u64()?, body.u64()?, body.u64()?, body.u64()?);
    to.checked_add(size)?;
    Some(Record::Move { from, to, size, index })
}

fn debug_info(mut body: Fields<'_>) -> Option<Record> {
    let (address, count) = (body.u64()?, body.u64()?);
    Some(Record::DebugInfo { address, lines: Lines::new(body, count) })
}

fn unwinding_info(mut body: Fields<'_>) -> Option<Record> {
    let (size, header_size) = (usize::try_from(body.u64()?).ok()?, usize::try_from(body.u64()?).ok()?);
    // How much of it the writer has in memory behind the code. What it says is the same without.
    let _mapped_size = body.u64()?;
    let end = body.at.checked_add(size).filter(|end| *end <= body.bytes.len())?;
    let header_at = end.checked_sub(header_size).filter(|at| *at >= body.at)?;
    let eh_frame_at = absolute_address(Fields { bytes: body.bytes.get(..end)?, at: header_at, ..body });
    Some(Record::UnwindingInfo { header_size, data: body.at..end, eh_frame_at })
}

/// The address of `.eh_frame` in an `.eh_frame_hdr` of version 1, if it is no distance. The second byte is the encoding (`DW_EH_PE_*`
/// of the Linux Standard Base, 10.5): the form in the lower half, what it is relative to in the upper one.
fn absolute_address(mut header: Fields<'_>) -> Option<u64> {
    let [version, encoding, _count, _table] = *header.rest().first_chunk()?;
    header.at = header.at.checked_add(4)?;
    match encoding {
        0x03 | 0x0b if version == 1 => header.u32().map(u64::from),
        0x00 | 0x04 | 0x0c if version == 1 => header.u64(),
        _ => None,
    }
}

/// Reads fields one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'f> {
    /// The file up to the end of what is read.
    pub(super) bytes: &'f [u8],
    pub(super) at: usize,
    pub(super) is_big_endian: bool,
}

impl<'f> Fields<'f> {
    pub(super) fn rest(&self) -> &'f [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut array: [u8; N] = self.rest().get(..N)?.try_into().ok()?;
        self.at = self.at.checked_add(N)?;
        if self.is_big_endian {
            array.reverse();
        }
        Some(array)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text that ends with a zero byte.
    pub(super) fn text(&mut self) -> Option<Range<usize>> {
        let length = self.rest().iter().position(|byte| *byte == 0)?;
        let range = self.at..self.at.checked_add(length)?;
        self.at = range.end.checked_add(1)?;
        Some(range)
    }
}
