//! x86, by iced.

use std::cell::RefCell;

use iced_x86::{
    Code, Decoder, DecoderOptions, FlowControl, Formatter, FormatterOutput, FormatterTextKind, GasFormatter,
    IntelFormatter, MemorySizeOptions, Mnemonic, NumberKind, OpKind, PrefixKind, Register,
};

use crate::instruction::{Content, Flow, Instruction};
use crate::machine::Syntax;
use crate::text::{self, Names, Refers, Text};

/// Decodes x86 of one mode, and writes it in one syntax.
pub(crate) struct X86 {
    bits: u32,
    syntax: Syntax,
    formatter: RefCell<Box<dyn Formatter>>,
}

impl X86 {
    pub(crate) fn new(bits: u32, syntax: Syntax) -> X86 {
        X86 { bits, syntax, formatter: RefCell::new(formatter(syntax)) }
    }

    /// The first instruction; a single bad byte if there is none.
    pub(crate) fn first<'b>(&self, address: u64, bytes: &'b [u8]) -> Option<Instruction<'b>> {
        let decoded = self.decode(address, bytes);
        let length = if decoded.is_invalid() { 1 } else { decoded.len() };
        Some(Instruction {
            address,
            bytes: bytes.get(..length)?,
            flow: flow(&decoded),
            refers_to: refers_to(&decoded),
            content: Content::Code,
            condition: None,
        })
    }

    /// Where instructions begin, up to the first bytes that are none. With one decoder for all: to make one takes longer than to
    /// decode.
    pub(crate) fn starts(&self, bytes: &[u8]) -> Vec<usize> {
        let mut decoder = Decoder::with_ip(self.bits, bytes, 0, DecoderOptions::NONE);
        let mut decoded = iced_x86::Instruction::default();
        let mut starts = Vec::new();
        while decoder.can_decode() {
            let start = decoder.position();
            decoder.decode_out(&mut decoded);
            if decoded.is_invalid() {
                break;
            }
            starts.push(start);
        }
        starts
    }

    pub(crate) fn text(&self, instruction: &Instruction<'_>, names: &mut Names<'_>) -> Text {
        let decoded = self.decode(instruction.address, instruction.bytes);
        if decoded.is_invalid() {
            return text::bad();
        }
        let mut output = Output { text: Text::default(), names };
        let mut formatter = self.formatter.borrow_mut();
        formatter.options_mut().set_always_show_segment_register(decoded.is_string_instruction());
        formatter.format(&decoded, &mut output);
        let mut text = output.text;
        spell(&decoded, instruction.bytes, self.syntax, &mut text);
        if decoded.is_ip_rel_memory_operand() {
            text.comment = Some(text::spelled(names, decoded.ip_rel_memory_address(), Refers::Data));
        }
        text
    }

    fn decode(&self, address: u64, bytes: &[u8]) -> iced_x86::Instruction {
        let options = DecoderOptions::NONE;
        let mut decoder = Decoder::with_ip(self.bits, bytes, address, options);
        decoder.decode()
    }
}

fn formatter(syntax: Syntax) -> Box<dyn Formatter> {
    let mut formatter: Box<dyn Formatter> = match syntax {
        Syntax::Att => Box::new(GasFormatter::new()),
        Syntax::Intel => Box::new(IntelFormatter::new()),
    };
    let options = formatter.options_mut();
    options.set_uppercase_hex(false);
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_small_hex_numbers_in_decimal(false);
    options.set_leading_zeros(false);
    options.set_branch_leading_zeros(false);
    options.set_displacement_leading_zeros(false);
    options.set_rip_relative_addresses(true);
    options.set_show_useless_prefixes(true);
    options.set_signed_immediate_operands(false);
    options.set_signed_memory_displacements(true);
    options.set_show_zero_displacements(true);
    options.set_always_show_scale(true);
    options.set_space_after_operand_separator(false);
    options.set_memory_size_options(MemorySizeOptions::Always);
    options.set_uppercase_keywords(syntax == Syntax::Intel);
    options.set_show_branch_size(false);
    formatter
}

/// Makes the text that of `objdump` where no option of the formatter does.
fn spell(instruction: &iced_x86::Instruction, bytes: &[u8], syntax: Syntax, text: &mut Text) {
    text.operands.truncate(text.operands.trim_end().len());
    match text.mnemonic.rsplit(' ').next().unwrap_or_default() {
        // The size that these have anyway.
        "jmpq" | "callq" | "pushq" | "popq" | "jmpl" | "calll" | "pushl" | "popl" => {
            text.mnemonic.pop();
        }
        // An operand that is source and target.
        "imul" if instruction.op_count() == 3 && text.operands.matches(',').count() == 1 => {
            text.operands = match (syntax, text.operands.split_once(',')) {
                (Syntax::Att, Some((_, target))) => format!("{},{target}", text.operands),
                (_, Some((target, _))) => format!("{target},{}", text.operands),
                (_, None) => return,
            };
        }
        "nopw" | "nopl" | "nop" => spell_padding(bytes, text),
        // Sizes that are those of the mode.
        "lretl" | "iretl" | "lcalll" | "ljmpl" | "lcallq" | "ljmpq" => {
            text.mnemonic.pop();
        }
        "ret" | "retq" if text.mnemonic.starts_with("rep ") => text.mnemonic = "repz ret".to_owned(),
        // An operation of the two topmost registers has them, too.
        "fmulp" | "faddp" | "fsubp" | "fsubrp" | "fdivp" | "fdivrp" if text.operands.is_empty() => {
            text.operands = if syntax == Syntax::Intel { "st(1),st" } else { "%st,%st(1)" }.to_owned();
        }
        "fxch" | "fucom" | "fucomp" | "fcom" | "fcomp" if text.operands.is_empty() => {
            text.operands = if syntax == Syntax::Intel { "st(1)" } else { "%st(1)" }.to_owned();
        }
        // A port is written as an address.
        "in" | "out" | "insb" | "insw" | "insl" | "outsb" | "outsw" | "outsl" => {
            text.operands = text.operands.replace("%dx", "(%dx)");
        }
        _ => {}
    }
    if syntax == Syntax::Intel {
        spell_intel(instruction, text);
    }
    if is_by_one(instruction, bytes) {
        if let Some(rest) = text.operands.strip_prefix("$0x1,") {
            text.operands = rest.to_owned();
        } else if let Some(rest) = text.operands.strip_suffix(",0x1") {
            text.operands = format!("{rest},1");
        }
    }
}

/// Whether it shifts or rotates by one because its opcode (D0, D1) says so: then the number is not shown.
fn is_by_one(instruction: &iced_x86::Instruction, bytes: &[u8]) -> bool {
    use Mnemonic::{Rcl, Rcr, Rol, Ror, Sal, Sar, Shl, Shr};
    let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
    [Rcl, Rcr, Rol, Ror, Sal, Sar, Shl, Shr].contains(&instruction.mnemonic())
        && matches!(bytes.iter().find(|byte| !is_prefix(byte)), Some(0xd0 | 0xd1))
}

/// What no option of the formatter does in Intel's syntax.
fn spell_intel(instruction: &iced_x86::Instruction, text: &mut Text) {
    match instruction.code() {
        Code::Mov_r64_imm64 => text.mnemonic = text.mnemonic.replace("mov", "movabs"),
        // An address without registers has no brackets, but always a segment.
        // The size is that of the operands.
        _ if instruction.is_string_instruction() => {
            text.mnemonic.pop();
        }
        _ if is_absolute(instruction) => {
            let is_in_segment = text.operands.contains(":[");
            text.operands =
                text.operands.replace('[', if is_in_segment { "" } else { "ds:" }).replace(']', "");
        }
        _ => {}
    }
}

/// Prefixes without effect make an instruction longer.
fn spell_padding(bytes: &[u8], text: &mut Text) {
    let prefixes = || bytes.iter().take_while(|byte| matches!(byte, 0x66 | 0x2e));
    if text.operands.contains("cs:") {
        text.operands = text.operands.replace("%cs:", "").replace("cs:", "");
        text.mnemonic.insert_str(0, "cs ");
    }
    for _ in prefixes().filter(|byte| **byte == 0x66).skip(1) {
        text.mnemonic.insert_str(0, "data16 ");
    }
}

fn flow(instruction: &iced_x86::Instruction) -> Flow {
    match instruction.flow_control() {
        _ if instruction.is_invalid() => Flow::Bad,
        FlowControl::Next | FlowControl::XbeginXabortXend => stop_or_next(instruction.code()),
        FlowControl::UnconditionalBranch => Flow::Jump { target: target(instruction), conditional: false },
        FlowControl::ConditionalBranch => Flow::Jump { target: target(instruction), conditional: true },
        FlowControl::IndirectBranch => Flow::Jump { target: None, conditional: false },
        FlowControl::Return => Flow::Return { conditional: false },
        FlowControl::Call if instruction.code() == Code::Syscall || instruction.code() == Code::Sysenter => {
            Flow::System
        }
        // Those into a hypervisor.
        FlowControl::Call if instruction.op_count() == 0 => Flow::Next,
        FlowControl::Call => Flow::Call { target: target(instruction) },
        FlowControl::IndirectCall => Flow::Call { target: None },
        FlowControl::Interrupt => Flow::System,
        FlowControl::Exception => Flow::Stop,
    }
}

fn stop_or_next(code: Code) -> Flow {
    if code == Code::Hlt { Flow::Stop } else { Flow::Next }
}

/// The target of a jump or call within its segment.
fn target(instruction: &iced_x86::Instruction) -> Option<u64> {
    matches!(instruction.op0_kind(), OpKind::NearBranch16 | OpKind::NearBranch32 | OpKind::NearBranch64)
        .then(|| instruction.near_branch_target())
}

fn refers_to(instruction: &iced_x86::Instruction) -> Option<u64> {
    if instruction.is_invalid() {
        return None;
    }
    if instruction.is_ip_rel_memory_operand() {
        return Some(instruction.ip_rel_memory_address());
    }
    let is_of_thread = matches!(instruction.memory_segment(), Register::FS | Register::GS);
    (is_absolute(instruction) && !is_of_thread).then(|| instruction.memory_displacement64())
}

/// Whether an operand is in memory at an address that needs no register.
fn is_absolute(instruction: &iced_x86::Instruction) -> bool {
    (0..instruction.op_count()).any(|operand| instruction.op_kind(operand) == OpKind::Memory)
        && instruction.memory_base() == Register::None
        && instruction.memory_index() == Register::None
}

/// Takes the text of an instruction apart as the formatter writes it.
struct Output<'t, 'n> {
    text: Text,
    names: &'t mut Names<'n>,
}

impl FormatterOutput for Output<'_, '_> {
    fn write(&mut self, text: &str, kind: FormatterTextKind) {
        match kind {
            FormatterTextKind::Prefix | FormatterTextKind::Mnemonic => self.text.mnemonic.push_str(text),
            // What separates prefixes, the mnemonic and the operands.
            FormatterTextKind::Text if self.text.operands.is_empty() => {}
            // A scale is shown only where there is an index.
            FormatterTextKind::Punctuation if text == ")" => {
                let length = self.text.operands.trim_end_matches(',').len();
                self.text.operands.truncate(length);
                self.text.operands.push(')');
            }
            _ => self.text.operands.push_str(text),
        }
    }

    fn write_prefix(&mut self, _: &iced_x86::Instruction, text: &str, _: PrefixKind) {
        self.text.mnemonic.push_str(text);
        self.text.mnemonic.push(' ');
    }

    fn write_number(
        &mut self,
        _: &iced_x86::Instruction,
        _: u32,
        _: Option<u32>,
        text: &str,
        value: u64,
        _: NumberKind,
        kind: FormatterTextKind,
    ) {
        match kind {
            FormatterTextKind::LabelAddress | FormatterTextKind::FunctionAddress => {
                self.text.operands.push_str(&text::spelled(self.names, value, Refers::Code));
            }
            _ => self.text.operands.push_str(text),
        }
    }
}
