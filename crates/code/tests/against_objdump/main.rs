//! Against `objdump -d`: where instructions begin, where they lead, and their text.
//!
//! `cargo test -p readperf-code --test against_objdump -- --ignored` takes what is installed: this machine's programs and
//! libraries, and the C libraries that come with cross compilers. `READPERF_OBJDUMP=FILE` takes a file and shows what differs.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout
)]

mod compare;
mod listing;

use std::path::Path;

use compare::Comparison;
use readperf_code::{Machine, Syntax};

/// What may differ, in parts of a million instructions.
struct Bounds {
    boundaries: u64,
    targets: u64,
    mnemonics: u64,
    texts: u64,
}

const X86: Bounds = Bounds { boundaries: 100, targets: 20, mnemonics: 1_000, texts: 5_000 };
const OTHERS: Bounds = Bounds { boundaries: 1_000, targets: 100, mnemonics: 10_000, texts: 50_000 };

fn check(path: &str, machine: Machine, syntax: Syntax, bounds: &Bounds) {
    let Some(lines) = listing::of(Path::new(path), syntax) else {
        println!("skipped: no objdump, or no {path}");
        return;
    };
    let comparison = Comparison::of(&lines, machine, syntax);
    println!("{path}: {comparison}");
    let most = |bound: u64| comparison.instructions * bound / 1_000_000 + 2;
    assert!(comparison.instructions > 100, "{path}: {comparison}");
    assert!(comparison.boundaries <= most(bounds.boundaries), "{path}: {comparison}");
    assert!(comparison.targets <= most(bounds.targets), "{path}: {comparison}");
    assert!(comparison.mnemonics <= most(bounds.mnemonics), "{path}: {comparison}");
    assert!(comparison.texts <= most(bounds.texts), "{path}: {comparison}");
}

#[test]
#[ignore = "live: runs objdump"]
fn x86_64() {
    for path in ["/usr/bin/objdump", "/usr/bin/perf", "/usr/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6"] {
        check(path, Machine::X86_64, Syntax::Att, &X86);
        check(path, Machine::X86_64, Syntax::Intel, &X86);
    }
}

#[test]
#[ignore = "live: runs objdump with other machines"]
fn other_machines() {
    for (name, machine) in [
        ("aarch64-linux-gnu", Machine::Arm64),
        ("arm-linux-gnueabihf", Machine::Arm),
        ("riscv64-linux-gnu", Machine::Riscv64),
        ("s390x-linux-gnu", Machine::S390x),
        ("powerpc64-linux-gnu", Machine::Ppc64 { big_endian: true }),
        ("powerpc64le-linux-gnu", Machine::Ppc64 { big_endian: false }),
    ] {
        // Of Arm, objdump shows an offset of 0, and negative numbers without their sign.
        let texts = if machine == Machine::Arm { 100_000 } else { OTHERS.texts };
        check(&format!("/usr/{name}/lib/libc.so.6"), machine, Syntax::Att, &Bounds { texts, ..OTHERS });
    }
}

#[test]
#[ignore = "live: runs objdump on the file that READPERF_OBJDUMP names"]
fn given_file() {
    let Ok(path) = std::env::var("READPERF_OBJDUMP") else { return };
    let syntax = if std::env::var("READPERF_SYNTAX").is_ok() { Syntax::Intel } else { Syntax::Att };
    let machine = listing::machine(Path::new(&path)).expect("an ELF file of a known machine");
    let lines = listing::of(Path::new(&path), syntax).expect("a listing");
    let comparison = Comparison::of(&lines, machine, syntax);
    println!("{path}: {comparison}");
    comparison.show(60);
}
