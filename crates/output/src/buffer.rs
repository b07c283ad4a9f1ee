//! Texts that grow piece by piece.
//!
//! Most pieces are short, and to copy a number of bytes that the compiler knows takes less than to ask how many there are. So a whole
//! chunk is appended, and what is too much of it taken back.

/// A piece up to this length is copied in one go.
pub(crate) const PIECE: usize = 64;

/// A text that pieces are appended to.
pub(crate) trait Append {
    /// Appends the first `used` bytes of a chunk, which has no fewer.
    fn chunk<const N: usize>(&mut self, chunk: &[u8; N], used: usize);

    /// Appends bytes.
    fn slice(&mut self, bytes: &[u8]);

    /// Appends a byte so many times.
    fn repeat(&mut self, byte: u8, count: usize);

    /// Appends a byte.
    #[inline(always)]
    fn byte(&mut self, byte: u8) {
        self.chunk(&[byte], 1);
    }

    /// Appends spaces.
    #[inline]
    fn pad(&mut self, count: usize) {
        match count {
            0..=16 => self.chunk(&[b' '; 16], count),
            _ => self.repeat(b' ', count),
        }
    }

    /// How long it is by now.
    fn length(&self) -> usize;

    /// Appends `len` bytes of a text from `start` on. It is quick where [`PIECE`] more bytes are behind them, whatever these are.
    #[inline(always)]
    fn piece(&mut self, text: &[u8], start: usize, len: usize) {
        let rest = text.get(start..).unwrap_or_default();
        match rest.first_chunk::<PIECE>() {
            Some(chunk) if len <= PIECE => self.chunk(chunk, len),
            _ => self.slice(rest.get(..len).unwrap_or_default()),
        }
    }
}

impl Append for Vec<u8> {
    #[inline(always)]
    fn chunk<const N: usize>(&mut self, chunk: &[u8; N], used: usize) {
        let before = self.len();
        self.extend_from_slice(chunk);
        self.truncate(before + used);
    }

    fn slice(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn repeat(&mut self, byte: u8, count: usize) {
        self.resize(self.len() + count, byte);
    }

    fn length(&self) -> usize {
        self.len()
    }
}

/// A text that lines are put together in, with room behind it: whether there is enough of that is asked for a line, not for each of its pieces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer {
    /// The text, and bytes that do not count.
    bytes: Vec<u8>,
    len: usize,
}

/// So much room is made at once, in bytes: this part of the text, at least, and at most. Longer runs of zeros are made in another way, which
/// takes longer to begin.
const PART: usize = 64;
const LEAST_ROOM: usize = 2 * PIECE;
const MOST_ROOM: usize = 2000;

impl Buffer {
    /// One in which so many bytes find room without it being moved.
    pub(crate) fn with_capacity(bytes: usize) -> Buffer {
        Buffer { bytes: Vec::with_capacity(bytes), len: 0 }
    }

    /// The text.
    pub(crate) fn as_slice(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The text, and bytes behind it that do not count.
    pub(crate) fn with_room(&self) -> &[u8] {
        &self.bytes
    }

    /// Forgets the text; the memory stays, and is room for the next one.
    pub(crate) fn clear(&mut self) {
        self.len = 0;
    }

    /// Bytes that it has memory for.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    /// Has something appended by those who know only of vectors.
    pub(crate) fn append<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.bytes.truncate(self.len);
        let done = write(&mut self.bytes);
        self.len = self.bytes.len();
        done
    }

    /// Puts something into so much room: `put` says how many bytes of it count.
    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, put: impl FnOnce(&mut [u8; N]) -> usize) {
        loop {
            if let Some(room) = self.bytes.get_mut(self.len..).and_then(<[u8]>::first_chunk_mut) {
                self.len += put(room);
                return;
            }
            self.make_room(N);
        }
    }

    /// Appends a part of the text once more.
    #[inline]
    pub(crate) fn again(&mut self, start: usize, len: usize) {
        // A piece may be longer than what is left of the part: it ends in room.
        if self.bytes.len() - self.len < len + PIECE {
            self.make_room(len + PIECE);
        }
        let Buffer { bytes, len: to } = self;
        for at in (0..len).step_by(PIECE) {
            let from = start + at;
            if from + PIECE <= bytes.len() {
                bytes.copy_within(from..from + PIECE, *to + at);
            }
        }
        self.len += len;
    }

    #[cold]
    #[inline(never)]
    fn make_room(&mut self, bytes: usize) {
        let room = (self.len / PART).clamp(LEAST_ROOM, MOST_ROOM);
        self.bytes.resize(self.len + bytes.max(room), 0);
    }
}

impl Append for Buffer {
    #[inline(always)]
    fn chunk<const N: usize>(&mut self, chunk: &[u8; N], used: usize) {
        self.put(|room| {
            *room = *chunk;
            used
        });
    }

    fn slice(&mut self, bytes: &[u8]) {
        if self.bytes.len().saturating_sub(self.len) < bytes.len() {
            self.make_room(bytes.len());
        }
        if let Some(room) = self.bytes.get_mut(self.len..self.len + bytes.len()) {
            room.copy_from_slice(bytes);
            self.len += bytes.len();
        }
    }

    fn repeat(&mut self, byte: u8, count: usize) {
        self.append(|text| text.resize(text.len() + count, byte));
    }

    #[inline(always)]
    fn length(&self) -> usize {
        self.len
    }
}

/// A text that is appended to many lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Piece {
    /// With so much behind it that it can be copied in one go.
    bytes: Box<[u8]>,
    len: usize,
}

impl Piece {
    pub(crate) fn new(mut text: Vec<u8>) -> Piece {
        let len = text.len();
        text.resize(len + PIECE, 0);
        Piece { bytes: text.into(), len }
    }

    /// Appends it, spaces before it up to `width` bytes.
    #[inline]
    pub(crate) fn append_right(&self, out: &mut impl Append, width: usize) {
        if width > self.len {
            out.pad(width - self.len);
        }
        out.piece(&self.bytes, 0, self.len);
    }
}

/// Puts a chunk somewhere into room, and says where its first `used` bytes end there. It must lie in the room as a whole.
#[inline(always)]
pub(crate) fn put<const N: usize>(room: &mut [u8], at: usize, chunk: &[u8; N], used: usize) -> usize {
    if let Some(place) = room.get_mut(at..).and_then(|room| room.first_chunk_mut()) {
        *place = *chunk;
    }
    at + used
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What is done to a text.
    #[derive(Clone, Debug)]
    enum Step {
        Chunk([u8; 7], usize),
        Slice(Vec<u8>),
        Repeat(u8, usize),
        Piece(usize, usize),
        Again(usize, usize),
        Vector(Vec<u8>),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            (any::<[u8; 7]>(), 0..=7_usize).prop_map(|(chunk, used)| Step::Chunk(chunk, used)),
            prop::collection::vec(any::<u8>(), 0..200).prop_map(Step::Slice),
            prop::collection::vec(any::<u8>(), 4000..9000).prop_map(Step::Slice),
            (any::<u8>(), 0..100_usize).prop_map(|(byte, count)| Step::Repeat(byte, count)),
            (0..300_usize, 0..150_usize).prop_map(|(start, len)| Step::Piece(start, len)),
            (0..300_usize, 0..300_usize).prop_map(|(start, len)| Step::Again(start, len)),
            prop::collection::vec(any::<u8>(), 0..200).prop_map(Step::Vector),
        ];
        prop::collection::vec(step, 0..60)
    }

    fn append(out: &mut impl Append, step: &Step, pieces: &[u8]) {
        match step {
            Step::Chunk(chunk, used) => out.chunk(chunk, *used),
            Step::Slice(bytes) => out.slice(bytes),
            Step::Repeat(byte, count) => out.repeat(*byte, *count),
            Step::Piece(start, len) => out.piece(pieces, *start, *len),
            Step::Again(..) | Step::Vector(_) => {}
        }
    }

    proptest! {
        #[test]
        fn a_buffer_has_the_text_that_a_vector_has(steps in steps()) {
            let pieces: Vec<u8> = (0..=255).cycle().take(300).collect();
            let (mut buffer, mut vector, mut plain) = (Buffer::default(), Vec::new(), Vec::<u8>::new());
            for step in &steps {
                append(&mut buffer, step, &pieces);
                append(&mut vector, step, &pieces);
                match step {
                    Step::Chunk(chunk, used) => plain.extend(&chunk[..*used]),
                    Step::Slice(bytes) => plain.extend(bytes),
                    Step::Repeat(byte, count) => plain.extend(std::iter::repeat_n(byte, *count)),
                    Step::Piece(start, len) => plain.extend(pieces.get(*start..start + len).unwrap_or_default()),
                    Step::Again(start, len) => {
                        // Some part of what is there.
                        let start = (*start).min(plain.len());
                        let part = plain[start..].iter().copied().take(*len).collect::<Vec<u8>>();
                        buffer.again(start, part.len());
                        vector.extend(&part);
                        plain.extend(part);
                    }
                    Step::Vector(bytes) => {
                        buffer.append(|text| text.extend(bytes));
                        vector.extend(bytes);
                        plain.extend(bytes);
                    }
                }
                prop_assert_eq!(buffer.length(), plain.len());
            }
            prop_assert_eq!(buffer.as_slice(), &*plain);
            prop_assert_eq!(&vector, &plain);
            buffer.clear();
            buffer.slice(b"anew");
            prop_assert_eq!(buffer.as_slice(), b"anew");
        }
    }
}
