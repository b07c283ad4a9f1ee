//! The lines of places in code, each made once: a call chain is then a few copies.

use super::Known;
use super::digits::hex;
use crate::names::UNKNOWN;
use crate::text::{self, shown_bytes};
use readperf_profile::names::Frame;
use readperf_profile::{AddressId, Function};
use readperf_session::{Binary, BinaryKind, CodeAddress};
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
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Places {
    pub(super) fn new(style: Style) -> Places {
        Places { style, bytes: Vec::new(), ends: Vec::new() }
    }

    /// Makes the lines of the places that came since the last time.
    pub(super) fn learn(&mut self, known: &Known<'_>) {
        for index in self.ends.len()..known.addresses.len() {
            if let Some(id) = known.addresses.id(index) {
                self.write(known, id);
            }
            self.ends.push(self.bytes.len());
        }
    }

    /// The lines of a place; nothing if it has not been learned.
    #[inline]
    pub(super) fn get(&self, id: AddressId) -> &[u8] {
        let index = id.index();
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn write(&mut self, known: &Known<'_>, id: AddressId) {
        let Some(code) = known.addresses.get(id) else { return };
        let Style { chain, inlines, returns, .. } = self.style;
        let code = &if returns { behind_call(code) } else { *code };
        let out = &mut self.bytes;
        let binary = code.binary.and_then(|binary| known.session.binary(binary));
        let function = known.names.function_at(id).and_then(|function| known.names.function(function));
        if !chain {
            hex(out, code.ip, 16);
            let level = Level { code, binary, function, own: function, inlined: false, frame: None };
            let frame = known.names.frames_at(id).next();
            self.style.write(out, known, Level { frame, ..level });
            return;
        }
        // Of files chains show the offset in them, of the rest the address.
        let shown = match binary {
            Some(binary) if !is_kernel(&binary.kind) => code.address,
            _ => code.ip,
        };
        let frames = known.names.frames_at(id);
        let last = frames.len().saturating_sub(1);
        let innermost = frames.clone().next();
        let levels = frames.enumerate();
        for (nr, frame) in levels.filter(|(nr, _)| inlines || *nr == last) {
            out.push(b'\t');
            hex(out, shown, 16);
            let inlined = nr < last;
            let own = if inlined { known.names.function(frame.function) } else { function };
            // The line of what is not shown apart is that of the innermost code.
            let frame = if inlines { Some(frame) } else { innermost };
            self.style.write(out, known, Level { code, binary, function, own, inlined, frame });
            out.push(b'\n');
        }
    }
}

/// One level of the code at a place.
#[derive(Clone, Copy, Debug)]
struct Level<'n> {
    code: &'n CodeAddress,
    binary: Option<&'n Binary>,
    /// The function that the place lies in.
    function: Option<Function<'n>>,
    /// The function of this level.
    own: Option<Function<'n>>,
    inlined: bool,
    frame: Option<Frame>,
}

impl Style {
    /// What follows the address.
    fn write(self, out: &mut Vec<u8>, known: &Known<'_>, level: Level<'_>) {
        if self.symbol {
            out.push(b' ');
            write_symbol(out, level.code, level.function, level.own, self.symbol_offset);
        }
        if self.dso && !level.inlined {
            out.extend_from_slice(b" (");
            out.extend_from_slice(binary_name(level.binary).as_bytes());
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
    }

    fn write_line(self, out: &mut Vec<u8>, known: &Known<'_>, level: Level<'_>) {
        let line = level.frame.and_then(|frame| Some((known.names.file(frame.file?)?, frame.line)));
        match (line, level.binary) {
            (Some((file, line)), _) => {
                out.extend_from_slice(b"\n  ");
                out.extend_from_slice(file_name(file, self.full_path).as_bytes());
                out.push(b':');
                super::digits::decimal(out, line.into(), 0);
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

/// A function's name, and how far behind its start a place is; inlined ones count from the function that they are in.
pub(super) fn write_symbol(
    out: &mut Vec<u8>,
    code: &CodeAddress,
    function: Option<Function<'_>>,
    own: Option<Function<'_>>,
    with_offset: bool,
) {
    let named = function.filter(|function| function.has_name());
    match (own.and_then(|own| own.name()), named) {
        (Some(name), named) => {
            out.extend_from_slice(text::shown(name).as_bytes());
            if with_offset {
                out.extend_from_slice(b"+0x");
                hex(out, named.map_or(0, |named| code.address.wrapping_sub(named.address)), 0);
            }
        }
        (None, _) => out.extend_from_slice(b"[unknown]"),
    }
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
