//! Source lines and inlined functions against `llvm-symbolizer` and `addr2line`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::programs::{all_programs, directory, filter, options, resolve_file, run, segments};
use readperf_symbols::{Demangle, Options, SymbolBatch};

/// Function, file and line of each level at an address.
type Chain = Vec<(String, String, u32)>;

/// Every fourth address of the code section, as (virtual address, file offset); at most a few ten thousand.
fn code_addresses(path: &Path) -> Option<Vec<(u64, u64)>> {
    let text = run("readelf", &[OsStr::new("-SW"), path.as_os_str()])?;
    let line = text.lines().find(|line| line.contains(" .text "))?;
    let words: Vec<&str> = line.split(']').nth(1)?.split_whitespace().collect();
    let number = |word: &str| u64::from_str_radix(word, 16).unwrap();
    let (address, offset, size) = (number(words[2]), number(words[3]), number(words[4]));
    let step = 4 * (size / 4 / 20_000 + 1);
    Some((0..size).step_by(step as usize).map(|at| (address + at, offset + at)).collect())
}

/// Reads the output of either tool: a line with the address, then two lines for each level.
fn chains(text: &str) -> Vec<Chain> {
    let mut chains: Vec<Chain> = Vec::new();
    let mut lines = text.lines().filter(|line| !line.is_empty());
    while let Some(line) = lines.next() {
        if line.starts_with("0x") {
            chains.push(Vec::new());
            continue;
        }
        let place = lines.next().unwrap().split(" (discriminator").next().unwrap();
        let (file, number) = place.rsplit_once(':').unwrap();
        chains.last_mut().unwrap().push((line.to_owned(), file.to_owned(), number.parse().unwrap_or(0)));
    }
    chains
}

fn our_chain(answer: &SymbolBatch, index: usize) -> Chain {
    let unknown = "??".to_owned();
    let frames = answer.frames(index).iter().map(|frame| {
        let function =
            frame.function.and_then(|id| answer.function(id)).map(|function| function.raw_name.clone());
        let file = frame.file.and_then(|id| answer.file(id)).map(str::to_owned);
        (function.unwrap_or_else(|| unknown.clone()), file.unwrap_or_else(|| unknown.clone()), frame.line)
    });
    frames.collect()
}

fn symbol_name(answer: &SymbolBatch, index: usize) -> Option<&String> {
    answer.symbol_by_id(answer.symbol(index).ok()?).map(|symbol| &symbol.raw_name)
}

/// Compares with what a tool printed. Only addresses where the tool knows a line count: elsewhere it falls back to
/// symbols. Returns how many were compared and how many differ.
fn compare(answer: &SymbolBatch, expected: &[Chain]) -> (usize, usize) {
    assert_eq!(answer.len(), expected.len());
    let (mut compared, mut different) = (0, 0);
    for (index, expected) in expected.iter().enumerate() {
        if expected.last().is_none_or(|(_, _, line)| *line == 0) {
            continue;
        }
        let mut ours = our_chain(answer, index);
        let mut theirs = expected.clone();
        for level in ours.iter_mut().chain(&mut theirs) {
            // Tools differ in how they join directories; the last part must be the same.
            level.1 = level.1.rsplit('/').next().unwrap().to_owned();
        }
        // The real function has the name of its symbol, which may have an alias (constructors have two names) or
        // be a clone (`spin.constprop.0` of `spin`). That name is compared with nm's in another test.
        if let (Some(ours), Some(theirs)) = (ours.last_mut(), theirs.last()) {
            assert!(ours.0 == "??" || Some(&ours.0) == symbol_name(answer, index));
            ours.0.clone_from(&theirs.0);
        }
        compared += 1;
        if ours != theirs {
            different += 1;
            if different < 4 {
                eprintln!("{:#x}\n  ours   {ours:?}\n  theirs {theirs:?}", answer.addresses[index]);
            }
        }
    }
    (compared, different)
}

fn has_debug_file(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let answer = path.exists().then(|| resolve_file(&options(), path, None, vec![0]))?;
    if answer.found.iter().all(|found| found.path == path) {
        eprintln!("SKIPPED: no debug file of {} is installed", path.display());
        return None;
    }
    Some(path.to_owned())
}

#[test]
fn every_fourth_address() {
    let dir = directory("lines");
    let raw = Options { demangle: Demangle::None, ..options() };
    let mut total = 0;
    let mut programs = all_programs(&dir, &["-DNO_ALIASES"]);
    // The C library with its debug file, if that is installed: compressed, and made by many compilers' runs.
    programs.extend(has_debug_file("/lib/x86_64-linux-gnu/libc.so.6"));
    for program in programs {
        let Some(addresses) = code_addresses(&program) else { return };
        assert!(segments(&program).is_some());
        let input: String = addresses.iter().map(|(address, _)| format!("{address:#x}\n")).collect();
        let object = format!("--obj={}", program.display());
        let arguments = [object.as_str(), "--output-style=GNU", "-a", "-i", "-f", "--no-demangle"];
        let Some(text) = filter("llvm-symbolizer", &arguments, &input) else { return };
        let answer =
            resolve_file(&raw, &program, None, addresses.iter().map(|(_, offset)| *offset).collect());
        let (compared, different) = compare(&answer, &chains(&text));
        eprintln!("{}: {compared} compared, {different} different", program.display());
        assert!(different * 1000 <= compared, "{different} of {compared} differ");
        total += compared;
    }
    assert!(total > 5000, "only {total} addresses compared");
}

#[test]
fn same_lines_as_addr2line() {
    let dir = directory("lines_addr2line");
    let Some(program) = crate::programs::compile(&dir, "inlines.c", "cc", &["-O2", "-g", "-DNO_ALIASES"])
    else {
        return;
    };
    let Some(addresses) = code_addresses(&program) else { return };
    let input: String = addresses.iter().map(|(address, _)| format!("{address:#x}\n")).collect();
    let Some(text) = filter("addr2line", &["-a", "-i", "-f", "-e", program.to_str().unwrap()], &input) else {
        return;
    };
    let answer =
        resolve_file(&options(), &program, None, addresses.iter().map(|(_, offset)| *offset).collect());
    let (compared, different) = compare(&answer, &chains(&text));
    eprintln!("{compared} compared, {different} different");
    assert!(compared > 100 && different == 0);
}

#[test]
fn without_inlines_only_the_line() {
    let dir = directory("lines_only");
    let Some(program) = crate::programs::compile(&dir, "inlines.c", "cc", &["-O2", "-g", "-DNO_ALIASES"])
    else {
        return;
    };
    let Some(addresses) = code_addresses(&program) else { return };
    let offsets: Vec<u64> = addresses.iter().map(|(_, offset)| *offset).collect();
    let full = resolve_file(&options(), &program, None, offsets.clone());
    let lines = resolve_file(&Options { inlines: false, ..options() }, &program, None, offsets.clone());
    let none = resolve_file(&Options { lines: false, ..options() }, &program, None, offsets);
    assert!((0..full.len()).any(|index| full.frames(index).len() == 3), "no call inlined twice");
    for index in 0..full.len() {
        assert!(lines.frames(index).len() <= 1 && none.frames(index).is_empty());
        let place = |answer: &SymbolBatch| {
            our_chain(answer, index).first().map(|(_, file, line)| (file.clone(), *line))
        };
        if let Some((_, line)) = place(&lines) {
            assert_eq!(place(&full).unwrap().1, line);
        }
    }
}
