//! Output that is compressed on its way, unless it is wanted as it is.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::{self, Write};

/// A writer that compresses what goes through it, or does not.
pub(crate) enum Packed<W: Write> {
    Gzip(Box<GzEncoder<W>>),
    Plain(W),
}

/// How hard the compression tries, from 1 to 9: less leaves half as much again, and more takes longer for hardly anything. The
/// figures are in ARCHITECTURE.md.
const EFFORT: u32 = 2;

impl<W: Write> Packed<W> {
    /// One that compresses, unless the output is to be plain.
    pub(crate) fn new(out: W, plain: bool) -> Packed<W> {
        match plain {
            true => Packed::Plain(out),
            false => Packed::Gzip(Box::new(GzEncoder::new(out, Compression::new(EFFORT)))),
        }
    }

    /// Writes what is left.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Packed::Gzip(gzip) => gzip.finish().map(drop),
            Packed::Plain(mut out) => out.flush(),
        }
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Gzip(gzip) => gzip.write(bytes),
            Packed::Plain(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Gzip(gzip) => gzip.flush(),
            Packed::Plain(out) => out.flush(),
        }
    }
}
