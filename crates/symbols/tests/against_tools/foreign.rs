//! Binaries of other machines, classes and byte orders, put together by hand after the System V ABI.

use std::sync::Arc;

use crate::programs::{directory, options, resolve_file};
use readperf_symbols::{FileBytes, FileLoader, Options, SymbolBatch};

const EM_ARM: u16 = 40;
const EM_AARCH64: u16 = 183;
const EM_PPC64: u16 = 21;
const EM_S390: u16 = 22;
const EM_RISCV: u16 = 243;
const FUNC: u8 = 0x02;
const LABEL: u8 = 0;

/// Virtual address and file offset of the code, and of the function descriptors behind it.
const CODE: (u64, u64) = (0x1_0000, 0x1000);
const DESCRIPTORS: (u64, u64) = (0x1_0800, 0x1800);

struct Elf {
    machine: u16,
    is_64: bool,
    big: bool,
    bytes: Vec<u8>,
}

impl Elf {
    fn put(&mut self, value: u64, size: usize) {
        let bytes = value.to_le_bytes();
        let mut bytes: Vec<u8> = bytes[..size].to_vec();
        if self.big {
            bytes.reverse();
        }
        self.bytes.extend(bytes);
    }

    /// A number as wide as an address.
    fn word(&mut self, value: u64) {
        self.put(value, if self.is_64 { 8 } else { 4 });
    }

    /// `place` is address, offset and size; `links` are `sh_link` and `sh_info`.
    fn section(&mut self, name: u64, kind: u64, flags: u64, place: [u64; 3], links: [u64; 2], entry: u64) {
        self.put(name, 4);
        self.put(kind, 4);
        self.word(flags);
        place.into_iter().for_each(|value| self.word(value));
        links.into_iter().for_each(|value| self.put(value, 4));
        self.word(8);
        self.word(entry);
    }

    fn symbol(&mut self, name: u64, info: u8, section: u64, value: u64, size: u64) {
        self.put(name, 4);
        if self.is_64 {
            self.bytes.extend([info, 0]);
            self.put(section, 2);
            self.put(value, 8);
            self.put(size, 8);
        } else {
            self.put(value, 4);
            self.put(size, 4);
            self.bytes.extend([info, 0]);
            self.put(section, 2);
        }
    }

    fn pad_to(&mut self, offset: u64) {
        assert!(self.bytes.len() as u64 <= offset);
        self.bytes.resize(offset as usize, 0);
    }

    fn header(&mut self, sections_at: u64) {
        let (is_64, big) = (self.is_64, self.big);
        self.bytes.extend(b"\x7fELF");
        self.bytes.extend([1 + u8::from(is_64), 1 + u8::from(big), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        self.put(2, 2);
        self.put(self.machine.into(), 2);
        self.put(1, 4);
        self.word(CODE.0);
        self.word(if is_64 { 64 } else { 52 });
        self.word(sections_at);
        self.put(0, 4);
        for value in if is_64 { [64, 56, 1, 64, 6, 5] } else { [52, 32, 1, 40, 6, 5] } {
            self.put(value, 2);
        }
        // PT_LOAD, readable and executable.
        self.put(1, 4);
        if is_64 {
            self.put(5, 4);
        }
        for value in [CODE.1, CODE.0, CODE.0, 0x1000, 0x1000] {
            self.word(value);
        }
        if !is_64 {
            self.put(5, 4);
        }
        self.word(0x1000);
    }
}

/// Symbols as (name, info, section, value, size); section 1 is the code, section 2 the descriptors.
fn build(
    machine: u16,
    is_64: bool,
    big: bool,
    symbols: &[(&str, u8, u64, u64, u64)],
    descriptors: &[u64],
) -> Vec<u8> {
    let mut elf = Elf { machine, is_64, big, bytes: Vec::new() };
    let (symbols_at, strings_at, names_at, sections_at) = (0x2000, 0x3000, 0x3800, 0x4000);
    elf.header(sections_at);
    elf.pad_to(DESCRIPTORS.1);
    for code in descriptors {
        elf.put(*code, 8);
        elf.put(0, 8);
        elf.put(0, 8);
    }
    elf.pad_to(symbols_at);
    let mut strings = vec![0_u8];
    elf.symbol(0, 0, 0, 0, 0);
    for (name, info, section, value, size) in symbols {
        elf.symbol(strings.len() as u64, *info, *section, *value, *size);
        strings.extend(name.bytes().chain([0]));
    }
    let symbols_size = elf.bytes.len() as u64 - symbols_at;
    elf.pad_to(strings_at);
    elf.bytes.extend(&strings);
    elf.pad_to(names_at);
    let names = b"\0.text\0.opd\0.symtab\0.strtab\0.shstrtab\0";
    elf.bytes.extend(names);
    elf.pad_to(sections_at);
    let (local, entry) = (symbols.len() as u64 + 1, if is_64 { 24 } else { 16 });
    elf.section(0, 0, 0, [0, 0, 0], [0, 0], 0);
    elf.section(1, 1, 6, [CODE.0, CODE.1, 0x800], [0, 0], 0);
    elf.section(7, 1, 3, [DESCRIPTORS.0, DESCRIPTORS.1, 0x100], [0, 0], 0);
    elf.section(12, 2, 0, [0, symbols_at, symbols_size], [4, local], entry);
    elf.section(20, 3, 0, [0, strings_at, strings.len() as u64], [0, 0], 0);
    elf.section(28, 3, 0, [0, names_at, names.len() as u64], [0, 0], 0);
    elf.bytes
}

fn ask(test: &str, bytes: Vec<u8>, offsets: Vec<u64>) -> SymbolBatch {
    let path = directory(test).join("binary");
    std::fs::write(&path, &bytes).unwrap();
    // The file is also one that readelf accepts without complaint.
    if let Some(output) = crate::programs::run_any("readelf", &["-hlSsW", path.to_str().unwrap()]) {
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
    let bytes = Arc::new(bytes);
    let file_loader = FileLoader::new(move |_| Ok(Arc::clone(&bytes) as FileBytes));
    resolve_file(&Options { file_loader, debug_dirs: vec![], ..options() }, &path, None, offsets)
}

fn names(answer: &SymbolBatch) -> Vec<Option<&str>> {
    (0..answer.len()).map(|index| answer.name(index)).collect()
}

#[test]
#[ignore = "live: needs readelf"]
fn thumb_functions_and_mapping_symbols() {
    // Bit 0 of a Thumb function's address is no part of it; `$t` and the like are no functions.
    let symbols = [
        ("$t", LABEL, 1, CODE.0, 0),
        ("thumb", FUNC, 1, CODE.0 + 1, 0x20),
        ("$d.1", LABEL, 1, CODE.0 + 0x10, 0),
        ("$a", LABEL, 1, CODE.0 + 0x20, 0),
        ("arm", FUNC, 1, CODE.0 + 0x20, 0x10),
    ];
    for big in [false, true] {
        let offsets = vec![CODE.1, CODE.1 + 0x12, CODE.1 + 0x1f, CODE.1 + 0x20, CODE.1 + 0x30];
        let answer = ask("foreign_arm", build(EM_ARM, false, big, &symbols, &[]), offsets);
        assert_eq!(names(&answer), [Some("thumb"), Some("thumb"), Some("thumb"), Some("arm"), None]);
        assert_eq!(answer.symbols[0].start, CODE.1);
    }
}

#[test]
#[ignore = "live: needs readelf"]
fn labels_on_machines_without_mapping_symbols() {
    let symbols = [("$x", LABEL, 1, CODE.0, 0), ("f", FUNC, 1, CODE.0 + 8, 8)];
    let offsets = || vec![CODE.1 + 4, CODE.1 + 8];
    let answer = ask("foreign_a64", build(EM_AARCH64, true, false, &symbols, &[]), offsets());
    assert_eq!(names(&answer), [None, Some("f")]);
    let answer = ask("foreign_s390", build(EM_S390, true, true, &symbols, &[]), offsets());
    assert_eq!(names(&answer), [Some("$x"), Some("f")]);
}

#[test]
#[ignore = "live: needs readelf"]
fn labels_of_assemblers_for_code_that_shrinks() {
    let symbols =
        [(".L0 ", LABEL, 1, CODE.0 + 4, 0), (".Lf", FUNC, 1, CODE.0 + 8, 4), ("f", FUNC, 1, CODE.0, 8)];
    let offsets = || vec![CODE.1, CODE.1 + 4, CODE.1 + 8];
    let answer = ask("foreign_riscv", build(EM_RISCV, true, false, &symbols, &[]), offsets());
    assert_eq!(names(&answer), [Some("f"), Some("f"), Some(".Lf")]);
    let answer = ask("foreign_labels", build(EM_S390, true, true, &symbols, &[]), offsets());
    assert_eq!(names(&answer), [Some("f"), Some(".L0 "), Some(".Lf")]);
}

#[test]
#[ignore = "live: needs readelf"]
fn function_descriptors() {
    // The symbols are of descriptors, whose first word is the address of the code.
    let symbols = [
        ("first", FUNC, 2, DESCRIPTORS.0, 0x10),
        ("second", FUNC, 2, DESCRIPTORS.0 + 24, 0x20),
        ("plain", FUNC, 1, CODE.0 + 0x300, 0x10),
    ];
    let bytes = build(EM_PPC64, true, true, &symbols, &[CODE.0 + 0x100, CODE.0 + 0x200]);
    let offsets = vec![CODE.1 + 0x104, CODE.1 + 0x21c, CODE.1 + 0x300, DESCRIPTORS.1];
    let answer = ask("foreign_ppc64", bytes, offsets);
    assert_eq!(names(&answer), [Some("first"), Some("second"), Some("plain"), None]);
}
