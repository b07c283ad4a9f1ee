//! Damaged binaries: any answer will do, but there must be one, soon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::programs::{compile, directory, options, resolve_file};
use readperf_symbols::{FileBytes, FileLoader, Options, Reason};

/// Numbers that look random and are the same in each run (xorshift).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

pub(crate) fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers, round: usize) {
    let size = bytes.len();
    match round % 8 {
        // Headers: the file header, the program headers, the end with the section headers.
        0 => flip(bytes, numbers, 0, size.min(64)),
        1 => flip(bytes, numbers, size.min(64) / 2, size.min(1024)),
        2 => flip(bytes, numbers, size.saturating_sub(2500), size),
        3 => bytes.truncate(numbers.below(bytes.len())),
        4 => {
            // A run of bytes that says "very large" to any reader.
            let at = numbers.below(bytes.len() - 16);
            bytes[at..at + 8].fill(0xff);
        }
        _ => flip(bytes, numbers, 0, size),
    }
}

fn flip(bytes: &mut [u8], numbers: &mut Numbers, start: usize, end: usize) {
    flip_up_to(24, bytes, numbers, start, end);
}

fn flip_up_to(most: usize, bytes: &mut [u8], numbers: &mut Numbers, start: usize, end: usize) {
    for _ in 0..1 + numbers.below(most) {
        bytes[start + numbers.below(end - start)] = numbers.next() as u8;
    }
}

/// How many mutants there are; `READPERF_MUTANTS` asks for more.
pub(crate) fn rounds() -> usize {
    std::env::var("READPERF_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000)
}

/// The most memory that this process had so far, in KiB.
pub(crate) fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn damaged_binaries_do_no_harm() {
    let dir = directory("mutants");
    let mut good = Vec::new();
    let ways: &[(&str, &str, &[&str])] = &[
        ("inlines.c", "cc", &["-O2", "-g"]),
        ("inlines.c", "cc", &["-O2", "-g", "-gz", "-gdwarf-4"]),
        ("inlines.c", "cc", &["-O2", "-g", "-gdwarf-5", "-ffunction-sections", "-Wl,-z,lazy"]),
        ("inlines.c", "cc", &["-O2", "-g", "-flto"]),
        ("inlines.c", "cc", &["-O2", "-s"]),
        ("classes.cc", "c++", &["-O2", "-g", "-gdwarf-4"]),
        ("classes.cc", "c++", &["-O1", "-g", "-gz", "-fcf-protection", "-Wl,-z,ibtplt"]),
    ];
    for (name, compiler, flags) in ways {
        let Some(program) = compile(&dir, name, compiler, flags) else { return };
        let bytes = std::fs::read(&program).unwrap();
        let debug = debug_sections(&program).unwrap();
        good.push((bytes, debug));
    }
    let path = dir.join("placeholder");
    std::fs::write(&path, b"").unwrap();
    let mut numbers = Numbers(0x5eed_cafe_f00d_1234);
    let (mut named, mut framed, mut slowest) = (0, 0, Duration::ZERO);
    for round in 0..rounds() {
        let (bytes, debug) = &good[round % good.len()];
        let mut bytes = bytes.clone();
        // Half of the damage is where the debug information is, so that its readers see some.
        match debug {
            Some((start, end)) if round % 2 == 0 => flip_up_to(4, &mut bytes, &mut numbers, *start, *end),
            _ => damage(&mut bytes, &mut numbers, round / 2),
        }
        let bytes = Arc::new(bytes);
        let shared = Arc::clone(&bytes);
        let file_loader = FileLoader::new(move |_| Ok(Arc::clone(&shared) as FileBytes));
        // Inlined functions alone have a reader of their own.
        let lines = round % 3 != 2;
        let options = Options { file_loader, debug_dirs: vec![], lines, ..options() };
        let start = Instant::now();
        let answer = resolve_file(&options, &path, None, (0..bytes.len() as u64).step_by(16).collect());
        slowest = slowest.max(start.elapsed());
        assert_ne!(answer.batch_reason, Some(Reason::Defect), "round {round} panicked");
        named += usize::from((0..answer.len()).any(|index| answer.name(index).is_some()));
        framed += usize::from((0..answer.len()).any(|index| !answer.frames(index).is_empty()));
    }
    let (all, peak) = (rounds(), peak_kib());
    eprintln!(
        "of {all} {named} still have names, {framed} frames; the slowest took {slowest:?}, peak {peak} KiB"
    );
    assert!(named > all / 2 && framed > all / 3, "the damage is so great that nothing is tested");
    assert!(slowest < Duration::from_secs(10), "{slowest:?}");
    assert!(peak < 1 << 20, "{peak} KiB");
}

/// Where the debug sections are in a file, from the first to the last.
fn debug_sections(path: &std::path::Path) -> Option<Option<(usize, usize)>> {
    let text = crate::programs::run("readelf", &["-SW", path.to_str().unwrap()])?;
    let lines = text.lines().filter(|line| line.contains(" .debug_"));
    let number = |word: &str| usize::from_str_radix(word, 16).unwrap();
    let ranges = lines.map(|line| {
        let words: Vec<&str> = line.split(']').nth(1).unwrap().split_whitespace().collect();
        (number(words[3]), number(words[3]) + number(words[4]))
    });
    Some(ranges.reduce(|all, one| (all.0.min(one.0), all.1.max(one.1))))
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn inlining_without_end() {
    let dir = directory("deep");
    for depth in ["-DDEPTH=10", "-DDEPTH=4000", "-DDEPTH=5000000"] {
        let Some(program) = compile(&dir, "deep.S", "cc", &["-shared", depth]) else { return };
        let symbols = crate::programs::run("nm", &[program.as_os_str()]).unwrap();
        let line = symbols.lines().find(|line| line.ends_with(" T deep")).unwrap();
        let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
        let offset = crate::programs::offset(&crate::programs::segments(&program).unwrap(), address).unwrap();
        for lines in [true, false] {
            let answer = resolve_file(&Options { lines, ..options() }, &program, None, vec![offset]);
            assert_eq!(answer.name(0), Some("deep"));
        }
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn code_around_the_end_of_the_address_space() {
    let dir = directory("wrapping");
    let Some(program) = compile(&dir, "wrapping.S", "cc", &["-shared", "-nostdlib"]) else { return };
    let symbols = crate::programs::run("nm", &[program.as_os_str()]).unwrap();
    let line = symbols.lines().find(|line| line.ends_with(" T plain")).unwrap();
    let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
    let offset = crate::programs::offset(&crate::programs::segments(&program).unwrap(), address).unwrap();
    for (lines, inlines) in [(true, true), (true, false), (false, true)] {
        let answer = resolve_file(&Options { lines, inlines, ..options() }, &program, None, vec![offset]);
        assert_eq!(answer.name(0), Some("plain"), "{:?}", answer.batch_reason);
    }
}
