//! Recordings in a gzip, zstd or xz file: unpacked to a file without a name, which is then mapped.

use crate::bytes::{Bytes, map_file};
use crate::error::{Error, Result};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// Kinds of wrappers: first bytes, name, and how to unpack. One line each.
const WRAPPERS: &[(&[u8], &str, Unpack)] =
    &[(b"\x1f\x8b", "gzip", gzip), (b"\x28\xb5\x2f\xfd", "zstd", zstd), (b"\xfd7zXZ\0", "xz", xz)];

type Unpack = fn(&mut dyn io::BufRead, &mut dyn Write) -> io::Result<()>;

fn gzip(input: &mut dyn io::BufRead, output: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut flate2::bufread::MultiGzDecoder::new(input), &mut &mut *output).map(drop)
}

fn zstd(input: &mut dyn io::BufRead, output: &mut dyn Write) -> io::Result<()> {
    io::copy(&mut zstd::Decoder::with_buffer(input)?, &mut &mut *output).map(drop)
}

fn xz(mut input: &mut dyn io::BufRead, mut output: &mut dyn Write) -> io::Result<()> {
    lzma_rs::xz_decompress(&mut input, &mut output).map_err(|error| io::Error::other(format!("{error:?}")))
}

/// What was in a wrapper.
pub(crate) struct Unpacked {
    pub(crate) bytes: Bytes,
    /// What kept the rest from being unpacked.
    pub(crate) cut: Option<String>,
}

/// Unpacks, if the first bytes are those of a wrapper.
pub(crate) fn unpack(start: &[u8], input: impl Read) -> Option<Result<Unpacked>> {
    let (_, name, unpack) = WRAPPERS.iter().find(|(magic, ..)| start.starts_with(magic))?;
    Some(to_file(name, *unpack, input))
}

fn to_file(name: &str, unpack: Unpack, input: impl Read) -> Result<Unpacked> {
    let io = |error| Error::io("a temporary file", error);
    let mut file = tempfile::tempfile().map_err(io)?;
    let mut output = io::BufWriter::new(&mut file);
    let outcome = unpack(&mut BufReader::new(input), &mut output);
    output.flush().map_err(io)?;
    drop(output);
    let cut =
        outcome.err().map(|error| format!("the {name} file around the recording is cut or damaged: {error}"));
    let bytes = if file.seek(SeekFrom::End(0)).map_err(io)? == 0 {
        Bytes::default()
    } else {
        map_file(&file).map_err(io)?
    };
    Ok(Unpacked { bytes, cut })
}

/// Reads all of a stream into a file without a name, and maps that: for what has to be read out of order.
pub(crate) fn spool(mut input: impl Read) -> Result<Bytes> {
    let io = |error| Error::io("a temporary file", error);
    let mut file = tempfile::tempfile().map_err(io)?;
    let size = io::copy(&mut input, &mut file).map_err(|error| Error::io("reading", error))?;
    if size == 0 { Ok(Bytes::default()) } else { map_file(&file).map_err(io) }
}
