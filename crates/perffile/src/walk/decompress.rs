//! Compressed records: pieces of one zstd stream.
//!
//! The stream goes on from record to record and is never ended, so its state is kept; what a piece expands to ends
//! anywhere in a record, so the rest is kept too. A directory has one stream per file.

use std::fmt;
use std::io;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// How much is expanded at a time.
const STEP_BYTES: usize = 128 << 10;

/// How much is fed at a time: of a step that fails zstd does not tell what it has written, so that much may be lost.
const FEED_BYTES: usize = 1 << 10;

/// The state of a compressed stream.
#[derive(Default)]
pub(crate) struct Decompressor {
    decoder: Option<Decoder<'static>>,
    /// Where zstd writes to: clearing as much for every piece would cost more than most pieces.
    step: Vec<u8>,
    /// The beginning of a record whose end is in the next piece.
    pub(crate) left: Vec<u8>,
    failed: bool,
}

impl fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Decompressor({} bytes left)", self.left.len())
    }
}

impl Decompressor {
    /// What was left, and what the pieces of a record expand to, up to a limit; and why that is not all. Nothing where they
    /// expand to nothing: what was left goes on waiting.
    ///
    /// With an error the state is lost: every later piece fails too.
    pub(crate) fn expand<'a>(
        &mut self,
        pieces: impl Iterator<Item = &'a [u8]>,
        most: usize,
    ) -> (Option<Vec<u8>>, Option<io::Error>) {
        if self.failed {
            let what = "it follows on a piece that could not be decompressed";
            return (None, Some(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        let mut out = std::mem::take(&mut self.left);
        let before = out.len();
        let mut error = None;
        for part in pieces.flat_map(|piece| piece.chunks(FEED_BYTES)) {
            error = self.run(part, &mut out, most).err();
            if error.is_some() {
                break;
            }
        }
        self.failed = error.is_some();
        if out.len() == before {
            self.left = out;
            return (None, error);
        }
        (Some(out), error)
    }

    fn run(&mut self, part: &[u8], out: &mut Vec<u8>, most: usize) -> io::Result<()> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            slot => slot.insert(Decoder::new()?),
        };
        self.step.resize(STEP_BYTES, 0);
        let mut input = InBuffer::around(part);
        loop {
            let mut output = OutBuffer::around(self.step.as_mut_slice());
            decoder.run(&mut input, &mut output)?;
            let written = output.as_slice();
            out.extend_from_slice(written);
            if out.len() > most {
                let what = format!("it expands to more than {most} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
            if input.pos() == part.len() && written.len() < STEP_BYTES {
                return Ok(());
            }
        }
    }
}
