//! The instructions between branches: a line each, with a line of its own where another function begins.

use super::fields::ScriptField;
use super::{Known, NextLine, Script, places};
use crate::buffer::Append as _;
use crate::digits::decimal;
use crate::text::shown;
use perffile::wire::attr::SampleType;
use readperf_analysis::{CodeStep, Jump};
use readperf_profile::{AddressId, FunctionId};

impl Script {
    /// Whether the instructions between branches are shown; then [`Script::show_branch_code`] has to be called.
    pub fn shows_branch_code(&self) -> bool {
        let fields = &self.options.fields;
        fields.any(ScriptField::BranchCode) || fields.any(ScriptField::BranchCodeLengths)
    }

    /// Takes the steps to a sample. `known` is about their places.
    pub fn show_branch_code(
        &mut self,
        next: &mut NextLine<'_, '_, '_>,
        steps: &[CodeStep],
        known: &Known<'_>,
    ) {
        let recorded = next.sample.moment.sample.layout().shape().sample_type;
        if !recorded.has(SampleType::BRANCH_STACK) || next.sample.branches.is_empty() {
            return;
        }
        let mut writer = Writer {
            known,
            lengths: self.options.fields.any(ScriptField::BranchCodeLengths),
            source_lines: self.options.fields.any(ScriptField::SourceLine),
            full_path: self.options.full_source_path,
            out: vec![b'\n'],
            function: None,
            cycles: 0,
        };
        steps.iter().for_each(|step| writer.step(step));
        next.branch_code = Some(self.branch_code.len());
        self.branch_code.push(writer.out.into());
    }

    /// Lets go of the code of samples that have been written.
    pub fn forget_branch_code(&mut self) {
        self.branch_code.clear();
    }
}

struct Writer<'k> {
    known: &'k Known<'k>,
    lengths: bool,
    source_lines: bool,
    full_path: bool,
    out: Vec<u8>,
    /// The function that was told last.
    function: Option<FunctionId>,
    /// Cycles of all branches so far.
    cycles: u64,
}

impl Writer<'_> {
    fn step(&mut self, step: &CodeStep) {
        match step {
            CodeStep::Instruction { place, bytes, jump, named } => {
                if *named {
                    self.function(*place);
                }
                self.instruction(*place, bytes, *jump);
            }
            CodeStep::At(place) => self.function(*place),
            CodeStep::Mismatch => self.out.extend_from_slice(b"\tmismatch of LBR data and executable\n"),
            CodeStep::TooMany => self.out.extend_from_slice(b"\t... more code than is shown ...\n"),
            CodeStep::NotReached => self.out.extend_from_slice(b"\t... not reaching sample ...\n"),
        }
    }

    /// The function at a place, unless it was told last, and how far behind its start the place is.
    fn function(&mut self, place: AddressId) {
        let Known { addresses, names, .. } = self.known;
        let id = names.function_at(place);
        let function = id.and_then(|id| names.function(id));
        let (Some(name), Some(code)) = (function.and_then(|f| f.name()), addresses.get(place)) else {
            return;
        };
        if std::mem::replace(&mut self.function, id) == id {
            return;
        }
        self.out.push(b'\t');
        self.out.extend_from_slice(shown(name).as_bytes());
        let offset = function.map_or(0, |function| code.address.wrapping_sub(function.address));
        if offset > 0 {
            self.out.push(b'+');
            decimal(&mut self.out, offset, 0);
        }
        self.out.push(b':');
        let frame = names.frames_at(place).next();
        if let (true, Some((file, line))) =
            (self.source_lines, frame.and_then(|frame| Some((names.file(frame.file?)?, frame.line))))
        {
            self.out.push(b'\t');
            self.out.extend_from_slice(places::file_name(file, self.full_path).as_bytes());
            self.out.push(b':');
            decimal(&mut self.out, line.into(), 0);
        }
        self.out.push(b'\n');
    }

    fn instruction(&mut self, place: AddressId, bytes: &[u8], jump: Option<Jump>) {
        let out = &mut self.out;
        out.push(b'\t');
        let ip = self.known.addresses.get(place).map_or(0, |code| code.ip);
        out.extend_from_slice(format!("{ip:016x}\t").as_bytes());
        let before = out.len();
        out.extend_from_slice(if bytes.is_empty() { b"<bad>" } else { b"insn: " });
        bytes.iter().for_each(|byte| out.extend_from_slice(format!("{byte:02x} ").as_bytes()));
        if jump.is_some() {
            const WIDTH: usize = 30;
            let written = out.len() - before;
            out.pad(WIDTH.saturating_sub(written));
        }
        if self.lengths {
            out.extend_from_slice(b"\tilen: ");
            decimal(out, bytes.len() as u64, 0);
        }
        if let Some(jump) = jump {
            self.jump(jump);
        }
        self.out.push(b'\n');
    }

    fn jump(&mut self, Jump { flags, number }: Jump) {
        self.out.extend_from_slice(b"\t#");
        for (is_set, word) in [
            (flags.predicted(), " PRED"),
            (flags.mispredicted(), " MISPRED"),
            (flags.in_tx(), " INTX"),
            (flags.abort(), " ABORT"),
        ] {
            if is_set {
                self.out.extend_from_slice(word.as_bytes());
            }
        }
        let cycles = flags.cycles();
        if cycles == 0 {
            return;
        }
        self.cycles += cycles;
        let total = self.cycles;
        self.out.extend_from_slice(format!(" {cycles} cycles [{total}]").as_bytes());
        if number > 0 {
            // As perf rounds it: from a quotient in single precision.
            let per_cycle = number as f32 / cycles as f32;
            self.out.extend_from_slice(format!(" {per_cycle:.2} IPC").as_bytes());
        }
    }
}
