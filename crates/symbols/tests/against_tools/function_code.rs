//! The code of functions, as objdump has it.

use std::collections::BTreeMap;
use std::path::Path;

use readperf_symbols::{AddressBatch, Extent, Files, Flow, NoCode, Resolver, Subject, Syntax};

use crate::programs::{all_programs, compile, directory, offset, options, run, segments};

/// Functions with a size, by nm: address, size, name.
fn functions(path: &Path) -> Option<Vec<(u64, u64, String)>> {
    let text = run("nm", &[Path::new("-S"), Path::new("--defined-only"), path])?;
    let function = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, size, "t" | "T" | "i" | "W" | "w", name] = words.as_slice() else { return None };
        let number = |word| u64::from_str_radix(word, 16).ok();
        Some((number(address)?, number(size)?, (*name).to_owned()))
    };
    Some(text.lines().filter_map(function).filter(|(_, size, _)| *size > 0).collect())
}

/// The bytes and texts of all instructions, by objdump.
fn instructions(path: &Path) -> Option<BTreeMap<u64, (Vec<u8>, String)>> {
    let text = run("objdump", &[Path::new("-dwz"), path])?;
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let address = u64::from_str_radix(parts.next()?.trim().strip_suffix(':')?, 16).ok()?;
        let bytes = parts.next()?.split_whitespace().map(|byte| u8::from_str_radix(byte, 16));
        Some((address, (bytes.collect::<Result<_, _>>().ok()?, parts.next().unwrap_or_default().to_owned())))
    };
    Some(text.lines().filter_map(line).collect())
}

#[test]
#[ignore = "live: runs nm, readelf and objdump on programs it compiles"]
fn functions_are_whole() {
    let dir = directory("function_code");
    for program in all_programs(&dir, &[]) {
        let (Some(functions), Some(segments), Some(expected)) =
            (functions(&program), segments(&program), instructions(&program))
        else {
            return;
        };
        let files = Files::new();
        let mut resolver = Resolver::new(&files, options());
        let subject = Subject::File { path: program.clone(), build_id: None };
        let mut compared = 0;
        for (address, size, name) in functions {
            let Some(at) = offset(&segments, address + size / 2) else { continue };
            let code = resolver.function_code(&subject, at).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(code.extent, Extent::Symbol, "{name}");
            // Of symbols within others the inner one counts.
            assert!(
                code.linked >= address && code.linked + code.bytes().len() as u64 <= address + size,
                "{name}"
            );
            let disassembler = code.disassembler(Syntax::Att);
            for instruction in code.instructions(&disassembler) {
                let (bytes, text) = &expected[&instruction.address];
                assert_eq!(instruction.bytes, bytes, "{name} {:x}", instruction.address);
                // A target is told as an address that names can be asked for.
                if let (Flow::Call { target: Some(target) }, Some((_, named))) =
                    (instruction.flow, text.split_once('<'))
                {
                    // Weak functions that do not exist are at 0.
                    let Some(place) = code.address_of(target) else {
                        assert!(target < 16, "{name}: {text}");
                        continue;
                    };
                    let asked = AddressBatch::new(subject.clone(), vec![place]);
                    let answers = resolver.resolve(vec![asked]);
                    // objdump may name it by another symbol of the same place.
                    let symbol = &answers[0].symbols[answers[0].symbol(0).unwrap().index()];
                    if !named.contains('+') {
                        assert_eq!(symbol.start, place, "{name}: {text}");
                    }
                }
                compared += 1;
            }
        }
        assert!(compared > 50, "{}: {compared}", program.display());
    }
}

#[test]
#[ignore = "live: runs nm, readelf and strip on programs it compiles"]
fn without_symbols_the_unwinding_table_says_where_a_function_ends() {
    let dir = directory("function_code_stripped");
    let Some(program) = compile(&dir, "inlines.c", "cc", &["-O2", "-g"]) else { return };
    let (Some(functions), Some(segments)) = (functions(&program), segments(&program)) else { return };
    let stripped = dir.join("stripped");
    if run("strip", &[Path::new("-o"), &stripped, &program]).is_none() {
        return;
    }
    let debug = dir.join("only.debug");
    run("objcopy", &[Path::new("--only-keep-debug"), &program, &debug]);
    let files = Files::new();
    let mut resolver = Resolver::new(&files, options());
    let subject = Subject::File { path: stripped, build_id: None };
    for wanted in ["main", "_start"] {
        let (address, size, _) = functions.iter().find(|(.., name)| name == wanted).unwrap();
        let at = offset(&segments, address + 4).unwrap();
        let code = resolver.function_code(&subject, at).unwrap();
        assert_eq!((code.extent, code.linked), (Extent::UnwindingTable, *address), "{wanted}");
        assert_eq!(code.bytes().len() as u64, *size, "{wanted}");
    }
    let data = segments.iter().find(|segment| segment.offset > 0).unwrap().offset - 1;
    let nothing = resolver.function_code(&subject, data + (1 << 40)).unwrap_err();
    assert!(matches!(nothing, NoCode::NotCode { .. }), "{nothing}");
    let subject = Subject::File { path: debug, build_id: None };
    let nothing = resolver.function_code(&subject, 0x1100).unwrap_err();
    assert!(matches!(nothing, NoCode::OnlyDebugFile { .. }), "{nothing}");
}
