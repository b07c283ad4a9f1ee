//! Debug information that is spread over several files: of single units, packed, or shared with other binaries.

use std::path::{Path, PathBuf};

use crate::programs::{compile, directory, options, resolve_file, run, segments};
use readperf_symbols::{Options, SymbolBatch};

/// Function, file and line of one level.
type Level<'a> = (Option<&'a str>, Option<&'a str>, u32);

/// The levels at each address.
fn frames(answer: &SymbolBatch) -> Vec<Vec<Level<'_>>> {
    let frame = |frame: &readperf_symbols::SourceFrame| {
        let name = frame.function.and_then(|id| answer.function(id)).map(|function| function.shown());
        (name, frame.file.and_then(|id| answer.file(id)), frame.line)
    };
    (0..answer.len()).map(|index| answer.frames(index).iter().map(frame).collect()).collect()
}

fn ask(options: &Options, program: &Path) -> SymbolBatch {
    let code = *segments(program).unwrap().iter().find(|segment| segment.offset > 0).unwrap();
    resolve_file(options, program, None, (code.offset..code.offset + code.size).collect())
}

fn assert_same(answer: &SymbolBatch, expected: &SymbolBatch, file: &Path) {
    assert_eq!(answer.addresses, expected.addresses);
    for ((address, ours), theirs) in answer.addresses.iter().zip(frames(answer)).zip(frames(expected)) {
        assert_eq!(ours, theirs, "{address:#x} of {}", file.display());
    }
}

fn has_inlined(answer: &SymbolBatch) -> bool {
    (0..answer.len()).any(|index| answer.frames(index).len() > 2)
}

/// Files below a directory with this ending.
fn with_ending(dir: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_str().unwrap().ends_with(ending)).collect()
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn files_of_units() {
    for version in ["-gdwarf-5", "-gdwarf-4"] {
        let dir = directory(&format!("units{version}"));
        let Some(whole) = compile(&dir, "inlines.c", "cc", &["-O2", "-g", version]) else { return };
        let Some(split) = compile(&dir, "inlines.c", "cc", &["-O2", "-g", version, "-gsplit-dwarf"]) else {
            return;
        };
        let expected = ask(&options(), &whole);
        assert!(has_inlined(&expected));
        let same = |options: &Options, program: &Path| {
            let answer = ask(options, program);
            assert_same(&answer, &expected, program);
        };
        // Where the compiler put it.
        let units = with_ending(&dir, ".dwo");
        assert_eq!(units.len(), 1, "{units:?}");
        same(&options(), &split);
        // Moved together with the program, or to another directory.
        let moved = dir.join("moved");
        std::fs::create_dir_all(&moved).unwrap();
        std::fs::copy(&split, moved.join("prog")).unwrap();
        std::fs::rename(&units[0], moved.join(units[0].file_name().unwrap())).unwrap();
        same(&options(), &moved.join("prog"));
        let searched = Options { search_dirs: vec![moved.clone()], ..options() };
        same(&searched, &split);
        // Not there: lines, but nothing of what was inlined.
        assert!(!has_inlined(&ask(&options(), &split)));
        // Packed, beside the program.
        std::fs::rename(moved.join(units[0].file_name().unwrap()), &units[0]).unwrap();
        let package = format!("{}.dwp", split.display());
        let Some(_) = run("llvm-dwp", &["-e", split.to_str().unwrap(), "-o", &package]) else { return };
        std::fs::remove_file(&units[0]).unwrap();
        same(&options(), &split);
        // Of another build: the numbers differ.
        let Some(other) = compile(&dir, "inlines.c", "cc", &["-O1", "-g", version, "-gsplit-dwarf"]) else {
            return;
        };
        let foreign = with_ending(&dir, ".dwo");
        std::fs::rename(&foreign[0], &units[0]).unwrap();
        std::fs::remove_file(&package).unwrap();
        assert!(!has_inlined(&ask(&options(), &split)), "{}", other.display());
        // Damaged in any way, it does no harm.
        let mut bytes = std::fs::read(&units[0]).unwrap();
        for at in (0..bytes.len()).step_by(97) {
            bytes[at] ^= 0x5a;
            std::fs::write(&units[0], &bytes).unwrap();
            assert!(!ask(&options(), &other).is_empty());
            bytes[at] ^= 0x5a;
        }
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn what_several_files_share() {
    let dir = directory("shared");
    let mut programs = Vec::new();
    for name in ["first", "second"] {
        let Some(program) = compile(&dir, "classes.cc", "c++", &["-O2", "-g", "-gdwarf-4"]) else { return };
        std::fs::rename(&program, dir.join(name)).unwrap();
        programs.push(dir.join(name));
    }
    let expected = ask(&options(), &programs[0]);
    assert!(has_inlined(&expected));
    let id = |path: &Path| {
        let notes = run("readelf", &["-n", path.to_str().unwrap()]).unwrap();
        notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ").map(str::to_owned)).unwrap()
    };
    let common = dir.join("common.debug");
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let arguments = ["-m".to_owned(), text(&common), "-M".to_owned(), "../lib/common.debug".to_owned()];
    let all: Vec<String> = arguments.into_iter().chain(programs.iter().map(|path| text(path))).collect();
    if run("dwz", &all).is_none() {
        return;
    }
    let sections = run("readelf", &["-SW".to_owned(), text(&programs[0])]).unwrap();
    assert!(sections.contains(".gnu_debugaltlink"), "dwz has shared nothing");
    // Not where the link says: names are missing.
    assert_ne!(frames(&ask(&options(), &programs[0])), frames(&expected));
    let id = id(&common);
    let by_id = dir.join(format!("root/.build-id/{}/{}.debug", &id[..2], &id[2..]));
    let by_path = dir.parent().unwrap().join("lib/common.debug");
    for (place, root) in [(by_path, "/nonexistent".into()), (by_id, dir.join("root"))] {
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::rename(&common, &place).unwrap();
        let below = Options { debug_dirs: vec![root], ..options() };
        assert_same(&ask(&below, &programs[0]), &expected, &place);
        // Another file of that name is not used.
        std::fs::rename(&place, &common).unwrap();
        std::fs::copy(&programs[1], &place).unwrap();
        assert_ne!(frames(&ask(&below, &programs[0])), frames(&expected));
        std::fs::remove_file(&place).unwrap();
    }
}
