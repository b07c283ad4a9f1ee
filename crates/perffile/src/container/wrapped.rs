//! Recordings in a gzip, zstd or xz file: unpacked to a file without a name, which is then mapped.

use crate::bytes::{Bytes, map_file};
use crate::error::{Error, ErrorKind, Result};
use crate::issue::IssueKind;
use crate::limits::Limits;
use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

/// Kinds of wrappers, one line each.
const WRAPPERS: &[Wrapper] = &[
    Wrapper { magic: b"\x1f\x8b", name: "gzip", unpack: gzip },
    Wrapper { magic: b"\x28\xb5\x2f\xfd", name: "zstd", unpack: zstd },
    Wrapper { magic: b"\xfd7zXZ\0", name: "xz", unpack: xz },
];

/// A kind of wrapper: its first bytes, its name, and how to unpack it.
pub(crate) struct Wrapper {
    magic: &'static [u8],
    name: &'static str,
    unpack: Unpack,
}

/// Most memory that unpacking xz may take; `xz -9` needs 65 MiB.
const MOST_XZ_KIB: u32 = 128 << 10;

type Unpack = fn(&mut dyn BufRead, &mut dyn Write) -> io::Result<()>;

fn gzip(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut flate2::bufread::MultiGzDecoder::new(input), &mut &mut *output).map(drop)
}

fn zstd(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut zstd::Decoder::with_buffer(input)?, &mut &mut *output).map(drop)
}

fn xz(input: &mut dyn BufRead, output: &mut dyn Write) -> io::Result<()> {
    let mut reader = lzma_rust2::XzReader::new_mem_limit(input, true, MOST_XZ_KIB);
    io::copy(&mut reader, &mut &mut *output).map(drop)
}

/// What was in a wrapper.
pub(crate) struct Unpacked {
    pub(crate) bytes: Bytes,
    /// How many bytes of the wrapper were read.
    pub(crate) taken: u64,
    /// What kept the rest from being unpacked.
    pub(crate) cut: Option<(IssueKind, String)>,
}

/// The wrapper that begins with these bytes.
pub(crate) fn wrapper(start: &[u8]) -> Option<&'static Wrapper> {
    WRAPPERS.iter().find(|wrapper| start.starts_with(wrapper.magic))
}

impl Wrapper {
    /// Unpacks to a file without a name.
    ///
    /// # Errors
    /// What the operating system says of that file; what is wrong with the wrapper is in [`Unpacked::cut`].
    pub(crate) fn unpack(&self, input: impl Read, limits: &Limits) -> Result<Unpacked> {
        let io = |error| Error::io("a temporary file", error);
        let mut file = tempfile::tempfile().map_err(io)?;
        let taken = Cell::new(0);
        let is_over = Cell::new(false);
        let output = Bounded { output: &mut file, written: 0, taken: &taken, limits, is_over: &is_over };
        let mut output = io::BufWriter::new(output);
        let mut outcome = (self.unpack)(&mut BufReader::new(Counted { input, taken: &taken }), &mut output);
        if let Err(error) = output.flush() {
            outcome = outcome.and(Err(error));
        }
        // What could not be written is not tried again.
        drop(output.into_parts());
        let cut = outcome.err().map(|error| match is_over.get() {
            true => {
                (IssueKind::ExpandsTooFar, format!("the {} file around the recording {error}", self.name))
            }
            false => {
                let why = format!("the {} file around the recording is cut or damaged: {error}", self.name);
                (IssueKind::CutData, why)
            }
        });
        let bytes = if file.seek(SeekFrom::End(0)).map_err(io)? == 0 {
            Bytes::default()
        } else {
            map_file(&file).map_err(io)?
        };
        Ok(Unpacked { bytes, taken: taken.get(), cut })
    }
}

/// Counts what is read.
struct Counted<'c, R> {
    input: R,
    taken: &'c Cell<u64>,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(out)?;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

/// Refuses to write more than can be true of what has been read.
struct Bounded<'c, W> {
    output: W,
    written: u64,
    taken: &'c Cell<u64>,
    limits: &'c Limits,
    /// Whether something was refused.
    is_over: &'c Cell<bool>,
}

impl<W: Write> Write for Bounded<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let in_proportion = self.taken.get().saturating_mul(self.limits.expansion);
        let most = self.limits.unwrapped_bytes.max(in_proportion).min(self.limits.spooled_bytes);
        if self.written.saturating_add(bytes.len() as u64) > most {
            self.is_over.set(true);
            return Err(io::Error::other(format!("expands to more than {most} bytes")));
        }
        let count = self.output.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Reads all of a stream into a file without a name, and maps that: for what has to be read out of order.
pub(crate) fn spool(input: impl Read, limits: &Limits) -> Result<Bytes> {
    let io = |error| Error::io("a temporary file", error);
    let most = limits.spooled_bytes;
    let mut file = tempfile::tempfile().map_err(io)?;
    let mut input = input.take(most.saturating_add(1));
    let size = io::copy(&mut input, &mut file)
        .map_err(|error| Error::io("copying what arrives to a temporary file", error))?;
    if size > most {
        let what = format!(
            "more than {most} bytes of a recording that has to be there as a whole: give the file itself"
        );
        return Err(Error::new(ErrorKind::Unsupported(what), None));
    }
    if size == 0 { Ok(Bytes::default()) } else { map_file(&file).map_err(io) }
}
