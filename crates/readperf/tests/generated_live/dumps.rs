//! What of a jitdump file is not used is said, and `check` does not call such a recording sound.

use crate::HEAP;
use crate::handmade::{Attr, CODE, PID, Pipe, Sample, sample_type};
use crate::oracle::{scratch, tool};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Processes have lower numbers, so no file of a real one is in the way.
const RUNTIME: u32 = PID + 4_200_000;

/// Numbers of the ELF specification.
const EM_NONE: u32 = 0;
const EM_X86_64: u32 = 62;
const EM_AARCH64: u32 = 183;

/// A dump with a piece of code and unwinding information of it, which says nothing. jitdump-specification.txt of the kernel.
fn dump(machine: u32) -> Vec<u8> {
    let mut bytes: Vec<u8> = [0x4a69_5444, 1, 40, machine, 0, RUNTIME, 0, 0, 0, 0]
        .iter()
        .flat_map(|word: &u32| word.to_le_bytes())
        .collect();
    let unwinding: Vec<u8> = [8_u64, 4, 8, 0].iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut code: Vec<u8> =
        [u64::from(RUNTIME), HEAP, HEAP, 0x40, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
    code.extend(b"burn\0");
    code.extend([0x90; 0x40]);
    for (kind, body) in [(4_u32, unwinding), (0, code)] {
        bytes.extend(kind.to_le_bytes());
        bytes.extend((body.len() as u32 + 16).to_le_bytes());
        bytes.extend(100_u64.to_le_bytes());
        bytes.extend(body);
    }
    bytes
}

/// A recording of x86-64 in which a process maps the dump and runs its code, with stacks or without.
fn recording(dir: &Path, stacks: bool) -> PathBuf {
    let bits = if stacks { sample_type::STACK_USER } else { 0 };
    let attr = Attr { sample_type: Attr::default().sample_type | bits, stack_user: 64, ..Attr::default() };
    let mut pipe = Pipe::new(&[attr]);
    // HEADER_ARCH.
    pipe.feature(6, &[&8_u32.to_le_bytes()[..], b"x86_64\0\0"].concat());
    pipe.comm(RUNTIME, RUNTIME, "runtime");
    pipe.map(RUNTIME, CODE, &format!("/tmp/jit-{RUNTIME}.dump"), None, 0);
    pipe.map(RUNTIME, HEAP, "//anon", None, 0);
    let ip = HEAP + 0x10;
    pipe.samples(5, &Sample { pid: RUNTIME, tid: RUNTIME, ip, chain: vec![ip], ..Sample::default() });
    let path = dir.join("perf.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    path
}

/// The finding of this kind, and whether the recording is called sound.
fn checked(dir: &Path, recording: &Path, kind: &str) -> (Option<Value>, bool) {
    let output =
        tool::command().args(["check", "--json", "--symbols"]).arg(dir).arg(recording).output().unwrap();
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = value["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["kind"] == kind).cloned();
    (finding, value["sound"].as_bool().unwrap())
}

#[test]
fn what_of_a_dump_is_not_used_is_no_sound_recording() {
    let scratch = scratch();
    let dir = scratch.path();
    let file = dir.join(format!("jit-{RUNTIME}.dump"));
    let told = |stacks: bool| {
        let recording = recording(dir, stacks);
        let (finding, sound) = checked(dir, &recording, "unused_dumps");
        assert_eq!(finding.is_some(), !sound, "{finding:?}");
        finding.map(|finding| finding["message"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    for machine in [EM_X86_64, EM_NONE] {
        std::fs::write(&file, dump(machine)).unwrap();
        assert_eq!((told(true), told(false)), (String::new(), String::new()), "{machine}");
    }
    std::fs::write(&file, dump(EM_AARCH64)).unwrap();
    let message = told(true);
    assert!(message.contains("for another machine (ELF machine 183)"), "{message}");
    assert_eq!(told(false), "", "its frames are not asked for");
    let mut cut = dump(EM_X86_64);
    cut.truncate(cut.len() - 8);
    std::fs::write(&file, &cut).unwrap();
    let message = told(false);
    assert!(message.contains("the file ends within a record"), "{message}");
    // A report says so, too.
    let report = tool::command().args(["report", "--symbols"]).arg(dir).arg(dir.join("perf.data")).output();
    let said = tool::stderr(&report.unwrap());
    assert!(said.contains(&format!("not all of /tmp/jit-{RUNTIME}.dump is used")), "{said}");
    assert!(said.contains("the file ends within a record"), "{said}");
}

#[test]
fn a_dump_that_is_not_here_is_worth_a_note() {
    let scratch = scratch();
    let (finding, sound) = checked(scratch.path(), &recording(scratch.path(), true), "no_dumps_here");
    let message = finding.unwrap()["message"].as_str().unwrap().to_owned();
    assert!(message.contains(&format!("no file at /tmp/jit-{RUNTIME}.dump")) && sound, "{message}");
}
