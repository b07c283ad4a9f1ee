//! The lines of places in code, each made once: a call chain is then a few copies.

use super::Known;
use super::digits::hex;
use super::repeated::Repeated;
use crate::names::UNKNOWN;
use crate::text::{self, shown_bytes};
use readperf_profile::names::Frame;
use readperf_profile::{AddressId, Function, FunctionId};
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
    /// The lines of all, one after the other; what many have in common is referred to.
    bytes: Vec<u8>,
    ends: Vec<usize>,
    repeated: Repeated,
}

impl Places {
    pub(super) fn new(style: Style) -> Places {
        Places { style, bytes: Vec::new(), ends: Vec::new(), repeated: Repeated::default() }
    }

    /// Makes the lines of the places that came since the last time.
    pub(super) fn learn(&mut self, known: &Known<'_>) {
        self.repeated.forget_binaries();
        for index in self.ends.len()..known.addresses.len() {
            self.repeated.begin(&mut self.bytes);
            if let Some(id) = known.addresses.id(index) {
                self.write(known, id);
            }
            self.repeated.end(&mut self.bytes);
            self.ends.push(self.bytes.len());
        }
    }

    /// Appends the lines of a place; nothing if it has not been learned.
    #[inline]
    pub(super) fn write_to(&self, id: AddressId, out: &mut Vec<u8>) {
        self.repeated.expand(self.held(id), out);
    }

    /// What is held of the lines of a place.
    #[inline]
    pub(super) fn held(&self, id: AddressId) -> &[u8] {
        let index = id.index();
        let start = index.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(index).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn write(&mut self, known: &Known<'_>, id: AddressId) {
        let Some(code) = known.addresses.get(id) else { return };
        let Style { chain, inlines, returns, .. } = self.style;
        let code = &if returns { behind_call(code) } else { *code };
        let Places { style, bytes: out, repeated, .. } = self;
        let binary = code.binary.and_then(|binary| known.session.binary(binary));
        let function_of = |id: FunctionId| Some((id, known.names.function(id)?));
        let function = known.names.function_at(id).and_then(function_of);
        if !chain {
            hex(out, code.ip, 16);
            let level = Level { code, binary, function, own: function, inlined: false, frame: None };
            let frame = known.names.frames_at(id).next();
            style.write(out, repeated, known, Level { frame, ..level });
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
            let own = if inlined { function_of(frame.function) } else { function };
            // The line of what is not shown apart is that of the innermost code.
            let frame = if inlines { Some(frame) } else { innermost };
            style.write(out, repeated, known, Level { code, binary, function, own, inlined, frame });
            out.push(b'\n');
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
    /// What follows the address.
    fn write(self, out: &mut Vec<u8>, repeated: &mut Repeated, known: &Known<'_>, level: Level<'_>) {
        if self.symbol {
            out.push(b' ');
            let repeated = &mut *repeated;
            let own = level.own.and_then(|(id, own)| Some((id, name_of(own)?)));
            let name =
                own.map(|(id, name)| move |out: &mut Vec<u8>| repeated.refer_to_function(out, id, name));
            write_symbol(
                out,
                level.code,
                level.function.map(|(_, function)| function),
                self.symbol_offset,
                name,
            );
        }
        if self.dso && !level.inlined {
            repeated.refer_to_binary(out, level.code.binary, |out| {
                out.extend_from_slice(b" (");
                out.extend_from_slice(binary_name(level.binary).as_bytes());
            });
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
    let Some(name) = name else { return out.extend_from_slice(b"[unknown]") };
    name(out);
    if with_offset {
        let named = function.filter(|function| function.has_name());
        out.extend_from_slice(b"+0x");
        hex(out, named.map_or(0, |named| code.address.wrapping_sub(named.address)), 0);
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
