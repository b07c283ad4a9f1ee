//! The list that a runtime writes of the code it generates: `/tmp/perf-PID.map`.
//!
//! A line is `START SIZE NAME`, both numbers in hex and the name up to the end of the line. `perf` gave the format its
//! name; `tools/perf/Documentation/jit-interface.txt` of the kernel describes it.

use std::borrow::Cow;
use std::ops::Range;

use crate::name::as_name;
use crate::source::layers::{Layer, Layers};

/// Longest list that is read, in bytes. Names are held by offsets of four bytes; real lists have some ten megabytes.
const MAX_BYTES: usize = 1 << 30;

/// A list of generated functions. Later lines count where several cover an address: runtimes only append, and use memory
/// again.
#[derive(Debug)]
pub struct PerfMap {
    text: Vec<u8>,
    names: Vec<Range<u32>>,
    layers: Layers,
    bad_lines: u64,
}

/// A generated function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedFunction<'m> {
    /// First address, in the address space of the process.
    pub start: u64,
    /// Address behind the last byte; equal to `start` when the size is unknown.
    pub end: u64,
    /// Name as written by the runtime.
    pub name: Cow<'m, str>,
}

impl PerfMap {
    /// Reads the text of a list. Lines that are not of the form are counted and passed over. `None` when it is longer
    /// than 1 GiB.
    pub fn parse(text: Vec<u8>) -> Option<PerfMap> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let (mut names, mut layers, mut bad_lines) = (Vec::new(), Vec::new(), 0_u64);
        let mut at = 0_usize;
        for line in text.split(|byte| *byte == b'\n') {
            let line_at = at;
            at = at.saturating_add(line.len()).saturating_add(1);
            if line.trim_ascii().is_empty() {
                continue;
            }
            match read_line(line, line_at) {
                Some((start, end, name)) => {
                    layers.push(Layer { start, end, since: 0 });
                    names.push(name);
                }
                None => bad_lines = bad_lines.saturating_add(1),
            }
        }
        Some(PerfMap { text, names, layers: Layers::new(layers), bad_lines })
    }

    /// The function at an address of the process.
    pub fn find(&self, address: u64) -> Option<GeneratedFunction<'_>> {
        self.function(self.number_at(address)?)
    }

    /// How many functions the list has.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the list has no function.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// How many lines are not of the form.
    pub fn bad_lines(&self) -> u64 {
        self.bad_lines
    }

    pub(crate) fn number_at(&self, address: u64) -> Option<usize> {
        self.layers.last_at(address)
    }

    pub(crate) fn function(&self, number: usize) -> Option<GeneratedFunction<'_>> {
        let layer = self.layers.layers().get(number)?;
        let name = self.names.get(number)?;
        let range = usize::try_from(name.start).ok()?..usize::try_from(name.end).ok()?;
        let name = as_name(self.text.get(range)?);
        Some(GeneratedFunction { start: layer.start, end: layer.end, name })
    }
}

/// Start, end, and where in the text the name is.
fn read_line(line: &[u8], line_at: usize) -> Option<(u64, u64, Range<u32>)> {
    let mut rest = line;
    let start = take_hex(&mut rest)?;
    let size = take_hex(&mut rest)?;
    let skipped = line.len().checked_sub(rest.len())?;
    let name = rest.trim_ascii();
    if name.is_empty() {
        return None;
    }
    let lead = rest.len().checked_sub(rest.trim_ascii_start().len())?;
    let name_at = line_at.checked_add(skipped)?.checked_add(lead)?;
    let name_end = name_at.checked_add(name.len())?;
    Some((start, start.checked_add(size)?, u32::try_from(name_at).ok()?..u32::try_from(name_end).ok()?))
}

/// A number up to the next blank, with or without `0x`.
fn take_hex(rest: &mut &[u8]) -> Option<u64> {
    let text = rest.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace)?;
    let (word, behind) = text.split_at(end);
    let digits = word.strip_prefix(b"0x").or_else(|| word.strip_prefix(b"0X")).unwrap_or(word);
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    *rest = behind;
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &[u8], addresses: &[u64]) -> Vec<Option<String>> {
        let map = PerfMap::parse(text.to_vec()).unwrap();
        addresses.iter().map(|at| map.find(*at).map(|function| function.name.into_owned())).collect()
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| (!name.is_empty()).then(|| (*name).to_owned())).collect()
    }

    #[test]
    fn lines_of_all_producers() {
        let text =
            b"7f0000001000 20 LazyCompile:~main /a b.js:1\n0x7f0000002000 0x10 Ljava/lang/Object;::hash\r\n\
            7F0000003000   8\tf\n  7f0000004000 8 indented \n7f0000005000 8 last";
        let at = [0x7f00_0000_1000, 0x7f00_0000_101f, 0x7f00_0000_1020, 0x7f00_0000_2008, 0x7f00_0000_3007];
        let first = "LazyCompile:~main /a b.js:1";
        assert_eq!(names(text, &at), some(&[first, first, "", "Ljava/lang/Object;::hash", "f"]));
        assert_eq!(names(text, &[0x7f00_0000_4000, 0x7f00_0000_5000]), some(&["indented", "last"]));
    }

    #[test]
    fn later_lines_replace_earlier_ones() {
        let text = b"1000 100 old\n1040 20 new\n1000 10 newest\n2000 0 point\n";
        let at = [0x1000, 0x1010, 0x1040, 0x105f, 0x1060, 0x10ff, 0x1100, 0x2000, 0x2001];
        assert_eq!(names(text, &at), some(&["newest", "old", "new", "new", "old", "old", "", "point", ""]));
    }

    #[test]
    fn bad_lines_are_counted() {
        let text = b"\n1000 10 ok\nnonsense\n1000\n1000 10\n1000 10 \nxx 10 a\n-1 10 a\n+1 1 a\n\
            fffffffffffffff0 20 beyond\n11111111111111111 1 long\n0x 1 none\n\xff\xfe\n";
        let map = PerfMap::parse(text.to_vec()).unwrap();
        assert_eq!((map.len(), map.bad_lines()), (1, 11));
        assert!(PerfMap::parse(Vec::new()).unwrap().is_empty());
    }
}
