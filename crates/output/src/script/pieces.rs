//! What the lines of places are put together from, each text held once: names of functions and of binaries are most of them.

use crate::buffer::{Append as _, Buffer, PIECE, put};
use crate::digits::{hex_left, hex_right};
use readperf_profile::FunctionId;
use readperf_session::BinaryId;
use rustc_hash::FxHashMap;

/// A line of a place: numbers, and which texts they stand among.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// The address to show.
    pub(super) address: u64,
    /// How far behind the start of the function it is.
    pub(super) offset: u32,
    /// The texts.
    pub(super) frame: FrameId,
}

impl Line {
    /// That of a place of which nothing is shown.
    pub(super) const NOTHING: Line = Line { address: 0, offset: 0, frame: FrameId(u32::MAX) };
}

/// The number of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TextId(u32);

/// The number of what lines in the same function and binary have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameId(u32);

/// What lines in the same function and binary have in common. It has the places of its texts, not their numbers: what is looked
/// up for a line is looked up for each frame of all samples.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// What stands behind the address: its first byte, and how many.
    name: (usize, usize),
    /// What stands behind that and the offset.
    tail: (usize, usize),
    /// Whether the offset is shown.
    has_offset: bool,
    /// Whether both texts are so short that each is copied in one go.
    is_short: bool,
}

/// A name as lines show it, and the frame that was asked for last with it.
#[derive(Clone, Copy, Debug)]
struct Name {
    text: TextId,
    has_offset: bool,
    last: Option<(TextId, FrameId)>,
}

/// What a line says of its binary: which, and whether the function is inlined.
pub(super) type TailKey = (Option<BinaryId>, bool);

/// The texts of lines.
#[derive(Clone, Debug, Default)]
pub(super) struct Pieces {
    /// All texts, one after the other, and behind the last so much that each can be copied as a piece.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    frames: Vec<Frame>,
    by_texts: FxHashMap<(TextId, TextId), FrameId>,
    /// By function, one higher; the first is that of what has none.
    names: Vec<Option<Name>>,
    tails: FxHashMap<TailKey, TextId>,
    /// The tail that was asked for last: most of those that follow one another have the same.
    last_tail: Option<(TailKey, TextId)>,
    /// Tails of the time before [`Pieces::forget_binaries`].
    earlier: FxHashMap<TailKey, TextId>,
}

impl Pieces {
    /// What is known of a binary may become more.
    pub(super) fn forget_binaries(&mut self) {
        self.last_tail = None;
        self.earlier.extend(self.tails.drain());
    }

    /// Adds a text.
    pub(super) fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> TextId {
        self.bytes.truncate(self.ends.last().copied().unwrap_or_default());
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.resize(self.bytes.len() + PIECE, 0);
        TextId(number(self.ends.len() - 1))
    }

    /// What lines of a function in a binary have in common. `name` writes what it says of the function, and tells whether the
    /// offset follows; `tail` writes the rest. They are asked if that is not known.
    pub(super) fn frame(
        &mut self,
        function: Option<FunctionId>,
        name: impl FnOnce(&mut Vec<u8>) -> bool,
        key: TailKey,
        tail: impl FnOnce(&mut Vec<u8>),
    ) -> FrameId {
        let index = function.map_or(0, |function| function.index() + 1);
        let name = match self.names.get(index) {
            Some(Some(name)) => *name,
            _ => self.learn_name(index, name),
        };
        let tail = match self.last_tail {
            Some((last, tail)) if last == key => tail,
            _ => self.tail(key, tail),
        };
        match name.last {
            Some((last, frame)) if last == tail => frame,
            _ => self.learn_frame(index, name, tail),
        }
    }

    /// As [`Pieces::frame`], of a line whose offset is too great for [`Line::offset`], and part of what `name` writes.
    pub(super) fn frame_of_one(
        &mut self,
        name: impl FnOnce(&mut Vec<u8>),
        tail: impl FnOnce(&mut Vec<u8>),
    ) -> FrameId {
        let (name, tail) = (self.add(name), self.add(tail));
        self.add_frame(name, tail, false)
    }

    fn add_frame(&mut self, name: TextId, tail: TextId, has_offset: bool) -> FrameId {
        let (name, tail) = (self.place(name), self.place(tail));
        let is_short = name.1 <= PIECE && tail.1 <= PIECE;
        let frame = Frame { name, tail, has_offset, is_short };
        self.frames.push(frame);
        FrameId(number(self.frames.len() - 1))
    }

    fn learn_name(&mut self, index: usize, write: impl FnOnce(&mut Vec<u8>) -> bool) -> Name {
        let mut has_offset = false;
        let text = self.add(|out| has_offset = write(out));
        let name = Name { text, has_offset, last: None };
        if self.names.len() <= index {
            self.names.resize(index + 1, None);
        }
        if let Some(slot) = self.names.get_mut(index) {
            *slot = Some(name);
        }
        name
    }

    fn tail(&mut self, key: TailKey, write: impl FnOnce(&mut Vec<u8>)) -> TextId {
        let tail = self.tails.get(&key).copied().unwrap_or_else(|| {
            let mut text = Vec::new();
            write(&mut text);
            let earlier = self.earlier.get(&key).copied().filter(|earlier| self.text(*earlier) == text);
            let tail = earlier.unwrap_or_else(|| self.add(|out| out.append(&mut text)));
            self.tails.insert(key, tail);
            tail
        });
        self.last_tail = Some((key, tail));
        tail
    }

    fn learn_frame(&mut self, index: usize, name: Name, tail: TextId) -> FrameId {
        let known = self.by_texts.get(&(name.text, tail)).copied();
        let frame = known.unwrap_or_else(|| {
            let frame = self.add_frame(name.text, tail, name.has_offset);
            self.by_texts.insert((name.text, tail), frame);
            frame
        });
        if let Some(Some(name)) = self.names.get_mut(index) {
            name.last = Some((tail, frame));
        }
        frame
    }

    /// Where a text begins, and how long it is.
    #[inline]
    fn place(&self, TextId(number): TextId) -> (usize, usize) {
        let number = number as usize;
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        (start, end - start)
    }

    /// A text.
    pub(super) fn text(&self, text: TextId) -> &[u8] {
        let (start, len) = self.place(text);
        self.bytes.get(start..start + len).unwrap_or_default()
    }

    /// Appends a line, with a tab before it if it is one of a chain.
    #[inline(always)]
    pub(super) fn write(&self, line: &Line, is_of_chain: bool, out: &mut Buffer) {
        let Some(frame) = self.frames.get(line.frame.0 as usize) else { return };
        let (Some(name), Some(tail)) = (self.piece(frame.name.0), self.piece(frame.tail.0)) else { return };
        if !frame.is_short {
            return self.write_long(line, frame, is_of_chain, out);
        }
        out.put::<{ ADDRESS + PIECE + OFFSET + PIECE }>(|room| {
            let at = put_address(room, line.address, is_of_chain);
            let at = put(room, at, name, frame.name.1);
            let (offset, digits) = hex_left(line.offset);
            let at = put(room, at, &offset, if frame.has_offset { digits } else { 0 });
            put(room, at, tail, frame.tail.1)
        });
    }

    /// A line with a text that is too long to be copied in one go.
    #[cold]
    fn write_long(&self, line: &Line, frame: &Frame, is_of_chain: bool, out: &mut Buffer) {
        out.put::<ADDRESS>(|room| put_address(room, line.address, is_of_chain));
        out.piece(&self.bytes, frame.name.0, frame.name.1);
        if frame.has_offset {
            let (offset, digits) = hex_left(line.offset);
            out.chunk(&offset, digits);
        }
        out.piece(&self.bytes, frame.tail.0, frame.tail.1);
    }

    /// A text with what is behind it: there always is so much.
    #[inline]
    fn piece(&self, start: usize) -> Option<&[u8; PIECE]> {
        self.bytes.get(start..)?.first_chunk()
    }

    /// What a line without an offset has behind its address.
    pub(super) fn behind_address(&self, line: &Line) -> Vec<u8> {
        let Some(frame) = self.frames.get(line.frame.0 as usize) else { return Vec::new() };
        let text = |(start, len): (usize, usize)| self.bytes.get(start..start + len).unwrap_or_default();
        [text(frame.name), text(frame.tail)].concat()
    }

    /// Appends a line that is an address and a text.
    #[inline(always)]
    pub(super) fn write_behind(&self, address: u64, text: TextId, is_of_chain: bool, out: &mut Buffer) {
        let (start, len) = self.place(text);
        let Some(text) = self.piece(start).filter(|_| len <= PIECE) else {
            out.put::<ADDRESS>(|room| put_address(room, address, is_of_chain));
            return out.piece(&self.bytes, start, len);
        };
        out.put::<{ ADDRESS + PIECE }>(|room| {
            let at = put_address(room, address, is_of_chain);
            put(room, at, text, len)
        });
    }
}

/// Bytes of the beginning of a line at most.
const ADDRESS: usize = 1 + 16;

/// Bytes of an offset at most.
const OFFSET: usize = 8;

/// The beginning of a line, with a tab before it if it is one of a chain. Where it ends.
#[inline(always)]
fn put_address(room: &mut [u8], address: u64, is_of_chain: bool) -> usize {
    let at = put(room, 0, b"\t", is_of_chain.into());
    put(room, at, &hex_right(address), 16)
}

/// Memory is at its end before the numbers are.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &'static str) -> impl FnOnce(&mut Vec<u8>) -> bool {
        move |out| {
            out.extend_from_slice(name.as_bytes());
            name.ends_with("+0x")
        }
    }

    fn tail(name: &'static str) -> impl FnOnce(&mut Vec<u8>) {
        move |out| out.extend_from_slice(name.as_bytes())
    }

    #[test]
    fn lines_are_put_together_from_texts_that_are_held_once() {
        let mut pieces = Pieces::default();
        let (main, other) = (Some(FunctionId::new(4)), Some(FunctionId::new(900)));
        let long: &'static str = "x".repeat(PIECE * 3).leak();
        let mut lines = vec![
            pieces.frame(main, named(" main+0x"), (None, false), tail(" (a)")),
            pieces.frame(other, named(long), (None, true), tail(" (inlined)")),
            pieces.frame(None, named(" [unknown]"), (None, false), tail("not asked")),
            pieces.frame(main, named("not asked"), (None, true), tail("not asked")),
        ];
        let texts = pieces.ends.len();
        pieces.forget_binaries();
        lines.push(pieces.frame(main, named("not asked"), (None, false), tail(" (a)")));
        assert_eq!((lines.last(), pieces.ends.len()), (lines.first(), texts), "it is called as before");
        pieces.forget_binaries();
        lines.push(pieces.frame(main, named("not asked"), (None, false), tail(" (b)")));
        lines.push(pieces.frame_of_one(tail(" far+0x123456789"), tail(" (b)")));
        let mut out = Buffer::default();
        out.byte(b'-');
        for frame in lines {
            let line = Line { address: 0x123, offset: 0x7f, frame };
            pieces.write(&line, true, &mut out);
            out.byte(b'\n');
        }
        let address = format!("{:16x}", 0x123);
        let expected = [
            " main+0x7f (a)",
            &format!("{long} (inlined)"),
            " [unknown] (a)",
            " main+0x7f (inlined)",
            " main+0x7f (a)",
            " main+0x7f (b)",
            " far+0x123456789 (b)",
        ]
        .map(|rest| format!("\t{address}{rest}\n"))
        .concat();
        assert_eq!(String::from_utf8_lossy(out.as_slice()), format!("-{expected}"));
    }
}
