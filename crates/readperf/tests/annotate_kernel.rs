//! `readperf annotate` on code of the kernel: an image that is moved, a module that the kernel links itself, a BPF program whose code
//! the recording has; and what is said where only names are known.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_possible_truncation
)]

mod handmade;
mod oracle;

use handmade::elf::Elf;
use handmade::{Attr, HEADER_FEATURE, KERNEL, KERNEL_CODE, KSYMBOL, MMAP2, Pipe, Sample, padded};
use oracle::{scratch, tool};
use serde_json::Value;
use std::path::Path;

/// nop; call beta; ret; and beta: load at an address from itself on, ret.
const CODE: [u8; 15] = [0x90, 0xe8, 1, 0, 0, 0, 0xc3, 0x48, 0x8b, 0x05, 0xf2, 0xff, 0xff, 0xff, 0xc3];
const FUNCTIONS: [(&str, u64, u64); 3] = [("_text", 0, 0), ("alpha", 0, 7), ("beta", 7, 8)];
/// How far the kernel was moved when it started.
const MOVED: u64 = 0x1a00_0000;
/// Where a module is loaded.
const MODULE: u64 = 0xffff_ffff_c0a3_f000;

fn recording() -> Pipe {
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.kernel_map(KERNEL_CODE + MOVED);
    pipe.comm(10, 10, "work");
    pipe
}

/// So many samples in the kernel.
fn samples(pipe: &mut Pipe, count: u64, ip: u64) {
    let chain = vec![-128i64 as u64, ip];
    pipe.samples(count, &Sample { mode: KERNEL, ip, chain, ..Sample::default() });
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The only part of the listing of a function.
fn part(arguments: &[&str]) -> Value {
    let annotated = [&["annotate", "--json", "--no-cache"], arguments].concat();
    let annotated: Value = serde_json::from_str(&tool::answer(&annotated)).unwrap();
    let functions = annotated["functions"].as_array().unwrap();
    assert_eq!(functions.len(), 1, "{functions:?}");
    let parts = functions[0]["parts"].as_array().unwrap();
    assert_eq!(parts.len(), 1, "{parts:?}");
    parts[0].clone()
}

/// Address, text and samples of the instructions of a part.
fn rows(part: &Value) -> Vec<(u64, String, u64)> {
    let rows = part["instructions"].as_array().unwrap().iter().map(|row| {
        let address = row["address"].as_str().unwrap().strip_prefix("0x").unwrap();
        let text = row["text"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        (u64::from_str_radix(address, 16).unwrap(), text, row["events"][0]["self_samples"].as_u64().unwrap())
    });
    rows.collect()
}

fn row(address: u64, text: &str, samples: u64) -> (u64, String, u64) {
    (address, text.to_owned(), samples)
}

#[test]
fn an_image_that_was_moved() {
    let dir = scratch();
    let (image, data) = (dir.path().join("vmlinux"), dir.path().join("perf.data"));
    let elf = Elf { address: KERNEL_CODE, code: &CODE, functions: &FUNCTIONS, ..Elf::default() };
    std::fs::write(&image, elf.bytes()).unwrap();
    let mut pipe = recording();
    samples(&mut pipe, 3, KERNEL_CODE + MOVED + 1);
    samples(&mut pipe, 2, KERNEL_CODE + MOVED + 6);
    samples(&mut pipe, 4, KERNEL_CODE + MOVED + 7);
    std::fs::write(&data, &pipe.bytes).unwrap();
    let alpha = part(&["--vmlinux", text(&image), text(&data), "alpha"]);
    let at = KERNEL_CODE;
    assert_eq!(rows(&alpha), [row(at, "nop", 0), row(at + 1, "call beta", 3), row(at + 6, "ret", 2)]);
    assert_eq!(alpha["dso"], "[kernel.kallsyms]");
    let calls = &alpha["instructions"][1]["calls"];
    assert_eq!(calls["address"], format!("{:#x}", at + 7));
    assert_eq!(calls["name"], "beta");
    // The address as the linker gave it, and as it was when the kernel ran.
    for address in [at + 7, at + 7 + MOVED] {
        let beta = part(&["--vmlinux", text(&image), text(&data), &format!("{address:#x}")]);
        assert_eq!(beta["symbol"], "beta");
        assert_eq!(rows(&beta).iter().map(|row| row.2).collect::<Vec<_>>(), [4, 0]);
        let data = &beta["instructions"][0]["data"];
        assert_eq!((&data["address"], &data["offset"]), (&format!("{at:#x}").into(), &0.into()));
        assert_eq!(data["name"], "alpha");
    }
    // Only a list of names: samples are shown by address, and why there is no code.
    let list = dir.path().join("kallsyms");
    let line = |name: &str, at: u64| format!("{:x} T {name}\n", KERNEL_CODE + MOVED + at);
    std::fs::write(&list, FUNCTIONS.iter().map(|(name, at, _)| line(name, *at)).collect::<String>()).unwrap();
    let output = tool::run(&["annotate", "--kallsyms", text(&list), text(&data), "alpha"]);
    let stderr = tool::stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("give --vmlinux of the recorded kernel") && !stderr.contains("root"), "{stderr}");
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(
        shown.contains("no instructions: ") && shown.contains(&format!("{:x}", at + MOVED + 1)),
        "{shown}"
    );
}

#[test]
fn a_module_that_the_kernel_links() {
    let dir = scratch();
    let (modules, data) = (dir.path().join("modules"), dir.path().join("perf.data"));
    std::fs::create_dir(&modules).unwrap();
    let build_id = Some([9; 20]);
    let elf = Elf { is_module: true, code: &CODE, functions: &FUNCTIONS[1..], build_id, ..Elf::default() };
    std::fs::write(modules.join("some_mod.ko"), elf.bytes()).unwrap();
    let mut pipe = recording();
    let mut body = [u32::MAX.to_le_bytes(), 0u32.to_le_bytes()].concat();
    [MODULE, 0x4000, 0].iter().for_each(|word: &u64| body.extend(word.to_le_bytes()));
    body.extend([20, 0, 0, 0]);
    body.extend([9; 20]);
    body.extend([5u32.to_le_bytes(), 2u32.to_le_bytes()].concat());
    body.extend(padded("[some_mod]"));
    pipe.kernel(MMAP2, KERNEL | 1 << 14, &body, 0);
    samples(&mut pipe, 5, MODULE + 1);
    samples(&mut pipe, 1, MODULE + 7);
    std::fs::write(&data, &pipe.bytes).unwrap();
    let alpha = part(&["--symbols", text(&modules), text(&data), "alpha"]);
    assert_eq!(rows(&alpha).iter().map(|row| row.2).collect::<Vec<_>>(), [0, 5, 0]);
    // What it calls is not known before it is linked.
    assert!(alpha["instructions"][1]["calls"].is_null(), "{alpha}");
    assert_eq!(rows(&alpha)[1].1, "call (not linked)");
    let beta = part(&["--symbols", text(&modules), text(&data), "beta"]);
    assert!(beta["instructions"][0]["data"].is_null(), "{beta}");
    let output = tool::run(&["annotate", text(&data)]);
    let shown = String::from_utf8(output.stdout).unwrap();
    assert!(shown.contains("no instructions: no file of module some_mod was found"), "{shown}");
}

#[test]
fn a_bpf_program_that_the_recording_has() {
    let dir = scratch();
    let data = dir.path().join("perf.data");
    let (name, start) = ("bpf_prog_6deef7357e7b4530_count", MODULE + 0x10_0000);
    let mut pipe = recording();
    let mut body = start.to_le_bytes().to_vec();
    // Length; kind 1 is BPF; flags.
    body.extend([&(CODE.len() as u32).to_le_bytes()[..], &1u16.to_le_bytes(), &[0; 2]].concat());
    body.extend(padded(name));
    pipe.kernel(KSYMBOL, 0, &body, 0);
    samples(&mut pipe, 4, start + 1);
    samples(&mut pipe, 1, start + 14);
    // After the samples, as perf does it: the machine, and the program.
    let mut machine = 8u32.to_le_bytes().to_vec();
    machine.extend(b"x86_64\0\0");
    pipe.feature(6, &machine);
    pipe.feature(25, &bpf_program(start, &CODE));
    assert!(pipe.bytes.windows(4).any(|word| word == HEADER_FEATURE.to_le_bytes()));
    std::fs::write(&data, &pipe.bytes).unwrap();
    let program = part(&[text(&data), name]);
    let texts: Vec<(u64, u64)> = rows(&program).iter().map(|row| (row.0 - start, row.2)).collect();
    assert_eq!(texts, [(0, 0), (1, 4), (6, 0), (7, 0), (14, 1)]);
    assert_eq!(program["symbol"], name);
}

/// A program with one function, as `struct bpf_prog_info` tells it: which arrays are there (code, addresses, lengths), and where in
/// what follows they are.
fn bpf_program(start: u64, code: &[u8]) -> Vec<u8> {
    let mut arrays = code.to_vec();
    arrays.resize(code.len().next_multiple_of(8), 0);
    let addresses = arrays.len() as u64;
    arrays.extend(start.to_le_bytes());
    let lengths = arrays.len() as u64;
    arrays.extend([(code.len() as u32).to_le_bytes(), [0; 4]].concat());
    let mut info = vec![0; 128];
    info[16..20].copy_from_slice(&(code.len() as u32).to_le_bytes());
    info[104..108].copy_from_slice(&1u32.to_le_bytes());
    info[112..120].copy_from_slice(&addresses.to_le_bytes());
    info[120..128].copy_from_slice(&lengths.to_le_bytes());
    let mut payload = 1u32.to_le_bytes().to_vec();
    payload.extend([(info.len() as u32).to_le_bytes(), (arrays.len() as u32).to_le_bytes()].concat());
    payload.extend(0x19u64.to_le_bytes());
    [payload, info, arrays].concat()
}
