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
