//! The lines of places in code, each worked out once: a call chain is then a few numbers and texts that are put together.

use super::pieces::{Line, Pieces, TextId};
use crate::buffer::{Append as _, Buffer};
use crate::digits::hex;
use crate::names::UNKNOWN;
use crate::text::{self, shown_bytes};
use readperf_profile::names::Frame;
use readperf_profile::{AddressId, CodesSlice, Function, FunctionId, Names, NewBinaries, NewPlaces, touch};
use readperf_session::{Binary, BinaryKind, CodeAddress, CpuMode};
use std::borrow::Cow;

/// How a place is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// In a line of its own in a call chain; otherwise behind the event.
    pub(super) chain: bool,
    pub(super) symbol: bool,
    pub(super) symbol_offset: bool,
    pub(super) dso: bool,
    pub(super) dso_offset: bool,
    pub(super) source_line: bool,
    /// Whether source files have their directories.
    pub(super) full_path: bool,
    /// Whether inlined functions have lines, too.
    pub(super) inlines: bool,
    /// Whether it is a caller that was looked up at its call, the byte before the return address that is shown.
    pub(super) returns: bool,
}

/// The lines of all places in one style, by [`AddressId`].
#[derive(Clone, Debug)]
pub(super) struct Places {
    style: Style,
    /// Whether each place has one line, and nothing stands behind that.
    has_whole_lines: bool,
    /// The lines of all places, one after the other.
    lines: Vec<Line>,
    /// Where those of each place end, if there may be several: else each has one.
    ends: Vec<usize>,
    /// What stands behind each line, where hardly any two have the same.
    rests: Vec<TextId>,
    /// What stands behind the address of a place where nothing is mapped.
    unmapped: TextId,
    pieces: Pieces,
}

/// A place where nothing is mapped.
const UNMAPPED: CodeAddress = CodeAddress { binary: None, address: 0, ip: 0, mode: CpuMode::User };

impl Places {
    pub(super) fn new(style: Style) -> Places {
        let mut pieces = Pieces::default();
        let names = Names::default();
        let none = NewPlaces {
            before: 0,
            codes: CodesSlice::default(),
            binaries: NewBinaries::All(&[]),
            names: &names,
        };
        let level =
            Level { code: &UNMAPPED, binary: None, function: None, own: None, inlined: false, frame: None };
        let line = style.line(&mut pieces, &none, level);
        let mut text = pieces.behind_address(&line);
        if style.has_rest() {
            style.write_rest(&mut text, &none, level);
        }
        let unmapped = pieces.add(|out| out.append(&mut text));
        let (lines, ends, rests) = (Vec::new(), Vec::new(), Vec::new());
        let has_whole_lines = !style.has_levels() && !style.has_rest();
        Places { style, has_whole_lines, lines, ends, rests, unmapped, pieces }
    }

    /// Forgets all places.
    pub(super) fn forget(&mut self) {
        *self = Places::new(self.style);
    }

    /// Makes the lines of new places.
    pub(super) fn learn(&mut self, new: &NewPlaces<'_>) {
        self.pieces.forget_binaries();
        self.lines.reserve_exact(new.codes.len());
        for (id, code) in new.iter() {
            self.learn_place(new, id, &code);
            match self.style.has_levels() {
                true => self.ends.push(self.lines.len()),
                // One of which nothing is known has its place, too.
                false => self.fill(id.index() + 1),
            }
        }
    }

    fn fill(&mut self, len: usize) {
        self.lines.resize(len, Line::NOTHING);
        if self.style.has_rest() {
            let Places { rests, pieces, .. } = self;
            rests.resize_with(len, || pieces.add(|_| {}));
        }
    }

    /// The lines of a place, and the number of the first; none if it has not been learned.
    #[inline]
    fn at(&self, id: AddressId) -> (usize, &[Line]) {
        let index = id.index();
        if !self.style.has_levels() {
            return (index, self.lines.get(index).map_or(&[], std::slice::from_ref));
        }
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        (start, self.lines.get(start..end).unwrap_or_default())
    }

    /// Touches the lines of these places, so that the processor waits for many at once.
    pub(super) fn touch(&self, places: &[AddressId]) {
        if !self.has_whole_lines {
            return;
        }
        let last = self.lines.len().saturating_sub(1);
        // Those without a line have one touched, too: to ask would take longer.
        let line = |place: &AddressId| self.lines.get(place.index().min(last));
        touch(places.iter().map(|place| line(place).map_or(0, |line| line.address)));
    }

    /// Appends the lines of a place.
    #[inline(always)]
    pub(super) fn write_to(&self, id: AddressId, out: &mut Buffer) {
        if self.has_whole_lines {
            if let Some(line) = self.lines.get(id.index()) {
                self.pieces.write(line, self.style.chain, out);
            }
            return;
        }
        let (first, lines) = self.at(id);
        for (nr, line) in (first..).zip(lines) {
            self.pieces.write(line, self.style.chain, out);
            if let Some(rest) = self.rests.get(nr) {
                out.slice(self.pieces.text(*rest));
            }
        }
    }

    /// Appends the line of a place where nothing is mapped.
    #[inline(always)]
    pub(super) fn write_unmapped(&self, ip: u64, out: &mut Buffer) {
        self.pieces.write_behind(ip, self.unmapped, self.style.chain, out);
    }

    fn learn_place(&mut self, known: &NewPlaces<'_>, id: AddressId, code: &CodeAddress) {
        let Style { chain, returns, .. } = self.style;
        let code = &if returns { behind_call(code) } else { *code };
        let binary = code.binary.and_then(|binary| known.binary(binary));
        let function_of = |id: FunctionId| Some((id, known.names.function(id)?));
        let function = known.names.function_at(id).and_then(function_of);
        let frames = known.names.frames_at(id);
        let innermost = frames.clone().next();
        if !self.style.has_levels() {
            if chain && innermost.is_none() {
                return;
            }
            // The line of what is not shown apart is that of the innermost code.
            let level = Level { code, binary, function, own: function, inlined: false, frame: innermost };
            return self.push(known, level);
        }
        let last = frames.len().saturating_sub(1);
        for (nr, frame) in frames.enumerate() {
            let inlined = nr < last;
            let own = if inlined { function_of(frame.function) } else { function };
            let level = Level { code, binary, function, own, inlined, frame: Some(frame) };
            self.push(known, level);
        }
    }

    fn push(&mut self, known: &NewPlaces<'_>, level: Level<'_>) {
        let Places { style, pieces, .. } = self;
        self.lines.push(style.line(pieces, known, level));
        if style.has_rest() {
            self.rests.push(pieces.add(|out| style.write_rest(out, known, level)));
        }
    }
}

/// A function with its number.
type Numbered<'n> = (FunctionId, Function<'n>);

/// One level of the code at a place.
#[derive(Clone, Copy, Debug)]
struct Level<'n> {
    code: &'n CodeAddress,
    binary: Option<&'n Binary>,
    /// The function that the place lies in.
    function: Option<Numbered<'n>>,
    /// The function of this level.
    own: Option<Numbered<'n>>,
    inlined: bool,
    frame: Option<Frame>,
}

impl Style {
    /// Whether each level of a place has a line.
    fn has_levels(self) -> bool {
        self.chain && self.inlines
    }

    /// Whether lines end with something that hardly any other has.
    fn has_rest(self) -> bool {
        self.source_line || self.dso && self.dso_offset
    }

    /// The line of a level.
    fn line(self, pieces: &mut Pieces, known: &NewPlaces<'_>, level: Level<'_>) -> Line {
        let Level { code, binary, inlined, .. } = level;
        // Of files chains show the offset in them, of the rest the address.
        let address = match binary {
            Some(binary) if self.chain && !is_kernel(&binary.kind) => code.address,
            _ => code.ip,
        };
        let own = level.own.filter(|(_, own)| self.symbol && own.has_name());
        let write_name = |out: &mut Vec<u8>| {
            if self.symbol {
                out.push(b' ');
                write_name(out, own.and_then(|(_, own)| name_of(own)), self.symbol_offset)
            } else {
                false
            }
        };
        let write_tail = |out: &mut Vec<u8>| {
            if self.dso && !inlined {
                out.extend_from_slice(b" (");
                out.extend_from_slice(binary_name(binary).as_bytes());
            }
            if !self.has_rest() {
                self.write_rest(out, known, level);
            }
        };
        let far = offset(code, level.function.map(|(_, function)| function));
        let Ok(offset) = u32::try_from(far) else {
            let write_name = |out: &mut Vec<u8>| {
                if write_name(out) {
                    hex(out, far, 0);
                }
            };
            return Line { address, offset: 0, frame: pieces.frame_of_one(write_name, write_tail) };
        };
        let frame = pieces.frame(own.map(|(id, _)| id), write_name, (code.binary, inlined), write_tail);
        Line { address, offset, frame }
    }

    /// What follows the name of the binary.
    fn write_rest(self, out: &mut Vec<u8>, known: &NewPlaces<'_>, level: Level<'_>) {
        if self.dso && !level.inlined {
            if self.dso_offset && level.binary.is_some() {
                out.extend_from_slice(b"+0x");
                hex(out, level.code.address, 0);
            }
            out.push(b')');
        }
        if self.source_line {
            self.write_line(out, known, level);
        }
        if level.inlined {
            out.extend_from_slice(b" (inlined)");
        }
        if self.chain {
            out.push(b'\n');
        }
    }

    fn write_line(self, out: &mut Vec<u8>, known: &NewPlaces<'_>, level: Level<'_>) {
        let line = level.frame.and_then(|frame| Some((known.names.file(frame.file?)?, frame.line)));
        match (line, level.binary) {
            (Some((file, line)), _) => {
                out.extend_from_slice(b"\n  ");
                out.extend_from_slice(file_name(file, self.full_path).as_bytes());
                out.push(b':');
                crate::digits::decimal(out, line.into(), 0);
            }
            (None, Some(binary)) => {
                out.extend_from_slice(b"\n  ");
                out.extend_from_slice(shown(&binary.short_name).as_bytes());
                out.push(b'[');
                hex(out, level.code.address, 0);
                out.push(b']');
            }
            (None, None) => {}
        }
    }
}

/// What writes a function's name, if it has one.
pub(super) fn name_of(function: Function<'_>) -> Option<impl FnOnce(&mut Vec<u8>)> {
    function.has_name().then_some(move |out: &mut Vec<u8>| {
        out.extend_from_slice(text::shown(function.name().unwrap_or_default()).as_bytes());
    })
}

/// The name of a function, if it has one, and how far behind its start a place is; inlined ones count from the function that they are in.
pub(super) fn write_symbol(
    out: &mut Vec<u8>,
    code: &CodeAddress,
    function: Option<Function<'_>>,
    with_offset: bool,
    name: Option<impl FnOnce(&mut Vec<u8>)>,
) {
    if write_name(out, name, with_offset) {
        hex(out, offset(code, function), 0);
    }
}

/// The name of a function, if it has one. Whether the offset follows: what stands before that is written.
fn write_name(out: &mut Vec<u8>, name: Option<impl FnOnce(&mut Vec<u8>)>, with_offset: bool) -> bool {
    let Some(name) = name else {
        out.extend_from_slice(b"[unknown]");
        return false;
    };
    name(out);
    if with_offset {
        out.extend_from_slice(b"+0x");
    }
    with_offset
}

/// How far a place is behind the start of the function that it lies in.
fn offset(code: &CodeAddress, function: Option<Function<'_>>) -> u64 {
    let named = function.filter(|function| function.has_name());
    named.map_or(0, |named| code.address.wrapping_sub(named.address))
}

/// A binary as perf prints it here: files with their path, the kernel by its name in brackets. So are modules, unless the
/// recording has a table of build-ids, where they are by path.
pub(super) fn binary_name(binary: Option<&Binary>) -> Cow<'_, str> {
    binary.map_or(Cow::Borrowed(UNKNOWN), |binary| shown(recorded_name(binary)))
}

/// The bytes of what [`binary_name`] shows.
pub(super) fn recorded_name(binary: &Binary) -> &[u8] {
    match binary {
        Binary { kind: BinaryKind::Module { .. }, name, build_id: Some(_), .. } => name,
        binary if is_kernel(&binary.kind) => &binary.short_name,
        binary => &binary.name,
    }
}

/// A source file, with its directories or without.
pub(super) fn file_name(file: &str, with_directories: bool) -> Cow<'_, str> {
    text::shown(if with_directories { file } else { file.rsplit('/').next().unwrap_or(file) })
}

/// A name of bytes, made harmless.
pub(super) fn shown(name: &[u8]) -> Cow<'_, str> {
    shown_bytes(name)
}

/// A text of bytes, made harmless; its tabs stay. It is no name: it is whole.
pub(super) fn shown_with_tabs(text: &[u8]) -> Vec<u8> {
    let mut harmless = Vec::with_capacity(text.len());
    for (nr, part) in text.split(|byte| *byte == b'\t').enumerate() {
        if nr > 0 {
            harmless.push(b'\t');
        }
        harmless.extend_from_slice(text::printable_bytes(part).as_bytes());
    }
    harmless
}

/// The return address of a call, given the place that was looked up for it.
pub(super) fn behind_call(call: &CodeAddress) -> CodeAddress {
    CodeAddress { address: call.address.wrapping_add(1), ip: call.ip.wrapping_add(1), ..*call }
}

/// Whether it is code of a kernel, host's or guest's: its addresses are those at run time.
fn is_kernel(kind: &BinaryKind) -> bool {
    kind.is_kernel() || matches!(kind, BinaryKind::GuestKernel { .. } | BinaryKind::GuestModule { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_whole_and_names_are_not() {
        let long = "x".repeat(5000);
        let text = format!("\x1b\t{long}");
        assert_eq!(shown_with_tabs(text.as_bytes()), format!("\\x1b\t{long}").as_bytes());
        assert_eq!(shown(long.as_bytes()).chars().count(), 1000);
    }
}
