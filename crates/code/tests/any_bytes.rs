//! Whatever the bytes are: the instructions are all of them, each has a text, and nothing panics.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use proptest::prelude::*;
use readperf_code::{Content, Disassembler, Flow, Machine, Syntax};

const MACHINES: [Machine; 10] = [
    Machine::X86,
    Machine::X86_64,
    Machine::Arm64,
    Machine::Arm,
    Machine::Riscv32,
    Machine::Riscv64,
    Machine::S390x,
    Machine::Ppc,
    Machine::Ppc64 { big_endian: true },
    Machine::Ppc64 { big_endian: false },
];

fn check(machine: Machine, syntax: Syntax, content: Content, address: u64, bytes: &[u8]) {
    let disassembler = Disassembler::new(machine, syntax);
    if content == Content::Code {
        let good =
            disassembler.instructions(address, bytes).take_while(|instruction| instruction.flow != Flow::Bad);
        let starts: Vec<u64> = good.map(|instruction| instruction.address.wrapping_sub(address)).collect();
        let found: Vec<u64> = disassembler.starts(bytes).into_iter().map(|start| start as u64).collect();
        assert_eq!(found, starts, "{machine:?}");
    }
    let mut at = 0_usize;
    for instruction in disassembler.instructions_of(content, address, bytes) {
        assert_eq!(instruction.address, address.wrapping_add(at as u64));
        assert!(!instruction.bytes.is_empty());
        assert_eq!(Some(instruction.bytes), bytes.get(at..at + instruction.bytes.len()));
        at += instruction.bytes.len();
        let text = disassembler.text(&instruction, &mut |address, _| Some(format!("<{address:x}>")));
        assert!(!text.mnemonic.is_empty(), "{machine:?} {:x?}", instruction.bytes);
        if let Some(target) = instruction.flow.target() {
            let shown = format!("<{target:x}>");
            assert!(text.to_string().contains(&shown), "{machine:?} {:x?} {text}", instruction.bytes);
        }
        if instruction.flow == Flow::Bad {
            assert_eq!(text.mnemonic, "(bad)");
        }
    }
    assert_eq!(at, bytes.len(), "{machine:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn lengths_add_up(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        address in any::<u64>(),
        machine in prop::sample::select(&MACHINES[..]),
        content in prop::sample::select(&[Content::Code, Content::Thumb, Content::Data][..]),
        intel in any::<bool>(),
    ) {
        let syntax = if intel { Syntax::Intel } else { Syntax::Att };
        let content = if machine == Machine::Arm || content == Content::Data { content } else { Content::Code };
        check(machine, syntax, content, address, &bytes);
    }
}

#[test]
fn at_the_ends_of_the_address_space() {
    for machine in MACHINES {
        for address in [0, 1, u64::MAX - 3, u64::MAX] {
            for byte in 0..=255 {
                check(machine, Syntax::Att, Content::Code, address, &[byte; 9]);
            }
        }
    }
}
