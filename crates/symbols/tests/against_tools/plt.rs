//! Pieces of the procedure linkage table against the labels of `objdump`.

use std::ffi::OsStr;

use crate::programs::{all_programs, directory, offset, options, resolve_file, run, segments};

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn every_piece_that_objdump_labels() {
    let dir = directory("plt");
    let mut total = 0;
    let mut sections = std::collections::BTreeSet::new();
    for program in all_programs(&dir, &[]) {
        let Some(text) = run("objdump", &[OsStr::new("-d"), program.as_os_str()]) else { return };
        let Some(segments) = segments(&program) else { return };
        let mut section = "";
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("Disassembly of section ") {
                section = name.trim_end_matches(':');
            }
            let Some((address, label)) = line.split_once(' ') else { continue };
            let Some(label) = label.strip_prefix('<').and_then(|label| label.strip_suffix("@plt>:")) else {
                continue;
            };
            let at = offset(&segments, u64::from_str_radix(address, 16).unwrap()).unwrap();
            let answer = resolve_file(&options(), &program, None, vec![at]);
            let symbol = answer.symbol_by_id(answer.symbol(0).unwrap()).unwrap();
            assert_eq!(symbol.start, at, "{program:?} {line}");
            if let Some(resolver) = label.strip_prefix("*ABS*+0x") {
                // The function is chosen by a resolver at this address; nm knows it.
                let Some(names) = run("nm", &[program.as_os_str()]) else { return };
                let name = symbol.name.raw().trim_end_matches("@plt");
                let line = format!("{:0>16} i {name}", resolver);
                assert!(names.lines().any(|of| of == line), "{line}");
            } else {
                assert_eq!(
                    symbol.name.raw(),
                    format!("{}@plt", label.split('@').next().unwrap()),
                    "{program:?}"
                );
            }
            total += 1;
            sections.insert(section.to_owned());
        }
    }
    eprintln!("{total} pieces in {sections:?}");
    assert!(total > 20 && sections.len() >= 2, "{total} pieces in {sections:?}");
}

/// `_init` has no size, and the next symbol that is not of the table is behind it: what fills up the last section of the table is of none.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn nothing_is_between_the_table_and_the_code() {
    let dir = directory("behind-plt");
    let mut total = 0;
    for program in all_programs(&dir, &[]) {
        let Some(text) = run("readelf", &[OsStr::new("-SW"), program.as_os_str()]) else { return };
        let hex = |word: &str| u64::from_str_radix(word, 16).ok();
        // Number in brackets, then name, type, address, offset, size.
        let sections = text.lines().filter_map(|line| {
            let mut words = line.split_once("] ")?.1.split_whitespace();
            let (name, at) = (words.next()?, hex(words.nth(2)?)?);
            Some((name, at..at + hex(words.next()?)?))
        });
        let (tables, others): (Vec<_>, Vec<_>) = sections.partition(|(name, _)| name.starts_with(".plt"));
        let Some(end) = tables.iter().map(|(_, range)| range.end).max() else { continue };
        let Some(next) = others.iter().map(|(_, range)| range.start).filter(|start| *start >= end).min()
        else {
            continue;
        };
        let between: Vec<u64> = (end..next).collect();
        let answer = resolve_file(&options(), &program, None, between.clone());
        for (index, at) in between.iter().enumerate() {
            assert!(answer.symbol(index).is_err(), "{program:?}: {at:#x}");
        }
        total += between.len();
    }
    assert!(total > 0, "no program has anything between them");
}
