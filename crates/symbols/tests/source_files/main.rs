//! In which source file functions are written, by what nm says (`make.sh`). The first instruction of `largest` is of a function in
//! a header that is inlined there.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops where something is not as expected"
)]

use readperf_symbols::{AddressBatch, Options, Subject, resolve};
use std::path::Path;

/// Address, name and source file of each function.
fn functions() -> Vec<(u64, String, String)> {
    let text = include_str!("largest.txt");
    let function = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        let address = u64::from_str_radix(&words.next()?, 16).ok()?;
        Some((address, words.next()?, words.next()?))
    };
    text.lines().map(|line| function(line).expect("address, name, file")).collect()
}

/// For each function its source file, whatever else is asked for. Addresses are those in the file.
fn source_files(lines: bool, inlines: bool) -> Vec<(String, Option<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/source_files/largest.so");
    let subject = Subject::File { path, build_id: None };
    let addresses = functions().iter().map(|(address, ..)| address + 2).collect();
    let options = Options { lines, inlines, source_files: true, build_id_cache: None, ..Options::default() };
    let answers = resolve(&options, vec![AddressBatch::new(subject, addresses)]);
    let symbols = answers.iter().flat_map(|answer| &answer.symbols);
    symbols
        .map(|symbol| (symbol.name.shown().to_owned(), symbol.source_file.as_deref().map(str::to_owned)))
        .collect()
}

#[test]
fn the_file_is_where_the_function_is_written() {
    for (lines, inlines) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut found = source_files(lines, inlines);
        found.sort();
        let expected = functions().into_iter().map(|(_, name, file)| (name, Some(file)));
        let mut expected: Vec<_> = expected.collect();
        expected.sort();
        assert_eq!(found, expected, "lines {lines}, inlines {inlines}");
    }
}
