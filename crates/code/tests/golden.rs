//! Instructions against golden ones: assembled, and disassembled by objdump, outside of this crate (`golden/make.py`).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use readperf_code::{Content, Disassembler, Flow, Instruction, Machine, Syntax};

/// An instruction of a file: address, bytes, flow, text.
fn golden(text: &str) -> Vec<(u64, Vec<u8>, String, String)> {
    let line = |line: &str| {
        let parts: Vec<&str> = line.splitn(4, '|').collect();
        let digits = (0..parts[1].len() / 2).map(|at| &parts[1][2 * at..2 * at + 2]);
        let bytes = digits.map(|digits| u8::from_str_radix(digits, 16).unwrap()).collect();
        (u64::from_str_radix(parts[0], 16).unwrap(), bytes, parts[2].to_owned(), parts[3].to_owned())
    };
    text.lines().map(line).collect()
}

fn word(flow: Flow) -> &'static str {
    match flow {
        Flow::Next => "next",
        Flow::Jump { conditional: true, .. } => "branch",
        Flow::Jump { .. } => "jump",
        Flow::Call { .. } => "call",
        Flow::Return { conditional: true } => "return?",
        Flow::Return { .. } => "return",
        Flow::System => "system",
        Flow::Stop => "stop",
        Flow::Bad => "bad",
        Flow::Data => "data",
    }
}

/// `differs` are texts of objdump, and those here where they are others.
fn check(machine: Machine, content: Content, text: &str, differs: &[(&str, &str)]) {
    let golden = golden(text);
    let disassembler = Disassembler::new(machine, Syntax::Att);
    let bytes: Vec<u8> = golden.iter().flat_map(|(_, bytes, ..)| bytes.clone()).collect();
    let found: Vec<Instruction<'_>> = disassembler.instructions_of(content, golden[0].0, &bytes).collect();
    for (instruction, (address, bytes, flow, text)) in found.iter().zip(&golden) {
        assert_eq!((instruction.address, instruction.bytes), (*address, bytes.as_slice()), "{text}");
        assert_eq!(word(instruction.flow), flow, "{text}");
        let ours = disassembler.text(instruction, &mut |_, _| None);
        let ours = format!("{} {}", ours.mnemonic, ours.operands);
        let known = differs.iter().find(|(theirs, _)| theirs == text);
        assert_eq!(ours.trim_end(), known.map_or(text.as_str(), |(_, ours)| ours));
    }
    assert_eq!(found.len(), golden.len());
}

#[test]
fn x86() {
    check(Machine::X86_64, Content::Code, include_str!("golden/x86_64.txt"), &[]);
    check(Machine::X86, Content::Code, include_str!("golden/x86.txt"), &[]);
}

#[test]
fn arm() {
    check(Machine::Arm64, Content::Code, include_str!("golden/arm64.txt"), &[("udf #0", "udf #0x0")]);
    check(Machine::Arm, Content::Code, include_str!("golden/arm.txt"), &[("svc 0x00000000", "svc #0")]);
    check(Machine::Arm, Content::Thumb, include_str!("golden/thumb.txt"), &[("svc 0", "svc #0")]);
}

#[test]
fn riscv() {
    // binutils 2.40 leaves out the letter of ADDI and the like.
    let differs = [("add sp,sp,-32", "addi sp,sp,-32"), ("sll a4,a4,0x3", "slli a4,a4,0x3")];
    check(Machine::Riscv64, Content::Code, include_str!("golden/riscv64.txt"), &differs);
}

#[test]
fn ibm() {
    check(Machine::S390x, Content::Code, include_str!("golden/s390x.txt"), &[]);
    check(Machine::Ppc64 { big_endian: true }, Content::Code, include_str!("golden/ppc64.txt"), &[]);
    check(Machine::Ppc64 { big_endian: false }, Content::Code, include_str!("golden/ppc64le.txt"), &[]);
}
