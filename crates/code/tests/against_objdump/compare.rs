//! Counts what differs.

use std::collections::BTreeMap;
use std::fmt;

use readperf_code::{Content, Disassembler, Flow, Instruction, Machine, Syntax};

use crate::listing::Line;

/// What differs between a listing and what is decoded here.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    pub(crate) instructions: u64,
    /// Begin elsewhere.
    pub(crate) boundaries: u64,
    /// Lead elsewhere.
    pub(crate) targets: u64,
    pub(crate) mnemonics: u64,
    pub(crate) texts: u64,
    /// Where what objdump has as no instruction ends.
    bad_until: u64,
    /// By what differs: how often, and the first one.
    examples: BTreeMap<String, (u64, String)>,
}

impl Comparison {
    pub(crate) fn of(lines: &[Line], machine: Machine, syntax: Syntax) -> Comparison {
        let disassembler = Disassembler::new(machine, syntax);
        let mut comparison = Comparison::default();
        let follows = |left: &Line, right: &Line| {
            left.content == right.content && left.address + left.bytes.len() as u64 == right.address
        };
        for run in lines.chunk_by(follows).filter(|run| run[0].content != Content::Data) {
            let bytes: Vec<u8> = run.iter().flat_map(|line| line.bytes.clone()).collect();
            let by_address: BTreeMap<u64, &Line> = run.iter().map(|line| (line.address, line)).collect();
            let all = disassembler.instructions_of(run[0].content, run[0].address, &bytes);
            for instruction in all {
                comparison.add(&disassembler, &instruction, by_address.get(&instruction.address).copied());
            }
        }
        comparison
    }

    fn add(&mut self, disassembler: &Disassembler, instruction: &Instruction<'_>, line: Option<&Line>) {
        self.instructions += 1;
        let ours = disassembler.text(instruction, &mut |_, _| None);
        let ours_whole = match ours.operands.is_empty() {
            true => ours.mnemonic.clone(),
            false => format!("{} {}", ours.mnemonic, ours.operands),
        };
        let bytes = hex(instruction.bytes);
        let Some(line) = line else {
            // objdump takes four bytes at once that are no instruction, here it is two.
            if instruction.flow == Flow::Bad && self.bad_until > instruction.address {
                return;
            }
            self.boundaries += 1;
            self.note("boundary", format!("{:x} {bytes} {ours_whole}", instruction.address));
            return;
        };
        let both = format!("{:x} {bytes} {} || {ours_whole}", line.address, line.text);
        let theirs = line.text.split(' ').next().unwrap_or_default();
        if instruction.flow == Flow::Bad && is_bad(&line.text) {
            self.bad_until = line.address + line.bytes.len() as u64;
            return;
        }
        if line.bytes.len() != instruction.bytes.len() {
            self.boundaries += 1;
            self.note("length", both);
            return;
        }
        let told = [line.operand, line.comment];
        let target = instruction.flow.target();
        let is_told = |address: u64| told.contains(&Some(address));
        if target.is_some_and(|target| !is_told(target) && line.operand.is_some())
            || target.is_none() && line.operand.is_some_and(|operand| instruction.refers_to != Some(operand))
        {
            self.targets += 1;
            self.note(&format!("target {theirs}"), format!("{both} {:?}", instruction.flow));
        }
        // binutils 2.39 and 2.40 drop the letter that says that an operand is a number.
        let is_riscv = matches!(disassembler.machine(), Machine::Riscv32 | Machine::Riscv64);
        let shortened = |name: &str| match name {
            "sltiu" => "sltu".to_owned(),
            "addiw" | "slliw" | "srliw" | "sraiw" => name.replace("iw", "w"),
            "addi" | "andi" | "ori" | "xori" | "slli" | "srli" | "srai" | "slti" => {
                name.trim_end_matches('i').to_owned()
            }
            _ => name.to_owned(),
        };
        let mut mnemonic_ours = ours.mnemonic.split(' ').next().unwrap_or_default().to_owned();
        let mut ours_whole = ours_whole;
        if is_riscv && mnemonic_ours != theirs && shortened(&mnemonic_ours) == theirs {
            ours_whole = ours_whole.replacen(&mnemonic_ours, theirs, 1);
            mnemonic_ours = theirs.to_owned();
        }
        if mnemonic_ours != theirs {
            self.mnemonics += 1;
            self.note(&format!("mnemonic {theirs} | {mnemonic_ours}"), both);
        } else if ours_whole != line.text {
            self.texts += 1;
            self.note(&format!("text {theirs}"), both);
        }
    }

    fn note(&mut self, kind: &str, example: String) {
        self.examples.entry(kind.to_owned()).or_insert((0, example)).0 += 1;
    }

    /// Prints what differs most often.
    pub(crate) fn show(&self, most: usize) {
        let mut all: Vec<_> = self.examples.iter().collect();
        all.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        for (kind, (count, example)) in all.into_iter().take(most) {
            println!("{count:>7} {kind}: {example}");
        }
    }
}

fn is_bad(text: &str) -> bool {
    ["(bad)", ".inst", ".long", ".short", ".byte", ".2byte", ".4byte", ".word", "<UNDEFINED>", ".insn"]
        .iter()
        .any(|bad| text.contains(bad))
        || text.is_empty()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} instructions; {} begin elsewhere, {} lead elsewhere, {} have another mnemonic, {} other operands",
            self.instructions, self.boundaries, self.targets, self.mnemonics, self.texts
        )
    }
}
