//! Names of megabytes. What they cost must not be their length times the addresses that have them.

use super::{MIB, allocation, directory, elf, name_at, options};
use readperf_symbols::{
    AddressBatch, JitDump, ListedSymbol, Options, Subject, SymbolBatch, SymbolList, resolve,
};
use std::path::Path;
use std::sync::Arc;

/// How long the long name is. Its last byte is no text, so that it has to be mended: what is read again costs again.
const LONG: usize = 4 * MIB;

/// How many addresses have it.
const ADDRESSES: u64 = 5000;

/// What a look-up may ask for in all: some copies of the file, and nothing for each address that has to do with the name.
const MOST: usize = 12 * LONG;

fn long_name() -> Vec<u8> {
    let mut name = vec![b'n'; LONG - 1];
    name.push(0xff);
    name
}

fn generated(dump: Option<&Path>) -> Subject {
    Subject::Generated { pid: 4711, inner_pid: None, dump: dump.map(Into::into), generation: 0 }
}

fn ask(options: &Options, subject: Subject, start: u64) -> SymbolBatch {
    let addresses = (0..ADDRESSES).map(|nr| start + nr).collect();
    let (mut answers, bytes) =
        allocation::total(|| resolve(options, vec![AddressBatch::new(subject, addresses)]));
    assert!(bytes < MOST, "{} MiB for a name of {} MiB", bytes / MIB, LONG / MIB);
    answers.pop().unwrap()
}

#[track_caller]
fn is_cut(name: &str) {
    assert!(name.starts_with("nnnn") && name.len() < 17_000, "{} bytes", name.len());
    assert!(name.ends_with("…[cut: longer than 16384 bytes]"), "{}", &name[name.len() - 60..]);
}

#[test]
fn a_perf_map_with_one_long_name() {
    let _alone = allocation::alone();
    let dir = directory("long_perf_map");
    let mut map = b"1000 10000 ".to_vec();
    map.extend(long_name());
    map.extend(b"\n20000 10 short\n");
    std::fs::write(dir.join("perf-4711.map"), map).unwrap();
    let options = Options { search_dirs: vec![dir], ..options() };
    let answer = ask(&options, generated(None), 0x1000);
    assert_eq!(answer.symbols.len(), 1);
    is_cut(name_at(&answer, 17));
    let answer = ask(&options, generated(None), 0x20000);
    assert_eq!(name_at(&answer, 15), "short");
}

/// Most of what a hostile map can do without long names: lines that overlap, and lines that are none.
#[test]
fn a_perf_map_with_very_many_lines() {
    let _alone = allocation::alone();
    let mut map = Vec::new();
    const LINES: usize = 200_000;
    for nr in 0..LINES {
        map.extend(format!("{:x} ffffffff f{nr}\n", 0x1000 + nr).into_bytes());
        map.extend(b"fffffffffffffffff 1 overflow\n1000 10\n");
    }
    let size = map.len();
    let (map, bytes) = allocation::total(|| readperf_symbols::PerfMap::parse(map).unwrap());
    assert_eq!((map.len(), map.bad_lines()), (LINES, 2 * LINES as u64));
    assert_eq!(map.find(0x1000 + 7).unwrap().name, "f7");
    assert!(bytes < 8 * size, "{bytes} for {size}");
}

#[test]
fn a_list_of_the_recording_with_one_long_name() {
    let _alone = allocation::alone();
    let name = "n".repeat(LONG);
    let symbols = SymbolList::new("x", [ListedSymbol { start: 0x1000, end: 0x10000, name }]);
    is_cut(name_at(&ask(&options(), Subject::Listed { symbols }, 0x1000), 0));
}

#[test]
fn a_kernel_list_with_one_long_name() {
    let _alone = allocation::alone();
    let list = directory("long_kallsyms").join("kallsyms");
    let mut text = b"ffffffff81000000 T _stext\nffffffff81001000 T ".to_vec();
    text.extend(long_name());
    text.extend(b"\nffffffff81009000 T end\n");
    std::fs::write(&list, text).unwrap();
    let options = Options { kallsyms: Some(list), ..options() };
    let subject = Subject::Kernel { build_id: None, reference: None };
    is_cut(name_at(&ask(&options, subject, 0xffff_ffff_8100_1000), 0));
}

/// A jitdump file (`tools/perf/Documentation/jitdump-specification.txt`): one piece of code with a long name, and a line for
/// each of its bytes, all in the same source file, whose name is long, too.
fn jitdump() -> Vec<u8> {
    let mut dump = Vec::new();
    for word in [0x4a69_5444_u32, 1, 40, 62, 0, 4711] {
        dump.extend(word.to_ne_bytes());
    }
    dump.extend([0; 16]);
    let mut record = |kind: u32, body: &[u8]| {
        dump.extend(kind.to_ne_bytes());
        dump.extend(u32::try_from(16 + body.len()).unwrap().to_ne_bytes());
        dump.extend(1_u64.to_ne_bytes());
        dump.extend(body);
    };
    let mut lines = Vec::new();
    lines.extend(0x1000_u64.to_ne_bytes());
    lines.extend(ADDRESSES.to_ne_bytes());
    for nr in 0..ADDRESSES {
        lines.extend((0x1000 + nr).to_ne_bytes());
        lines.extend(u32::try_from(nr + 1).unwrap().to_ne_bytes());
        lines.extend(0_u32.to_ne_bytes());
        if nr == 0 {
            lines.extend(long_name());
        } else {
            lines.push(0xff);
        }
        lines.push(0);
    }
    record(2, &lines);
    let mut load = Vec::new();
    load.extend([0; 8]);
    for word in [0x1000, 0x1000, ADDRESSES, 0] {
        load.extend(word.to_ne_bytes());
    }
    load.extend(long_name());
    load.push(0);
    load.resize(load.len() + usize::try_from(ADDRESSES).unwrap(), 0x90);
    record(0, &load);
    dump
}

#[test]
fn a_jitdump_with_long_names() {
    let _alone = allocation::alone();
    let bytes = jitdump();
    let dump = JitDump::parse(Arc::new(bytes.clone())).unwrap();
    assert_eq!((dump.len(), dump.lines(0).len()), (1, usize::try_from(ADDRESSES).unwrap()));
    let dir = directory("long_jitdump");
    std::fs::write(dir.join("jit-4711.dump"), bytes).unwrap();
    let options = Options { search_dirs: vec![dir], ..options() };
    let answer = ask(&options, generated(Some(Path::new("/gone/jit-4711.dump"))), 0x1000);
    is_cut(name_at(&answer, 4999));
    assert_eq!(answer.files.len(), 1);
    is_cut(&answer.files[0]);
    assert_eq!(answer.frames(4999)[0].line, 5000);
}

/// A file of 4 MB has functions by the thousand, whose names all lie in one string: the name of each is the rest of it from another
/// place on.
#[test]
fn an_elf_file_whose_names_are_parts_of_one_string() {
    let _alone = allocation::alone();
    const FUNCTIONS: u32 = 8000;
    let mut names = b"\0short\0".to_vec();
    names.extend(long_name());
    names.push(0);
    let path = directory("long_strtab").join("prog");
    let name_at_of = |number: u32| if number == 0 { 1 } else { 6 + number };
    std::fs::write(&path, elf::executable(FUNCTIONS, &names, name_at_of)).unwrap();
    let addresses = (0..u64::from(FUNCTIONS)).map(|number| elf::CODE + number * elf::EACH + 1).collect();
    let subject = Subject::File { path, build_id: None };
    let (answers, bytes) =
        allocation::total(|| resolve(&options(), vec![AddressBatch::new(subject, addresses)]));
    let answer = &answers[0];
    assert_eq!(name_at(answer, 0), "short");
    is_cut(name_at(answer, 1));
    // There is a limit for all of them, and it is said what stands beyond.
    assert_eq!(name_at(answer, 7999), "[not read: the names of this binary are longer than 64 MiB]");
    assert!(bytes < 512 * MIB, "{} MiB", bytes / MIB);
}
