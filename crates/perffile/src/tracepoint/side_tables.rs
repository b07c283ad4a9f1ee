//! The texts beside the event formats: printk formats, saved command lines, kallsyms.

use std::collections::BTreeMap;

/// Strings of the kernel by their address: what a `%s` of a pointer field shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PrintkFormats {
    by_address: BTreeMap<u64, Vec<u8>>,
}

impl PrintkFormats {
    /// Reads `0xADDRESS : "text"` lines; others are passed over.
    pub fn parse(text: &[u8]) -> Self {
        let by_address = text.split(|byte| *byte == b'\n').filter_map(printk_line).collect();
        PrintkFormats { by_address }
    }

    /// The string that the kernel has at `address`.
    pub fn text(&self, address: u64) -> Option<&[u8]> {
        self.by_address.get(&address).map(Vec::as_slice)
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.by_address.len()
    }

    /// True when there is no string.
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }
}

/// One line of `/proc/kallsyms`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KallsymsEntry<'a> {
    /// Address of its first byte.
    pub address: u64,
    /// Type letter as in `nm`.
    pub kind: u8,
    /// Name of the symbol.
    pub name: &'a [u8],
    /// Module without its brackets; `None` for the kernel itself.
    pub module: Option<&'a [u8]>,
}

/// The lines of a kallsyms text; malformed ones are passed over.
pub fn kernel_symbols(text: &[u8]) -> impl Iterator<Item = KallsymsEntry<'_>> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        let address = u64::from_str_radix(str::from_utf8(words.next()?).ok()?, 16).ok()?;
        let kind = *words.next()?.first()?;
        let name = words.next()?;
        let module = words.next().and_then(|word| word.strip_prefix(b"[")?.strip_suffix(b"]"));
        Some(KallsymsEntry { address, kind, name, module })
    })
}

/// The `PID NAME` lines of the saved command lines; malformed ones are passed over.
pub fn saved_cmdlines(text: &[u8]) -> impl Iterator<Item = (i32, &[u8])> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let line = line.trim_ascii();
        let blank = line.iter().position(|byte| *byte == b' ')?;
        let (pid, name) = line.split_at_checked(blank)?;
        Some((str::from_utf8(pid).ok()?.parse().ok()?, name.trim_ascii_start()))
    })
}

fn printk_line(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let (address, text) = line.split_at_checked(colon)?;
    let address = str::from_utf8(address.trim_ascii()).ok()?;
    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?;
    let text = text.get(1..)?.trim_ascii();
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    // A format of printk mostly ends in an escaped line end, which would break the line it is shown in.
    let text = text.strip_suffix(b"\\n").unwrap_or(text);
    Some((address, text.to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printk_lines_lose_quotes_and_line_end() {
        let table =
            PrintkFormats::parse(b"0xffffffff81f0 : \"Rescheduling interrupts\"\njunk\n0x10:\"a\\n\"\n");
        assert_eq!(table.text(0xffff_ffff_81f0), Some(&b"Rescheduling interrupts"[..]));
        assert_eq!(table.text(0x10), Some(&b"a"[..]));
        assert_eq!(table.len(), 2);
    }

    #[test]
    fn symbols_and_command_lines() {
        let symbols: Vec<_> = kernel_symbols(b"ffffffff81000000 T _text\n12 t f\t[ext4]\nbad\n").collect();
        assert_eq!(symbols.len(), 2);
        assert_eq!(symbols[1].module, Some(&b"ext4"[..]));
        assert_eq!((symbols[0].address, symbols[0].kind), (0xffff_ffff_8100_0000, b'T'));
        let lines: Vec<_> = saved_cmdlines(b"1 init\n-7 a b\nx y\n").collect();
        assert_eq!(lines, [(1, &b"init"[..]), (-7, &b"a b"[..])]);
    }
}
