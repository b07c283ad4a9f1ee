//! Source lines and inlined functions against `llvm-symbolizer` and `addr2line`.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::programs::{all_programs, directory, filter, options, resolve_file, run, segments};
use readperf_symbols::{Demangle, FileBytes, FileLoader, Options, SymbolBatch};

/// Function, file and line of each level at an address.
pub(crate) type Chain = Vec<(String, String, u32)>;

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
pub(crate) fn chains(text: &str) -> Vec<Chain> {
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

pub(crate) fn our_chain(answer: &SymbolBatch, index: usize) -> Chain {
    let unknown = "??".to_owned();
    let frames = answer.frames(index).iter().map(|frame| {
        let function =
            frame.function.and_then(|id| answer.function(id)).map(|function| function.raw().to_owned());
        let file = frame.file.and_then(|id| answer.file(id)).map(str::to_owned);
        (function.unwrap_or_else(|| unknown.clone()), file.unwrap_or_else(|| unknown.clone()), frame.line)
    });
    frames.collect()
}

fn symbol_name(answer: &SymbolBatch, index: usize) -> Option<&str> {
    answer.symbol_by_id(answer.symbol(index).ok()?).map(|symbol| symbol.name.raw())
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
            assert!(ours.0 == "??" || Some(ours.0.as_str()) == symbol_name(answer, index));
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

/// Libraries with debug information, if that is installed (libc6-dbg, libstdc++6-12-dbg): of many compilers' runs, the
/// first in a separate file that is compressed.
fn libraries() -> Vec<PathBuf> {
    let mut libraries: Vec<PathBuf> = has_debug_file("/lib/x86_64-linux-gnu/libc.so.6").into_iter().collect();
    let cpp = Path::new("/usr/lib/x86_64-linux-gnu/debug/libstdc++.so.6");
    if cpp.exists() {
        libraries.push(cpp.to_owned());
    } else {
        eprintln!("SKIPPED: {} is not installed", cpp.display());
    }
    libraries
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
#[ignore = "live: builds programs and compares with other tools"]
fn every_fourth_address() {
    let dir = directory("lines");
    let raw = Options { demangle: Demangle::None, ..options() };
    let mut total = 0;
    let mut programs = all_programs(&dir, &["-DNO_ALIASES"]);
    programs.extend(libraries());
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
#[ignore = "live: builds programs and compares with other tools"]
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
#[ignore = "live: builds programs and compares with other tools"]
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
    let none = resolve_file(&Options { lines: false, inlines: false, ..options() }, &program, None, offsets);
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

/// The names that are read alone are those that are read with lines, by other code.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn inlined_functions_without_lines() {
    let dir = directory("inlined_names");
    let mut nested = 0;
    for program in all_programs(&dir, &["-DNO_ALIASES"]).into_iter().chain(libraries()) {
        let Some(addresses) = code_addresses(&program) else { return };
        let step = addresses.len() / 20_000 + 1;
        let offsets: Vec<u64> = addresses.iter().step_by(step).map(|(_, offset)| *offset).collect();
        let full = resolve_file(&options(), &program, None, offsets.clone());
        let names = resolve_file(&Options { lines: false, ..options() }, &program, None, offsets);
        let levels = |answer: &SymbolBatch, index: usize| -> Vec<Option<String>> {
            let name = |id| answer.function(id).map(|function| function.raw().to_owned());
            answer.frames(index).iter().map(|frame| frame.function.and_then(name)).collect()
        };
        for index in 0..full.len() {
            let (with_lines, alone) = (levels(&full, index), levels(&names, index));
            assert!(names.frames(index).iter().all(|frame| frame.file.is_none() && frame.line == 0));
            // Code without a function in the debug information has a line at most.
            if with_lines.len() > 1 || !alone.is_empty() {
                assert_eq!(alone, with_lines, "{:#x} of {}", full.addresses[index], program.display());
            }
            nested += usize::from(alone.len() > 1);
        }
    }
    assert!(nested > 500, "only {nested} addresses in inlined functions");
}

#[test]
#[ignore = "live: needs readelf"]
fn libraries_as_addr2line_sees_them() {
    for library in libraries() {
        let Some(addresses) = code_addresses(&library) else { return };
        let step = addresses.len() / 10_000 + 1;
        let addresses: Vec<(u64, u64)> = addresses.into_iter().step_by(step).collect();
        let offsets = addresses.iter().map(|(_, offset)| *offset).collect();
        let answer = resolve_file(&options(), &library, None, offsets);
        let provides =
            |found: &&readperf_symbols::Found| found.provides == readperf_symbols::Provides::DebugInfo;
        let debug = answer.found.iter().find(provides).unwrap().path.clone();
        let input: String = addresses.iter().map(|(address, _)| format!("{address:#x}\n")).collect();
        let arguments = ["-a", "-i", "-f", "-e", debug.to_str().unwrap()];
        let Some(text) = filter("addr2line", &arguments, &input) else { return };
        // addr2line of binutils 2.40 is wrong in two ways, where llvm-symbolizer has what the debug information says
        // (see the test above, which compares all of it). For some lines of included files it gives the file of the unit
        // (strfromd.c:73 for strfrom-skeleton.c:73); and in some places the innermost of several levels has the name of
        // the symbol that covers all of them.
        let mut expected = chains(&text);
        let mut misnamed = 0;
        for (index, chain) in expected.iter_mut().enumerate() {
            let ours = our_chain(&answer, index);
            let named_as_symbol = chain.len() > 1 && symbol_name(&answer, index) == Some(&chain[0].0);
            if named_as_symbol && !ours.is_empty() && ours[0].0 != chain[0].0 {
                misnamed += 1;
                chain[0].0.clone_from(&ours[0].0);
            }
            for (theirs, (_, file, _)) in chain.iter_mut().zip(ours) {
                theirs.1 = file;
            }
        }
        assert!(misnamed * 100 < expected.len(), "{misnamed} of {} are misnamed", expected.len());
        let (compared, different) = compare(&answer, &expected);
        eprintln!("{}: {compared} compared, {different} different", library.display());
        assert!(compared > 4000 && different * 1000 <= compared, "{different} of {compared} differ");
    }
}

/// A path without what does not change it: `././work.c` is `work.c`.
fn plain(path: &str) -> String {
    path.split('/').filter(|part| *part != ".").collect::<Vec<_>>().join("/")
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn source_files_of_functions_are_those_of_nm() {
    let dir = directory("source_files");
    for program in all_programs(&dir, &["-DNO_ALIASES"]) {
        let Some(addresses) = code_addresses(&program) else { return };
        let Some(text) = run("nm", &["-l", program.to_str().unwrap()]) else { return };
        let told: HashMap<u64, String> = text
            .lines()
            .filter_map(|line| {
                let (symbol, place) = line.split_once('\t')?;
                let mut words = symbol.split_whitespace();
                let address = u64::from_str_radix(words.next()?, 16).ok()?;
                words.next().filter(|kind| ["t", "T", "w", "W"].contains(kind))?;
                Some((address, plain(place.rsplit_once(':')?.0)))
            })
            .collect();
        // All code lies in one piece: an offset is an address less what the first of them is less.
        let Some((address, offset)) = addresses.first() else { return };
        let bias = address.wrapping_sub(*offset);
        let offsets: Vec<u64> = told.keys().map(|address| address.wrapping_sub(bias)).collect();
        let wanted = Options { lines: false, inlines: false, source_files: true, ..options() };
        let answer = resolve_file(&wanted, &program, None, offsets);
        let mut compared = 0;
        for symbol in &answer.symbols {
            if let Some(expected) = told.get(&symbol.start.wrapping_add(bias)) {
                assert_eq!(
                    symbol.source_file.as_deref().map(plain).as_ref(),
                    Some(expected),
                    "{}",
                    symbol.name.shown()
                );
                compared += 1;
            }
        }
        assert!(compared > 2, "{compared} of {}", program.display());
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn names_alone_need_no_debug_information() {
    let dir = directory("names_alone");
    let Some(program) = crate::programs::compile(&dir, "classes.cc", "c++", &["-O2", "-g"]) else { return };
    let Some(addresses) = code_addresses(&program) else { return };
    let offsets: Vec<u64> = addresses.iter().map(|(_, offset)| *offset).collect();
    let options = || Options { lines: false, inlines: false, source_files: false, ..options() };
    let names = |options: Options| resolve_file(&options, &program, None, offsets.clone()).symbols;
    let expected = names(options());
    assert!(expected.len() > 5);
    // The same file without its debug sections, and with nothing but noise in them.
    let stripped = dir.join("without");
    let arguments = ["-g", "-o", stripped.to_str().unwrap(), program.to_str().unwrap()];
    if run("strip", &arguments).is_none() {
        return;
    }
    let text = run("readelf", &["-SW", program.to_str().unwrap()]).unwrap();
    let mut bytes = std::fs::read(&program).unwrap();
    for line in text.lines().filter(|line| line.contains(" .debug_")) {
        let words: Vec<&str> = line.split(']').nth(1).unwrap().split_whitespace().collect();
        let number = |word: &str| usize::from_str_radix(word, 16).unwrap();
        bytes[number(words[3])..][..number(words[4])].fill(0xa5);
    }
    for content in [std::fs::read(&stripped).unwrap(), bytes] {
        let (content, opened) = (Arc::new(content), Arc::new(Mutex::new(Vec::new())));
        let seen = Arc::clone(&opened);
        let file_loader = FileLoader::new(move |path| {
            seen.lock().unwrap().push(path.to_owned());
            Ok(Arc::clone(&content) as FileBytes)
        });
        assert!(expected == names(Options { file_loader, ..options() }));
        assert_eq!(*opened.lock().unwrap(), std::slice::from_ref(&program), "a debug file was looked for");
    }
}
