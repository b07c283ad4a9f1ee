//! Damaged binaries: any answer will do, but there must be one, soon.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::programs::{compile, directory, options, resolve_file};
use readperf_symbols::{FileBytes, FileLoader, Options, Reason};

/// Numbers that look random and are the same in each run (xorshift).
struct Numbers(u64);

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

fn damage(bytes: &mut Vec<u8>, numbers: &mut Numbers, round: usize) {
    let size = bytes.len();
    match round % 8 {
        // Headers: the file header, the program headers, the end with the section headers.
        0 => flip(bytes, numbers, 0, 64),
        1 => flip(bytes, numbers, 64, 1024),
        2 => flip(bytes, numbers, size - 2500, size),
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
    for _ in 0..1 + numbers.below(24) {
        bytes[start + numbers.below(end - start)] = numbers.next() as u8;
    }
}

#[test]
fn damaged_binaries_do_no_harm() {
    let dir = directory("mutants");
    let mut good = Vec::new();
    for flags in [&["-O2", "-g"][..], &["-O2", "-g", "-gz", "-gdwarf-4"], &["-O2", "-s"]] {
        let Some(program) = compile(&dir, "inlines.c", "cc", flags) else { return };
        good.push(std::fs::read(program).unwrap());
    }
    let path = dir.join("placeholder");
    std::fs::write(&path, b"").unwrap();
    let mut numbers = Numbers(0x5eed_cafe_f00d_1234);
    let (mut named, mut slowest) = (0, Duration::ZERO);
    for round in 0..600 {
        let mut bytes = good[round % good.len()].clone();
        damage(&mut bytes, &mut numbers, round);
        let bytes = Arc::new(bytes);
        let shared = Arc::clone(&bytes);
        let file_loader = FileLoader::new(move |_| Ok(Arc::clone(&shared) as FileBytes));
        let options = Options { file_loader, debug_dirs: vec![], ..options() };
        let start = Instant::now();
        let answer = resolve_file(&options, &path, None, (0..bytes.len() as u64).step_by(16).collect());
        slowest = slowest.max(start.elapsed());
        assert_ne!(answer.batch_reason, Some(Reason::Defect), "round {round} panicked");
        named += usize::from((0..answer.len()).any(|index| answer.name(index).is_some()));
    }
    eprintln!("{named} of 600 still have names; the slowest took {slowest:?}");
    assert!(named > 100, "the damage is so great that nothing is tested");
    assert!(slowest < Duration::from_secs(10), "{slowest:?}");
}

#[test]
fn inlining_without_end() {
    let dir = directory("deep");
    for depth in ["-DDEPTH=10", "-DDEPTH=4000", "-DDEPTH=5000000"] {
        let Some(program) = compile(&dir, "deep.S", "cc", &["-shared", depth]) else { return };
        let symbols = crate::programs::run("nm", &[program.as_os_str()]).unwrap();
        let line = symbols.lines().find(|line| line.ends_with(" T deep")).unwrap();
        let address = u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap();
        let offset = crate::programs::offset(&crate::programs::segments(&program).unwrap(), address).unwrap();
        let answer = resolve_file(&options(), &program, None, vec![offset]);
        assert_eq!(answer.name(0), Some("deep"));
    }
}
