//! ELF files, made by hand (System V ABI, chapters 4 and 5): code at offset 0x1000, and a table of symbols.

/// Where the code is, in the file and in memory.
pub(crate) const CODE: u64 = 0x1000;

/// Bytes of code of each symbol.
pub(crate) const EACH: u64 = 16;

/// An executable with so many functions, one behind the other. `names` is its string table, and `name_at` says where in it the
/// name of each is.
pub(crate) fn executable(functions: u32, names: &[u8], name_at: impl Fn(u32) -> u32) -> Vec<u8> {
    let code_bytes = u64::from(functions) * EACH;
    let symbols_at = CODE + code_bytes;
    let symbols_bytes = (u64::from(functions) + 1) * 24;
    let names_at = symbols_at + symbols_bytes;
    let section_names = b"\0.text\0.symtab\0.strtab\0";
    let section_names_at = names_at + names.len() as u64;
    let sections_at = (section_names_at + section_names.len() as u64).next_multiple_of(8);

    let mut file = Vec::new();
    file.extend(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    halves(&mut file, &[2, 62]);
    words(&mut file, &[1]);
    longs(&mut file, &[CODE, 64, sections_at]);
    words(&mut file, &[0]);
    // Header sizes; one segment, five sections, the last of which has their names.
    halves(&mut file, &[64, 56, 1, 64, 5, 4]);
    words(&mut file, &[1, 5]);
    longs(&mut file, &[0, 0, 0, symbols_at, symbols_at, 0x1000]);
    file.resize(usize::try_from(symbols_at).unwrap(), 0x90);
    file.extend([0; 24]);
    for number in 0..functions {
        words(&mut file, &[name_at(number)]);
        // A global function in section 1.
        file.extend([0x12, 0]);
        halves(&mut file, &[1]);
        longs(&mut file, &[CODE + u64::from(number) * EACH, EACH]);
    }
    file.extend(names);
    file.extend(section_names);
    file.resize(usize::try_from(sections_at).unwrap(), 0);
    let mut section = |name: u32, kind: u32, flags: u64, at: u64, size: u64, link: u32, entry: u64| {
        words(&mut file, &[name, kind]);
        longs(&mut file, &[flags, if flags == 0 { 0 } else { at }, at, size]);
        words(&mut file, &[link, 1]);
        longs(&mut file, &[1, entry]);
    };
    section(0, 0, 0, 0, 0, 0, 0);
    section(1, 1, 6, CODE, code_bytes, 0, 0);
    section(7, 2, 0, symbols_at, symbols_bytes, 3, 24);
    section(15, 3, 0, names_at, names.len() as u64, 0, 0);
    section(15, 3, 0, section_names_at, section_names.len() as u64, 0, 0);
    file
}

fn halves(file: &mut Vec<u8>, all: &[u16]) {
    all.iter().for_each(|half| file.extend(half.to_le_bytes()));
}

fn words(file: &mut Vec<u8>, all: &[u32]) {
    all.iter().for_each(|word| file.extend(word.to_le_bytes()));
}

fn longs(file: &mut Vec<u8>, all: &[u64]) {
    all.iter().for_each(|long| file.extend(long.to_le_bytes()));
}
