//! What `objdump -d` says of a file.

use std::path::Path;
use std::process::Command;

use readperf_code::{Content, Machine, Syntax};

/// An instruction as `objdump` has it.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) address: u64,
    /// In the order of memory.
    pub(crate) bytes: Vec<u8>,
    pub(crate) content: Content,
    /// Without names of addresses, with single spaces.
    pub(crate) text: String,
    /// Addresses that are named in the text: in operands, and in a comment.
    pub(crate) operand: Option<u64>,
    pub(crate) comment: Option<u64>,
}

/// The machine of an ELF file.
pub(crate) fn machine(path: &Path) -> Option<Machine> {
    let bytes = std::fs::read(path).ok()?;
    let head: [u8; 20] = *bytes.first_chunk()?;
    let big_endian = head[5] == 2;
    let machine = [head[18], head[19]];
    let machine = if big_endian { u16::from_be_bytes(machine) } else { u16::from_le_bytes(machine) };
    Machine::of_elf(machine, head[4] == 2, big_endian)
}

/// Runs `objdump`. `None` if there is none, or no file, or it does not know the machine.
pub(crate) fn of(path: &Path, syntax: Syntax) -> Option<Vec<Line>> {
    let machine = machine(path)?;
    let mut command = Command::new("objdump");
    command.args(["-d", "-w", "-z"]).arg(path);
    if syntax == Syntax::Intel {
        command.args(["-M", "intel"]);
    }
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<Line> = text.lines().filter_map(|line| read(line, machine)).collect();
    (!lines.is_empty()).then_some(lines)
}

fn read(line: &str, machine: Machine) -> Option<Line> {
    let mut parts = line.splitn(3, '\t');
    let address = parts.next()?.trim().strip_suffix(':')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let bytes_text = parts.next()?.trim();
    let text = parts.next().unwrap_or_default();
    // Machines with words print numbers, which are little-endian on these.
    let reversed = matches!(machine, Machine::Arm64 | Machine::Arm | Machine::Riscv32 | Machine::Riscv64);
    let mut bytes = Vec::new();
    for group in bytes_text.split(' ') {
        let digits: Vec<u8> = (0..group.len() / 2)
            .map(|at| u8::from_str_radix(&group[2 * at..2 * at + 2], 16))
            .collect::<Result<_, _>>()
            .ok()?;
        if reversed { bytes.extend(digits.iter().rev()) } else { bytes.extend(&digits) }
    }
    let is_data = [".word", ".short", ".byte"].iter().any(|name| text.starts_with(name));
    let content = match (machine, bytes_text.split(' ').next()?.len()) {
        (Machine::Arm | Machine::Arm64, _) if is_data => Content::Data,
        (Machine::Arm, 4) => Content::Thumb,
        _ => Content::Code,
    };
    let (code, comment) = without_comment(text, machine);
    let operand = named(code);
    let comment = comment.and_then(named);
    Some(Line { address, bytes, content, text: plain(code), operand, comment })
}

fn without_comment(text: &str, machine: Machine) -> (&str, Option<&str>) {
    let marks: &[&str] = match machine {
        Machine::Arm64 => &["  // ", "\t// "],
        Machine::Arm => &["\t@ ", "  @ ", " @ "],
        _ => &["  # ", " # ", "\t# "],
    };
    let found = marks.iter().find_map(|mark| text.split_once(mark));
    found.map_or((text, None), |(code, comment)| (code, Some(comment)))
}

/// The address that has a name: `1040 <puts@plt>`.
fn named(text: &str) -> Option<u64> {
    let (before, _) = text.split_once(" <")?;
    let number = before.rsplit([' ', ',', '\t']).next()?;
    u64::from_str_radix(number.trim_start_matches("0x"), 16).ok()
}

/// Single spaces, and no names.
fn plain(text: &str) -> String {
    let text = text.split(" <").next().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
