//! Compressed records: pieces of one zstd stream.
//!
//! The stream goes on from record to record and is never ended, so its state is kept; what a piece expands to ends
//! anywhere in a record, so the rest is kept too. A directory has one stream per file. A record may hold as much as the
//! recorder's buffer did, hundreds of MiB, so it is expanded a part at a time.

use crate::bytes::Bytes;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use zstd::stream::raw::{Decoder, InBuffer, Operation, OutBuffer};

/// How much zstd expands at a time.
const STEP_BYTES: usize = 128 << 10;

/// How much is fed at a time: of a step that fails zstd does not tell what it has written, so that much may be lost.
const FEED_BYTES: usize = 1 << 10;

/// How much of a record is expanded before what is in it is walked.
pub(super) const PART_BYTES: u64 = 4 << 20;

/// The state of a compressed stream.
#[derive(Default)]
pub(crate) struct Decompressor {
    decoder: Option<Decoder<'static>>,
    /// Where zstd writes to: clearing as much for every piece would cost more than most pieces.
    step: Vec<u8>,
    /// What of the record at hand has not been fed yet.
    waiting: VecDeque<Bytes>,
    /// How much of the first of that has been fed.
    fed: usize,
    /// Whether zstd may hold more of what it was fed: it filled all that it was given to write to.
    is_full: bool,
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
    /// Takes the pieces of the next record; how many bytes they are.
    pub(crate) fn take(&mut self, pieces: impl Iterator<Item = Bytes>) -> usize {
        self.waiting.extend(pieces.filter(|piece| !piece.is_empty()));
        self.waiting.iter().map(|piece| piece.len()).sum()
    }

    /// Whether there is more of the record at hand.
    pub(crate) fn has_more(&self) -> bool {
        !self.waiting.is_empty() || self.is_full
    }

    /// Gives up the stream: this record and all that follow.
    pub(crate) fn give_up(&mut self) {
        *self =
            Decompressor { failed: true, left: std::mem::take(&mut self.left), ..Decompressor::default() };
    }

    /// What was left, and what the next part of the record expands to, of about this size at most; and why that is not all.
    /// Nothing where it expands to nothing: what was left goes on waiting.
    ///
    /// With an error the state is lost: every later piece fails too.
    pub(crate) fn expand(&mut self, most: usize) -> (Option<Vec<u8>>, Option<io::Error>) {
        if self.failed {
            self.give_up();
            let what = "it follows on a piece that could not be decompressed";
            return (None, Some(io::Error::new(io::ErrorKind::InvalidData, what)));
        }
        let mut out = std::mem::take(&mut self.left);
        let before = out.len();
        let mut error = None;
        // What zstd still holds of a record that has been fed is a block at most, and whether it does tells if this is the end.
        let mut is_enough = false;
        while error.is_none() && self.has_more() && (!is_enough || self.waiting.is_empty()) {
            error = self.run(&mut out).err();
            is_enough = out.len() - before >= most;
        }
        if error.is_some() {
            self.give_up();
        }
        if out.len() == before {
            self.left = out;
            return (None, error);
        }
        (Some(out), error)
    }

    /// One step of zstd.
    fn run(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let decoder = match &mut self.decoder {
            Some(decoder) => decoder,
            slot => slot.insert(Decoder::new()?),
        };
        self.step.resize(STEP_BYTES, 0);
        let piece: &[u8] = self.waiting.front().map_or(&[], |piece| piece);
        let rest = piece.get(self.fed..).unwrap_or_default();
        let mut input = InBuffer::around(rest.get(..FEED_BYTES).unwrap_or(rest));
        let mut output = OutBuffer::around(self.step.as_mut_slice());
        decoder.run(&mut input, &mut output)?;
        self.fed += input.pos();
        self.is_full = output.as_slice().len() == STEP_BYTES;
        out.extend_from_slice(output.as_slice());
        if self.fed >= piece.len() {
            self.waiting.pop_front();
            self.fed = 0;
        }
        Ok(())
    }
}
