//! Compressed records: pieces of one zstd stream.
//!
//! The stream goes on from record to record and is never ended, so its state is kept; what a piece expands to ends
//! anywhere in a record, so the rest is kept too. A directory has one stream per file.

use std::fmt;
use std::io;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// How much is made room for at a time.
const STEP_BYTES: usize = 128 << 10;

/// The state of a compressed stream.
#[derive(Default)]
pub(crate) struct Decompressor {
    decoder: Option<Decoder<'static>>,
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
    /// What was left, and what a piece expands to, up to a limit.
    ///
    /// # Errors
    /// A piece that cannot be decompressed. The state is lost with it: every later piece fails too.
    pub(crate) fn expand(&mut self, piece: &[u8], most: usize) -> io::Result<Vec<u8>> {
        if self.failed {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it follows on a piece that could not be decompressed",
            ));
        }
        let result = self.run(piece, most);
        self.failed = result.is_err();
        result
    }

    fn run(&mut self, piece: &[u8], most: usize) -> io::Result<Vec<u8>> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            slot => slot.insert(Decoder::new()?),
        };
        let mut out = std::mem::take(&mut self.left);
        let mut input = InBuffer::around(piece);
        loop {
            let have = out.len();
            out.resize(have + STEP_BYTES, 0);
            let room = out.get_mut(have..).unwrap_or_default();
            let mut output = OutBuffer::around(room);
            decoder.run(&mut input, &mut output)?;
            let written = output.pos();
            out.truncate(have + written);
            if input.pos() == piece.len() && written < STEP_BYTES {
                return Ok(out);
            }
            if out.len() > most {
                let what = format!("it expands to more than {most} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, what));
            }
        }
    }
}
