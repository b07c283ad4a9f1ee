//! `readperf annotate` on code without names.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;
mod oracle;

use handmade::elf::{CODE_AT, Elf};
use handmade::{Attr, CODE, Pipe, Sample};
use oracle::{scratch, tool};
use serde_json::Value;

/// Two functions: nop, nop, ret; and four nops and ret.
const TEXT: [u8; 8] = [0x90, 0x90, 0xc3, 0x90, 0x90, 0x90, 0x90, 0xc3];
/// Where the linker put them.
const ADDRESS: u64 = 0x40_1000;

/// The functions that are listed: address of the first instruction, how many there are, and samples; the hottest first.
fn listed(eh_frame: &[u8]) -> Vec<(String, usize, u64)> {
    let dir = scratch();
    let data = dir.path().join("perf.data");
    let elf = Elf { address: ADDRESS, code: &TEXT, build_id: Some([7; 20]), eh_frame, ..Elf::default() };
    std::fs::write(dir.path().join("work"), elf.bytes()).unwrap();
    let mut pipe = Pipe::sound(&[Attr::default()]);
    for (count, at) in [(3, 1), (2, 2), (4, 3), (2, 6)] {
        let ip = CODE + CODE_AT + at;
        pipe.samples(count, &Sample { ip, chain: vec![-512i64 as u64, ip], ..Sample::default() });
    }
    std::fs::write(&data, &pipe.bytes).unwrap();
    let paths = [dir.path(), &data].map(|path| path.to_str().unwrap().to_owned());
    let text = tool::answer(&["annotate", "--json", "--no-cache", "--symbols", &paths[0], &paths[1]]);
    let annotated: Value = serde_json::from_str(&text).unwrap();
    let functions = annotated["functions"].as_array().unwrap().iter().map(|function| {
        let part = &function["parts"][0];
        assert!(
            part["no_code"].is_null() && function["symbol"].as_str().unwrap().starts_with("0x"),
            "{function}"
        );
        let rows = part["instructions"].as_array().unwrap();
        let first = rows[0]["address"].as_str().unwrap().to_owned();
        (first, rows.len(), function["events"][0]["self_samples"].as_u64().unwrap())
    });
    functions.collect()
}

#[test]
fn the_unwinding_table_says_which_addresses_are_one_function() {
    let both = listed(&Elf::unwinding_table(&TEXT, &[0..3, 3..8]));
    assert_eq!(both, [("0x401003".to_owned(), 5, 6), ("0x401000".to_owned(), 3, 5)]);
    // Without it, each address is one of its own: code from there on, up to the end of the section.
    let alone: Vec<u64> = listed(&[]).iter().map(|(.., samples)| *samples).collect();
    assert_eq!(alone, [4, 3, 2, 2]);
}
