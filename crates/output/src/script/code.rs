//! The code that a sample was taken at: its instruction, as bytes, and its line of source text.

use super::fields::{ScriptField, ScriptFields};
use super::{Script, places};
use crate::digits::decimal;
use readperf_profile::AddressId;
use std::sync::Arc;

/// A source file, and where its lines begin.
#[derive(Clone, Debug)]
pub struct SourceText {
    text: Arc<[u8]>,
    /// Offsets of all lines, and behind the last, bytes.
    starts: Arc<[usize]>,
}

impl SourceText {
    /// Of the bytes of a file.
    pub fn new(text: Arc<[u8]>) -> SourceText {
        let mut end = 0;
        let ends = text.split_inclusive(|byte| *byte == b'\n').map(|line| {
            end += line.len();
            end
        });
        let starts = std::iter::once(0).chain(ends).collect();
        SourceText { text, starts }
    }

    /// All of it.
    pub fn bytes(&self) -> Arc<[u8]> {
        Arc::clone(&self.text)
    }

    /// How many lines there are.
    pub fn lines(&self) -> u32 {
        u32::try_from(self.starts.len().saturating_sub(1)).unwrap_or(u32::MAX)
    }

    /// A line, from 1, without its end.
    pub fn line(&self, number: u32) -> Option<&[u8]> {
        let number = usize::try_from(number).ok()?;
        let (start, end) = (*self.starts.get(number.checked_sub(1)?)?, *self.starts.get(number)?);
        let line = self.text.get(start..end)?;
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    }

    /// A line as it stands behind that of a sample, with its number.
    pub(super) fn shown_line(&self, number: u32) -> Option<Box<[u8]>> {
        let mut shown = vec![b'|'];
        decimal(&mut shown, number.into(), 0);
        const WIDTH: usize = "|12345678".len();
        shown.resize(shown.len().max(WIDTH), b' ');
        shown.push(b' ');
        shown.extend_from_slice(&places::shown_with_tabs(self.line(number)?));
        shown.push(b'\n');
        Some(shown.into())
    }
}

impl Script {
    /// Whether lines show instructions; then [`Script::learn_instruction`] has to be called for the place of each sample.
    pub fn shows_instructions(&self) -> bool {
        let fields = &self.options.fields;
        fields.any(ScriptField::Instruction) || fields.any(ScriptField::InstructionLength)
    }

    /// Whether the instruction at a place has been told.
    pub fn has_instruction(&self, place: AddressId) -> bool {
        self.instructions.contains_key(&place)
    }

    /// Takes the bytes of the instruction at a place; none if it cannot be read.
    pub fn learn_instruction(&mut self, place: AddressId, bytes: &[u8]) {
        self.instructions.insert(place, bytes.into());
    }

    /// Length and bytes of the instruction at a place, as the fields ask for it.
    pub(super) fn write_instruction(&self, out: &mut Vec<u8>, place: AddressId, fields: ScriptFields) {
        let bytes: &[u8] = self.instructions.get(&place).map_or(&[], |bytes| bytes);
        if fields.has(ScriptField::InstructionLength) {
            out.extend_from_slice(b" ilen: ");
            decimal(out, bytes.len() as u64, 0);
        }
        if fields.has(ScriptField::Instruction) && !bytes.is_empty() {
            out.extend_from_slice(b" insn:");
            for byte in bytes {
                out.extend_from_slice(format!(" {byte:02x}").as_bytes());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_text() {
        let text = SourceText::new(Arc::from(&b"one\n\tthree\n\nlast"[..]));
        let lines: Vec<_> = (0..6).map(|number| text.line(number)).collect();
        let expected = [None, Some(&b"one"[..]), Some(b"\tthree"), Some(b""), Some(b"last"), None];
        assert_eq!(lines, expected);
        assert_eq!(SourceText::new(Arc::from(&b""[..])).line(1), None);
    }
}
