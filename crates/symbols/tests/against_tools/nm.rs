//! Function symbols against `nm`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::Path;

use crate::programs::{all_programs, directory, offset, options, resolve_file, run, segments};

/// The names at each address that has a function or a weak symbol, by nm.
fn names_by_address(path: &Path, flag: &str) -> Option<BTreeMap<u64, BTreeSet<String>>> {
    let text = run("nm", &[OsStr::new(flag), path.as_os_str()])?;
    let mut names: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    let mut functions: BTreeSet<u64> = BTreeSet::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [address, kind, name] = words[..] {
            let address = u64::from_str_radix(address, 16).unwrap();
            if matches!(kind, "T" | "t" | "W" | "w" | "i") {
                functions.insert(address);
            }
            names.entry(address).or_default().insert(name.split('@').next().unwrap().to_owned());
        }
    }
    names.retain(|address, _| functions.contains(address));
    Some(names)
}

/// Every function that nm lists is found at its start under one of its names. Returns how many there were.
fn check(path: &Path, flag: &str) -> Option<usize> {
    let names = names_by_address(path, flag)?;
    let segments = segments(path)?;
    let by_offset: BTreeMap<u64, &BTreeSet<String>> =
        names.iter().map(|(address, names)| (offset(&segments, *address).unwrap(), names)).collect();
    let answer = resolve_file(&options(), path, None, by_offset.keys().copied().collect());
    for (index, (start, names)) in by_offset.iter().enumerate() {
        let symbol =
            answer.symbol(index).unwrap_or_else(|reason| panic!("{path:?} {start:#x} {names:?}: {reason}"));
        let symbol = answer.symbol_by_id(symbol).unwrap();
        assert_eq!(symbol.start, *start, "{path:?} {names:?} {symbol:?}");
        assert!(
            names.contains(symbol.name.raw()),
            "{path:?} {start:#x}: {} is none of {names:?}",
            symbol.name.raw()
        );
    }
    Some(by_offset.len())
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn every_function_of_compiled_programs() {
    let dir = directory("nm");
    for program in all_programs(&dir, &[]) {
        let Some(count) = check(&program, "--defined-only") else { return };
        eprintln!("{count} functions of {}", program.display());
        assert!(count > 10, "{}", program.display());
    }
}

#[test]
#[ignore = "live: needs nm"]
fn every_dynamic_function_of_libc() {
    let libc = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
    if !libc.exists() {
        eprintln!("SKIPPED: no {}", libc.display());
        return;
    }
    // The debug file, if it is installed, has more names for some of these addresses.
    let without_debug_files = readperf_symbols::Options { debug_dirs: vec![], ..options() };
    let Some(names) = names_by_address(libc, "-D") else { return };
    let Some(segments) = segments(libc) else { return };
    let offsets: Vec<u64> = names.keys().filter_map(|address| offset(&segments, *address)).collect();
    let answer = resolve_file(&without_debug_files, libc, None, offsets);
    for (index, at) in answer.addresses.iter().enumerate() {
        let symbol = answer.symbol_by_id(answer.symbol(index).unwrap()).unwrap();
        let address = names.keys().copied().find(|address| offset(&segments, *address) == Some(*at)).unwrap();
        assert!(names[&address].contains(symbol.name.raw()), "{at:#x} {symbol:?}");
    }
    eprintln!("{} functions of libc", answer.len());
    assert!(answer.len() > 1000);
}
