//! Which fields a line can have, and which it has by kind of event.

use perffile::wire::attr::SampleType;
use perffile::wire::event_type::EventType;

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ScriptField {
    /// Name of the thread.
    Comm,
    /// Thread id.
    Tid,
    /// Process id.
    Pid,
    /// Time.
    Time,
    /// CPU.
    Cpu,
    /// Name of the event.
    Event,
    /// Text of a tracepoint.
    Trace,
    /// Address, or call chain.
    Ip,
    /// Function.
    Symbol,
    /// Offset in the function.
    SymbolOffset,
    /// Binary.
    Dso,
    /// Offset in the binary.
    DsoOffset,
    /// Data address.
    Addr,
    /// Source file and line.
    SourceLine,
    /// Period.
    Period,
    /// Registers at the interrupt.
    RegsIntr,
    /// User registers.
    RegsUser,
    /// Branch stack, as addresses.
    Branches,
    /// Branch stack, as functions.
    BranchSymbols,
    /// Branch stack, as offsets in binaries.
    BranchOffsets,
    /// The instructions between branches.
    BranchCode,
    /// The instructions between branches, with the length of each in bytes.
    BranchCodeLengths,
    /// Where the data came from.
    DataSrc,
    /// Weight.
    Weight,
    /// Output of a BPF program.
    BpfOutput,
    /// Physical data address.
    PhysAddr,
    /// What `misc` says.
    Misc,
    /// Page size of the data address.
    DataPageSize,
    /// Page size of the instruction pointer.
    CodePageSize,
    /// Instruction latency.
    InstructionLatency,
    /// Retire latency.
    RetireLatency,
    /// Flags of a decoded instruction.
    Flags,
    /// Wall-clock time.
    TimeOfDay,
    /// Cgroup.
    Cgroup,
    /// Bytes of the instruction.
    Instruction,
    /// How many bytes the instruction has.
    InstructionLength,
    /// The line of source text.
    SourceCode,
    /// Fields of which only decoded instruction traces know something.
    Decoded,
}

/// Names of fields as perf has them.
pub(super) const NAMES: &[(&str, ScriptField)] = &[
    ("comm", ScriptField::Comm),
    ("tid", ScriptField::Tid),
    ("pid", ScriptField::Pid),
    ("time", ScriptField::Time),
    ("cpu", ScriptField::Cpu),
    ("event", ScriptField::Event),
    ("trace", ScriptField::Trace),
    ("ip", ScriptField::Ip),
    ("sym", ScriptField::Symbol),
    ("symoff", ScriptField::SymbolOffset),
    ("dso", ScriptField::Dso),
    ("dsoff", ScriptField::DsoOffset),
    ("addr", ScriptField::Addr),
    ("srcline", ScriptField::SourceLine),
    ("period", ScriptField::Period),
    ("iregs", ScriptField::RegsIntr),
    ("uregs", ScriptField::RegsUser),
    ("brstack", ScriptField::Branches),
    ("brstacksym", ScriptField::BranchSymbols),
    ("brstackoff", ScriptField::BranchOffsets),
    ("brstackinsn", ScriptField::BranchCode),
    ("brstackinsnlen", ScriptField::BranchCodeLengths),
    ("data_src", ScriptField::DataSrc),
    ("weight", ScriptField::Weight),
    ("bpf-output", ScriptField::BpfOutput),
    ("phys_addr", ScriptField::PhysAddr),
    ("misc", ScriptField::Misc),
    ("data_page_size", ScriptField::DataPageSize),
    ("code_page_size", ScriptField::CodePageSize),
    ("ins_lat", ScriptField::InstructionLatency),
    ("retire_lat", ScriptField::RetireLatency),
    ("flags", ScriptField::Flags),
    ("tod", ScriptField::TimeOfDay),
    ("cgroup", ScriptField::Cgroup),
    ("insn", ScriptField::Instruction),
    ("insnlen", ScriptField::InstructionLength),
    ("srccode", ScriptField::SourceCode),
    ("machine_pid", ScriptField::Decoded),
    ("vcpu", ScriptField::Decoded),
    ("callindent", ScriptField::Decoded),
    ("synth", ScriptField::Decoded),
    ("ipc", ScriptField::Decoded),
];

/// Fields that perf has, and why they are not here.
pub(super) const NOT_SHOWN: &[(&str, &str)] = &[(
    "metric",
    "a metric compares counts over a time, which one sample has not; readperf stat has those of a perf stat recording",
)];

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptFields(u64);

impl ScriptFields {
    /// The set of these.
    pub const fn of(fields: &[ScriptField]) -> ScriptFields {
        let (mut set, mut rest) = (0, fields);
        while let [first, others @ ..] = rest {
            set |= 1 << *first as u8;
            rest = others;
        }
        ScriptFields(set)
    }

    /// Whether a field is in it.
    #[inline]
    pub const fn has(self, field: ScriptField) -> bool {
        self.0 >> field as u8 & 1 == 1
    }

    /// Whether none is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Puts a field in or takes it out.
    pub fn set(&mut self, field: ScriptField, present: bool) {
        let bit = 1 << field as u8;
        self.0 = if present { self.0 | bit } else { self.0 & !bit };
    }

    /// Those that are in both.
    pub fn and(self, other: ScriptFields) -> ScriptFields {
        ScriptFields(self.0 & other.0)
    }

    /// Those that are in either.
    pub const fn or(self, other: ScriptFields) -> ScriptFields {
        ScriptFields(self.0 | other.0)
    }
}

/// What fields are chosen by: the kind of an event. Its numbers are those of `enum perf_type_id`, and two that perf adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Class(usize);

impl Class {
    pub(super) const COUNT: usize = 8;
    pub(super) const HARDWARE: Class = Class(EventType::HARDWARE.0 as usize);
    pub(super) const SOFTWARE: Class = Class(EventType::SOFTWARE.0 as usize);
    pub(super) const TRACEPOINT: Class = Class(EventType::TRACEPOINT.0 as usize);
    pub(super) const RAW: Class = Class(EventType::RAW.0 as usize);
    pub(super) const SYNTHETIC: Class = Class(6);
    const OTHER: Class = Class(7);

    /// ABI: types from 6 on are numbers of PMUs; perf counts events that it makes up itself from `INT_MAX` on.
    pub(super) fn of(kind: EventType) -> Class {
        match kind.0 {
            number @ 0..=5 => Class(number as usize),
            0x8000_0000 => Class::SYNTHETIC,
            _ => Class::OTHER,
        }
    }

    pub(super) fn index(self) -> usize {
        self.0
    }

    /// The kind with this number, below [`Class::COUNT`].
    pub(super) fn numbered(number: usize) -> Class {
        Class(number)
    }

    /// The fields that its lines have if nobody says anything.
    pub(super) fn fields(self) -> ScriptFields {
        use ScriptField as F;
        const SAMPLE: ScriptFields = ScriptFields::of(&[
            F::Comm,
            F::Tid,
            F::Cpu,
            F::Time,
            F::Event,
            F::Ip,
            F::Symbol,
            F::SymbolOffset,
            F::Dso,
            F::Period,
        ]);
        const MEMORY: ScriptFields = ScriptFields::of(&[
            F::Addr,
            F::DataSrc,
            F::Weight,
            F::PhysAddr,
            F::DataPageSize,
            F::CodePageSize,
            F::InstructionLatency,
        ]);
        match self {
            Class::SOFTWARE => SAMPLE.or(ScriptFields::of(&[F::BpfOutput])),
            Class::TRACEPOINT => ScriptFields::of(&[F::Comm, F::Tid, F::Cpu, F::Time, F::Event, F::Trace]),
            Class::RAW => SAMPLE.or(MEMORY),
            Class::SYNTHETIC => {
                let mut fields = SAMPLE;
                fields.set(F::Period, false);
                fields
            }
            _ => SAMPLE,
        }
    }

    /// Whether its samples can have a field.
    pub(super) fn is_valid(self, field: ScriptField) -> bool {
        match field {
            ScriptField::Trace => self == Class::TRACEPOINT,
            ScriptField::BpfOutput => matches!(self, Class::SOFTWARE | Class::OTHER),
            _ => true,
        }
    }
}

/// What a sample has to record for a field: any of these.
pub(super) fn recorded_by(field: ScriptField) -> Option<SampleType> {
    use SampleType as T;
    Some(match field {
        ScriptField::Tid | ScriptField::Pid => T::TID,
        ScriptField::Time => T::TIME,
        ScriptField::Cpu => T::CPU,
        ScriptField::Ip => T::IP,
        ScriptField::Addr => T::ADDR,
        ScriptField::DataSrc => T::DATA_SRC,
        ScriptField::Weight => SampleType(T::WEIGHT.0 | T::WEIGHT_STRUCT.0),
        ScriptField::InstructionLatency | ScriptField::RetireLatency => T::WEIGHT_STRUCT,
        ScriptField::RegsIntr => T::REGS_INTR,
        ScriptField::RegsUser => T::REGS_USER,
        ScriptField::PhysAddr => T::PHYS_ADDR,
        ScriptField::DataPageSize => T::DATA_PAGE_SIZE,
        ScriptField::CodePageSize => T::CODE_PAGE_SIZE,
        ScriptField::Cgroup => T::CGROUP,
        _ => return None,
    })
}

/// Fields that an event must record to have them.
pub(super) const RECORDED: &[ScriptField] = &[
    ScriptField::Tid,
    ScriptField::Pid,
    ScriptField::Time,
    ScriptField::Cpu,
    ScriptField::Ip,
    ScriptField::Addr,
    ScriptField::DataSrc,
    ScriptField::Weight,
    ScriptField::InstructionLatency,
    ScriptField::RetireLatency,
    ScriptField::RegsIntr,
    ScriptField::RegsUser,
    ScriptField::PhysAddr,
    ScriptField::DataPageSize,
    ScriptField::CodePageSize,
    ScriptField::Cgroup,
];

/// The name of a field.
pub(super) fn name(field: ScriptField) -> &'static str {
    NAMES.iter().find(|(_, named)| *named == field).map_or("", |(name, _)| name)
}
