//! `readperf annotate` on a BPF program that runs: its code is in the recording, since perf puts it there.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod oracle;

use oracle::live::Perf;
use oracle::{scratch, skip, tool};
use serde_json::Value;
use std::process::Command;

/// Loads a program with a loop of 200 rounds and has the kernel run it two million times; then waits, so that perf can ask for its code.
/// The constants are those of `linux/bpf.h`.
const BURN: &str = r#"
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#define I(c, d, o, i) ((struct bpf_insn){.code = c, .dst_reg = d, .off = o, .imm = i})
int main(void) {
    struct bpf_insn code[] = {I(0xb7, 0, 0, 1), I(0xb7, 1, 0, 200), I(0x27, 0, 0, 31), I(0x07, 0, 0, 7),
                              I(0x07, 1, 0, -1), I(0x55, 1, -4, 0), I(0x95, 0, 0, 0)};
    union bpf_attr a;
    char data[64] = {0};
    memset(&a, 0, sizeof a);
    a.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    a.insns = (unsigned long)code;
    a.insn_cnt = sizeof code / sizeof *code;
    a.license = (unsigned long)"GPL";
    strcpy(a.prog_name, "burn");
    int program = syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof a);
    if (program < 0) return 1;
    for (int i = 0; i < 20; i++) {
        memset(&a, 0, sizeof a);
        a.test.prog_fd = program;
        a.test.data_in = (unsigned long)data;
        a.test.data_size_in = sizeof data;
        a.test.repeat = 100000;
        if (syscall(SYS_bpf, BPF_PROG_TEST_RUN, &a, sizeof a)) return 1;
    }
    sleep(1);
    return 0;
}
"#;

#[test]
#[ignore = "live: loads a BPF program and records it with perf, as root"]
fn the_code_of_a_bpf_program() {
    let test = "the_code_of_a_bpf_program";
    let Some(perf) = Perf::or_skip(test) else { return };
    let dir = scratch();
    std::fs::write(dir.path().join("burn.c"), BURN).unwrap();
    let mut cc = Command::new("cc");
    if !cc
        .args(["-o", "burn", "burn.c"])
        .current_dir(dir.path())
        .status()
        .is_ok_and(|status| status.success())
    {
        return skip(test, "no cc, or no linux/bpf.h");
    }
    let record = ["-F", "999", "-e", "cpu-clock", "--", "./burn"];
    let Some(data) = perf.record(test, dir.path(), &record) else { return };
    let path = data.to_str().unwrap();
    let report = ["report", "--json", "--no-children", "--sort", "symbol", path];
    let report: Value = serde_json::from_str(&tool::answer(&report)).unwrap();
    let rows = report["events"][0]["rows"].as_array().unwrap();
    let is_burn = |row: &&Value| {
        let symbol = row["symbol"].as_str().unwrap_or_default();
        symbol.starts_with("bpf_prog_") && symbol.ends_with("_burn")
    };
    let Some(row) = rows.iter().find(is_burn) else {
        return skip(test, "this user may load no BPF program");
    };
    let annotated = ["annotate", "--json", path, row["symbol"].as_str().unwrap()];
    let annotated: Value = serde_json::from_str(&tool::answer(&annotated)).unwrap();
    let part = &annotated["functions"][0]["parts"][0];
    assert_eq!((&part["no_code"], &part["elsewhere"]), (&Value::Null, &Value::Array(Vec::new())));
    let instructions = part["instructions"].as_array().unwrap();
    let samples = |row: &Value| row["events"][0]["self_samples"].as_u64().unwrap();
    assert_eq!(Some(instructions.iter().map(samples).sum()), row["samples"].as_u64());
    // The loop has nearly all of them.
    let jump = instructions.iter().position(|row| row["jumps"]["index"].is_u64()).expect("the loop");
    let start = usize::try_from(instructions[jump]["jumps"]["index"].as_u64().unwrap()).unwrap();
    let of_loop: u64 = instructions[start..=jump].iter().map(samples).sum();
    assert!(of_loop * 10 > row["samples"].as_u64().unwrap() * 8, "{part}");
}
