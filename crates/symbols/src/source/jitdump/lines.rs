//! The source lines of a piece of code, as a jitdump file has them.

use std::ops::Range;

use super::record::Fields;

/// The entries of a [`DebugInfo`](super::record::Record::DebugInfo).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    entries: Range<usize>,
    count: u64,
    /// Address of the first entry.
    pub(super) first: Option<u64>,
    /// Address of the second one, as it reads if the name of the first one ends where it seems to.
    pub(super) second: Option<u64>,
    /// The name of the file where the entries have only its end: see [`Lines::restored`].
    whole: Option<Range<usize>>,
}

/// A source line of some code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LineEntry {
    pub(crate) address: u64,
    pub(crate) line: u32,
    /// Name of the source file.
    pub(crate) file: Range<usize>,
}

/// How many bytes of what was freed the allocator takes for itself: two pointers, of glibc with 64 bits.
const TAKEN_BYTES: usize = 16;

impl Lines {
    /// The entries from here on.
    pub(super) fn new(mut entries: Fields<'_>, count: u64) -> Lines {
        let range = entries.at..entries.bytes.len();
        let first = { entries }.u64();
        let second = line_entry(&mut entries, None, None).and_then(|_| entries.u64()).filter(|_| count > 1);
        Lines { entries: range, count, first, second, whole: None }
    }

    /// The lines, by address, up to the first one that does not fit.
    pub(super) fn read(&self, bytes: &[u8], is_big_endian: bool) -> Vec<LineEntry> {
        let Range { start: at, end } = self.entries;
        let mut fields = Fields { bytes: bytes.get(..end).unwrap_or(&[]), at, is_big_endian };
        let whole =
            self.whole.clone().map(|file| WholeName { text: bytes.get(file.clone()).unwrap_or(&[]), file });
        let mut lines: Vec<LineEntry> = Vec::new();
        for _ in 0..self.count {
            let Some(entry) = line_entry(&mut fields, lines.last(), whole.as_ref()) else { break };
            lines.push(entry);
        }
        lines.sort_by_key(|entry| entry.address);
        lines
    }

    /// The same with names of files whose beginning is lost. V8 (that of Node.js 20 for one) writes many names out of memory that it
    /// has freed: the allocator's pointers stand where they began, and the zeros in these seem to end them. But the name of the
    /// function has the file, too (`JS:*hot /src/hot.js:1:13`); it is the one if it ends as the entries do. `None` if it does not.
    pub(super) fn restored(mut self, bytes: &[u8], function: &Range<usize>) -> Option<Lines> {
        // Address, line and discriminator stand before the name.
        let first_name = bytes.get(self.entries.start.checked_add(16)?..self.entries.end)?;
        let mut end = function.end;
        for _ in 0..2 {
            let name = bytes.get(function.start..end)?;
            let digits = name.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            end = end.checked_sub(digits)?.checked_sub(1).filter(|end| bytes.get(*end) == Some(&b':'))?;
        }
        let starts = (function.start..end).filter(|start| bytes.get(*start) == Some(&b' '));
        let mut files = starts.map(|start| start.saturating_add(1)..end);
        self.whole = files.find(|file| ends_so(first_name, bytes.get(file.clone()).unwrap_or(&[])));
        self.whole.is_some().then_some(self)
    }
}

/// The name of a file, and where it is.
struct WholeName<'f> {
    text: &'f [u8],
    file: Range<usize>,
}

/// Whether some bytes begin with a name, but for what the allocator has taken of it.
fn ends_so(bytes: &[u8], whole: &[u8]) -> bool {
    let kept = whole.get(TAKEN_BYTES..).filter(|kept| !kept.is_empty());
    let found = bytes.get(TAKEN_BYTES..).zip(kept).and_then(|(found, kept)| found.strip_prefix(kept));
    found.is_some_and(|rest| rest.first() == Some(&0))
}

fn line_entry(
    fields: &mut Fields<'_>,
    last: Option<&LineEntry>,
    whole: Option<&WholeName<'_>>,
) -> Option<LineEntry> {
    let (address, line, _discriminator) = (fields.u64()?, fields.u32()?, fields.u32()?);
    if let Some(whole) = whole.filter(|whole| ends_so(fields.rest(), whole.text)) {
        // A zero byte ends it.
        fields.at = fields.at.checked_add(whole.text.len())?.checked_add(1)?;
        return Some(LineEntry { address, line, file: whole.file.clone() });
    }
    let mut file = fields.text()?;
    // "The same file as in the entry before": the specification says one byte 0xff; there are writers that leave the
    // name empty.
    let is_same = matches!(fields.bytes.get(file.clone()), Some(b"" | b"\xff"));
    if let Some(last) = last.filter(|_| is_same) {
        file = last.file.clone();
    }
    Some(LineEntry { address, line, file })
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::super::{JitDamage, JitDump};
    use super::*;
    use std::sync::Arc;

    const FILE: &[u8] = b"/home/me/web server/src/hot.js";
    const ADDRESS: u64 = 0x7f00_1000;

    /// Entries of a line each, with names as they are written.
    fn entries(names: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (nr, name) in (0u32..).zip(names) {
            bytes.extend((ADDRESS + 0x40 + u64::from(nr) * 8).to_le_bytes());
            bytes.extend([nr + 1, 0].iter().flat_map(|word| word.to_le_bytes()));
            bytes.extend(*name);
            bytes.push(0);
        }
        bytes
    }

    /// What is read of entries that the name of a function follows: the lines, and the names of their files.
    fn read(names: &[&[u8]], function: &str) -> Option<Vec<(u64, u32, Vec<u8>)>> {
        let mut bytes = entries(names);
        let end = bytes.len();
        bytes.extend(function.as_bytes());
        let body = Fields { bytes: &bytes[..end], at: 0, is_big_endian: false };
        let lines = Lines::new(body, names.len() as u64).restored(&bytes, &(end..bytes.len()))?;
        let line = |entry: LineEntry| (entry.address, entry.line, bytes[entry.file].to_vec());
        Some(lines.read(&bytes, false).into_iter().map(line).collect())
    }

    /// The name of the file when its memory was freed before it was written.
    fn freed() -> Vec<u8> {
        let pointers = b"\xb0u\0\0\0\0\0\0c\xf8\\?\x09\xfc;\xe7";
        [&pointers[..], &FILE[pointers.len()..]].concat()
    }

    #[test]
    fn names_that_lost_their_beginning_are_those_in_the_name_of_the_function() {
        let all = |nrs: &[u32], file: &[u8]| -> Vec<(u64, u32, Vec<u8>)> {
            nrs.iter().map(|nr| (ADDRESS + 0x40 + u64::from(*nr) * 8, nr + 1, file.to_vec())).collect()
        };
        let function = "JS:*get hot /home/me/web server/src/hot.js:1:13";
        assert_eq!(read(&[&freed(), &freed(), &freed()], function), Some(all(&[0, 1, 2], FILE)));
        assert_eq!(read(&[&freed()], function), Some(all(&[0], FILE)));
        // Of what is inlined from another file, too.
        let mut expected = all(&[0, 1, 2], FILE);
        expected[1].2 = b"node:path".to_vec();
        assert_eq!(read(&[&freed(), b"node:path", &freed()], function), Some(expected));
        // Another file, no place in a file, or nothing left of the name to compare.
        for other in [
            "JS:*hot /home/me/web server/src/cold.js:1:13",
            "hot",
            "",
            "JS:*hot :1:13",
            "JS:*hot /a.js:1:13",
            "::",
        ] {
            assert_eq!(read(&[&freed(), &freed()], other), None, "{other}");
        }
    }

    /// A file with one piece of code, and lines of it.
    fn dump(names: &[&[u8]], function: &str) -> JitDump {
        let words = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let halves = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let record = |kind: u32, body: &[u8]| {
            [&halves(&[kind, body.len() as u32 + 16])[..], &words(&[7]), body].concat()
        };
        let lines = [words(&[ADDRESS, names.len() as u64]), entries(names)].concat();
        let code = [0x90; 64];
        let place = words(&[ADDRESS, ADDRESS, code.len() as u64, 0]);
        let load = [&halves(&[1, 1])[..], &place, function.as_bytes(), &[0], &code].concat();
        let head = [halves(&[0x4a69_5444, 1, 40, 62, 0, 1]), words(&[0, 0])].concat();
        JitDump::parse(Arc::new([head, record(2, &lines), record(0, &load)].concat())).unwrap()
    }

    #[test]
    fn lines_that_cannot_be_told_apart_are_counted() {
        let told = |dump: &JitDump| -> Vec<(u32, String)> {
            dump.lines(0).into_iter().map(|line| (line.line, line.file.into_owned())).collect()
        };
        let whole = String::from_utf8(FILE.to_vec()).unwrap();
        let expected = vec![(1, whole.clone()), (2, whole)];
        let function = "JS:*hot /home/me/web server/src/hot.js:1:13";
        for names in [[FILE, FILE], [&freed(), &freed()]] {
            let dump = dump(&names, function);
            assert_eq!((told(&dump), dump.damage), (expected.clone(), JitDamage::default()));
        }
        let dump = dump(&[&freed(), &freed()], "hot");
        assert_eq!((told(&dump), dump.damage.damaged_lines), (Vec::new(), 1));
        assert_eq!(dump.unused(&[]), ["1 record of source lines with damaged names of files"]);
    }
}
