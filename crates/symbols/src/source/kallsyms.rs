//! The symbol list of a kernel: lines `address type name` and, for a symbol of a module, a tab and `[module]`.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use memchr::{memchr, memmem, memrchr};
use rustc_hash::FxHashMap;

use crate::compressed::{Compression, decompress};
use crate::file_loader::FileLoader;
use crate::files::FileBytes;
use crate::name::as_name;
use crate::needed::{OnDemand, Symbols};
use crate::reason::Reason;
use crate::table::{Binding, Entry, Table};

/// Largest list that is read after decompression, in bytes. Real ones have some ten megabytes.
const MAX_BYTES: u64 = 1 << 30;

/// A list that was read. Symbols have no size in it: each reaches to the next one, except across a border between the
/// kernel and a module or between two modules.
pub(crate) struct Kallsyms {
    text: FileBytes,
    table: OnDemand,
}

impl fmt::Debug for Kallsyms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kallsyms").field("bytes", &self.text().len()).finish_non_exhaustive()
    }
}

/// About how long a line is, bytes.
const LINE_BYTES: usize = 45;

/// The lists that were read so far; each is read once.
#[derive(Debug, Default)]
pub(crate) struct Lists(Mutex<FxHashMap<PathBuf, Result<Arc<Kallsyms>, Reason>>>);

impl Lists {
    /// The list at this path.
    pub(crate) fn at(&self, path: &Path, loader: &FileLoader) -> Result<Arc<Kallsyms>, Reason> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry(path.to_owned()).or_insert_with(|| Kallsyms::read(path, loader).map(Arc::new)).clone()
    }
}

impl Kallsyms {
    fn read(path: &Path, loader: &FileLoader) -> Result<Kallsyms, Reason> {
        let unreadable = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => Reason::NoFile { path: path.to_owned() },
            _ => {
                loader.note_failure(path, &error);
                Reason::NotReadable { path: path.to_owned(), error: error.to_string() }
            }
        };
        let bytes = loader.load_list(path).map_err(unreadable)?;
        let text = match Compression::of((*bytes).as_ref()) {
            Some(compression) => {
                Arc::new(decompress((*bytes).as_ref(), compression, MAX_BYTES).map_err(unreadable)?)
            }
            None => bytes,
        };
        if lines((*text).as_ref()).next().is_none() {
            return Err(Reason::NoKernelList { path: path.to_owned() });
        }
        Kallsyms::parse(text)
    }

    pub(crate) fn parse(text: FileBytes) -> Result<Kallsyms, Reason> {
        if lines((*text).as_ref()).all(|line| line.address == 0) {
            return Err(Reason::KernelAddressesHidden);
        }
        Ok(Kallsyms { text, table: OnDemand::default() })
    }

    /// The list itself.
    pub(crate) fn bytes(&self) -> &FileBytes {
        &self.text
    }

    fn text(&self) -> &[u8] {
        (*self.text).as_ref()
    }

    /// The symbols that cover these runtime addresses, which are sorted.
    pub(crate) fn covering(&self, addresses: &[u64]) -> Cow<'_, Table> {
        let text = self.text();
        let is_border = |entry: &Entry, next: &Entry| module_at(text, entry) != module_at(text, next);
        let make = |entries| Table::build(entries, is_border, |entry| name_at(text, entry));
        self.table.covering(addresses, self, make)
    }

    /// Where the kernel proper is, up to the end of its code. That which is only run once comes last: the idle task was there.
    pub(crate) fn kernel_code(&self) -> Option<Range<u64>> {
        let end = self.address_of("_einittext").max(self.address_of("_etext"))?;
        Some(self.address_of("_text")?..end)
    }

    /// The name of a symbol.
    pub(crate) fn name(&self, entry: &Entry) -> Cow<'_, str> {
        as_name(name_at(self.text(), entry))
    }

    /// The module that a symbol belongs to; `None` for the kernel proper.
    pub(crate) fn module(&self, entry: &Entry) -> Option<Cow<'_, str>> {
        module_at(self.text(), entry).map(as_name)
    }

    /// The address of a symbol of the kernel proper, also of one whose address has a better name.
    pub(crate) fn address_of(&self, name: &str) -> Option<u64> {
        let same = |line: &Line<'_>| line.name() == name.as_bytes() && line.module().is_none();
        let mut lines =
            memmem::find_iter(self.text(), name.as_bytes()).filter_map(|at| line_around(self.text(), at));
        lines.find(same).map(|line| line.address)
    }

    /// The lowest address of code of a module.
    pub(crate) fn code_of_module(&self, module: &str) -> Option<u64> {
        let is_code = |line: &Line<'_>| matches!(line.kind, b'T' | b't' | b'W' | b'w');
        let is_in_module =
            |line: &Line<'_>| line.module().is_some_and(|name| same_module(&as_name(name), module));
        lines(self.text()).filter(|line| is_code(line) && is_in_module(line)).map(|line| line.address).min()
    }
}

/// Those lines that are entries, by where their names are.
impl Symbols for Kallsyms {
    fn count(&self) -> usize {
        self.text().len() / LINE_BYTES
    }

    fn for_each(&self, mut take: impl FnMut(u32, Entry)) {
        let entries = lines(self.text()).filter_map(|line| line.entry());
        entries.for_each(|entry| take(entry.name, entry));
    }

    fn get(&self, number: u32) -> Option<Entry> {
        line_around(self.text(), usize::try_from(number).ok()?)?.entry()
    }
}

/// Whether two names are of one module: file names may have `-` where the kernel has `_`.
pub(crate) fn same_module(left: &str, right: &str) -> bool {
    let plain = |byte: u8| if byte == b'-' { b'_' } else { byte };
    left.bytes().map(plain).eq(right.bytes().map(plain))
}

#[derive(Clone, Copy, Debug)]
struct Line<'t> {
    address: u64,
    kind: u8,
    /// Name and module.
    rest: &'t [u8],
    /// Where that is in the text.
    rest_at: usize,
}

impl<'t> Line<'t> {
    fn parse(start: usize, line: &'t [u8]) -> Option<Line<'t>> {
        let digits = memchr(b' ', line)?;
        let address = hex(line.get(..digits)?)?;
        let kind = *line.get(digits.checked_add(1)?)?;
        let rest_in_line = digits.checked_add(3)?;
        let rest = line.get(rest_in_line..)?;
        Some(Line { address, kind, rest, rest_at: start.checked_add(rest_in_line)? })
    }

    fn name(&self) -> &'t [u8] {
        split(self.rest).0
    }

    fn module(&self) -> Option<&'t [u8]> {
        split(self.rest).1
    }

    /// As a symbol, if it is one that samples may be in.
    fn entry(&self) -> Option<Entry> {
        let binding = match self.kind {
            b'T' | b'D' | b'B' => Binding::Global,
            b'W' | b'w' => Binding::Weak,
            b't' | b'd' | b'b' => Binding::Local,
            _ => return None,
        };
        // Compilers leave local labels of this form.
        if self.rest.starts_with(b"$") {
            return None;
        }
        let name = u32::try_from(self.rest_at).ok()?;
        Some(Entry { start: self.address, end: self.address, name, binding, is_label: false })
    }
}

/// The number that up to 16 digits are. A kernel has more than a million of them: eight are taken at a time.
fn hex(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let (eights, rest) = digits.as_chunks();
    let number = eights.iter().try_fold(0_u64, |number, eight| Some(number << 32 | hex_of_eight(*eight)?))?;
    rest.iter().try_fold(number, |number, digit| {
        Some(hex_value(*digit)).filter(|value| *value < 16).map(|value| number << 4 | u64::from(value))
    })
}

/// The same of eight digits: each byte of a word is one, and the highest bit of a byte says what holds for it.
fn hex_of_eight(digits: [u8; 8]) -> Option<u64> {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    // The highest bit of each byte that is at least this one; bytes are below 128.
    const fn reaching(bytes: u64, least: u8) -> u64 {
        bytes.wrapping_add(each(128 - least))
    }
    let word = u64::from_be_bytes(digits);
    let ascii = word & each(127);
    let small = ascii | each(0x20);
    let is_number = reaching(ascii, b'0') & !reaching(ascii, b'9' + 1);
    let is_letter = reaching(small, b'a') & !reaching(small, b'f' + 1);
    if (is_number | is_letter) & !word & each(128) != each(128) {
        return None;
    }
    // Letters have a bit that numbers have not, and begin at 1.
    let values = (word & each(0xf)).wrapping_add((word >> 6 & each(1)).wrapping_mul(9));
    let pairs = (values | values >> 4) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | pairs >> 8) & 0x0000_ffff_0000_ffff;
    Some((fours | fours >> 16) & 0xffff_ffff)
}

/// What a digit is worth; 16 or more if it is none.
fn hex_value(digit: u8) -> u8 {
    let letter = (digit | 0x20).wrapping_sub(b'a');
    let number = digit.wrapping_sub(b'0');
    match (number < 10, letter < 6) {
        (true, _) => number,
        (_, true) => letter.wrapping_add(10),
        _ => u8::MAX,
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut next = Some(0_usize);
    std::iter::from_fn(move || {
        loop {
            let start = next?;
            let rest = text.get(start..)?;
            let end = memchr(b'\n', rest);
            next = end.and_then(|end| start.checked_add(end)?.checked_add(1));
            let line = rest.get(..end.unwrap_or(rest.len()))?;
            if let Some(line) = Line::parse(start, line) {
                return Some(line);
            }
        }
    })
}

/// The line that this place of a text is in.
fn line_around(text: &[u8], at: usize) -> Option<Line<'_>> {
    let start = memrchr(b'\n', text.get(..at)?).map_or(0, |before| before.saturating_add(1));
    let rest = text.get(start..)?;
    Line::parse(start, rest.get(..memchr(b'\n', rest).unwrap_or(rest.len()))?)
}

/// Name and module of the part of a line behind the type.
fn split(rest: &[u8]) -> (&[u8], Option<&[u8]>) {
    let end = rest.iter().position(|byte| matches!(byte, b'\t' | b' ')).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let module = rest.trim_ascii().strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    (name, module)
}

fn rest_of_line<'t>(text: &'t [u8], entry: &Entry) -> &'t [u8] {
    let rest = usize::try_from(entry.name).ok().and_then(|at| text.get(at..)).unwrap_or(b"");
    let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest)
}

fn name_at<'t>(text: &'t [u8], entry: &Entry) -> &'t [u8] {
    split(rest_of_line(text, entry)).0
}

fn module_at<'t>(text: &'t [u8], entry: &Entry) -> Option<&'t [u8]> {
    split(rest_of_line(text, entry)).1
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "ffffffff81000000 T startup_64\nffffffff81000000 T _stext\nffffffff81000000 T _text\n\
        ffffffff81000100 t local_one\nffffffff81000180 r not_code\nffffffff81000200 W weak_one\n\
        ffffffff81000200 t strong\nffffffff81001f00 T last_of_kernel\n\
        ffffffffc0000000 t first_of_module\t[some_mod]\nffffffffc0000040 t second\t[some_mod]\n\
        ffffffffc0010000 t of_other\t[other]\n";

    fn name(list: &Kallsyms, address: u64) -> Option<String> {
        list.covering(&[address]).find(address).map(|entry| list.name(entry).into_owned())
    }

    #[test]
    fn names_by_address() {
        let list = Kallsyms::parse(Arc::new(TEXT)).unwrap();
        // Of several at one address only the last one has a length.
        assert_eq!(name(&list, 0xffff_ffff_8100_0010).unwrap(), "_text");
        assert_eq!(name(&list, 0xffff_ffff_8100_01ff).unwrap(), "local_one");
        assert_eq!(name(&list, 0xffff_ffff_8100_0200).unwrap(), "strong");
        assert_eq!(name(&list, 0xffff_ffff_c000_0041).unwrap(), "second");
        let entry = *list.covering(&[0xffff_ffff_c000_0041]).find(0xffff_ffff_c000_0041).unwrap();
        assert_eq!(list.module(&entry).unwrap(), "some_mod");
        assert_eq!(list.address_of("_stext"), Some(0xffff_ffff_8100_0000));
        assert_eq!(list.address_of("second"), None);
        assert!(
            list.code_of_module("some-mod") == Some(0xffff_ffff_c000_0000)
                && list.code_of_module("some").is_none()
        );
    }

    #[test]
    fn borders_stop_a_symbol() {
        let list = Kallsyms::parse(Arc::new(TEXT)).unwrap();
        assert_eq!(name(&list, 0xffff_ffff_8100_2fff).unwrap(), "last_of_kernel");
        assert_eq!(name(&list, 0xffff_ffff_8100_3000), None);
        assert_eq!(name(&list, 0xffff_ffff_c000_1fff).unwrap(), "second");
        assert_eq!(name(&list, 0xffff_ffff_c000_2000), None);
        assert_eq!(name(&list, 0xffff_ffff_c001_1000), None);
    }

    #[test]
    fn hidden_addresses_are_noticed() {
        let hidden =
            TEXT.lines().map(|line| format!("0000000000000000{}\n", &line[16..])).collect::<String>();
        assert_eq!(Kallsyms::parse(Arc::new(hidden)).unwrap_err(), Reason::KernelAddressesHidden);
    }

    #[test]
    fn digits() {
        assert_eq!(hex(b"0123456789abcdef"), Some(0x0123_4567_89ab_cdef));
        assert_eq!(hex(b"FEDC"), Some(0xfedc));
        // Digits by themselves, and at every place of eight.
        for digit in u8::MIN..=u8::MAX {
            let expected = char::from(digit).to_digit(16).map(|value| 0xa0 | u64::from(value));
            assert_eq!(hex(&[b'a', digit]), expected, "{digit}");
            for place in 0..8 {
                let mut eight = *b"0129aAfF";
                eight[place] = digit;
                let text = str::from_utf8(&eight).ok().filter(|text| !text.contains('+'));
                let expected = text.and_then(|text| u64::from_str_radix(text, 16).ok());
                assert_eq!(hex(&eight), expected, "{digit} at {place}");
            }
        }
        assert_eq!((hex(b""), hex(b"00000000000000000")), (None, None));
    }

    #[test]
    fn damaged_lines_are_passed_over() {
        let list = Kallsyms::parse(Arc::new(b"\n\nzz T x\n10 T\n10 T \n20 T y\n\xff\xff")).unwrap();
        assert_eq!(name(&list, 0x20).unwrap(), "y");
        // The space of a short address is not the first at the usual place of one.
        let list = Kallsyms::parse(Arc::new(b"10 T a_name_of_x t z\n20 T y")).unwrap();
        assert_eq!(name(&list, 0x10).unwrap(), "a_name_of_x");
    }
}
