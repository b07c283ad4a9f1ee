//! Which fields a line can have, and which it has by kind of event.

use perffile::wire::attr::SampleType;
use perffile::wire::event_type::EventType;

/// A field of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
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
pub(super) const NAMES: &[(&str, Field)] = &[
    ("comm", Field::Comm),
    ("tid", Field::Tid),
    ("pid", Field::Pid),
    ("time", Field::Time),
    ("cpu", Field::Cpu),
    ("event", Field::Event),
    ("trace", Field::Trace),
    ("ip", Field::Ip),
    ("sym", Field::Symbol),
    ("symoff", Field::SymbolOffset),
    ("dso", Field::Dso),
    ("dsoff", Field::DsoOffset),
    ("addr", Field::Addr),
    ("srcline", Field::SourceLine),
    ("period", Field::Period),
    ("iregs", Field::RegsIntr),
    ("uregs", Field::RegsUser),
    ("brstack", Field::Branches),
    ("brstacksym", Field::BranchSymbols),
    ("brstackoff", Field::BranchOffsets),
    ("brstackinsn", Field::BranchCode),
    ("brstackinsnlen", Field::BranchCodeLengths),
    ("data_src", Field::DataSrc),
    ("weight", Field::Weight),
    ("bpf-output", Field::BpfOutput),
    ("phys_addr", Field::PhysAddr),
    ("misc", Field::Misc),
    ("data_page_size", Field::DataPageSize),
    ("code_page_size", Field::CodePageSize),
    ("ins_lat", Field::InstructionLatency),
    ("retire_lat", Field::RetireLatency),
    ("flags", Field::Flags),
    ("tod", Field::TimeOfDay),
    ("cgroup", Field::Cgroup),
    ("insn", Field::Instruction),
    ("insnlen", Field::InstructionLength),
    ("srccode", Field::SourceCode),
    ("machine_pid", Field::Decoded),
    ("vcpu", Field::Decoded),
    ("callindent", Field::Decoded),
    ("synth", Field::Decoded),
    ("ipc", Field::Decoded),
];

/// Fields that perf has, and why they are not here.
pub(super) const NOT_SHOWN: &[(&str, &str)] = &[(
    "metric",
    "a metric compares counts over a time, which one sample has not; readperf stat has those of a perf stat recording",
)];

/// A set of fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields(u64);

impl Fields {
    /// The set of these.
    pub const fn of(fields: &[Field]) -> Fields {
        let (mut set, mut rest) = (0, fields);
        while let [first, others @ ..] = rest {
            set |= 1 << *first as u8;
            rest = others;
        }
        Fields(set)
    }

    /// Whether a field is in it.
    #[inline]
    pub const fn has(self, field: Field) -> bool {
        self.0 >> field as u8 & 1 == 1
    }

    /// Whether none is in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Puts a field in or takes it out.
    pub fn set(&mut self, field: Field, present: bool) {
        let bit = 1 << field as u8;
        self.0 = if present { self.0 | bit } else { self.0 & !bit };
    }

    /// Those that are in both.
    pub fn and(self, other: Fields) -> Fields {
        Fields(self.0 & other.0)
    }

    /// Those that are in either.
    pub fn or(self, other: Fields) -> Fields {
        Fields(self.0 | other.0)
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
    pub(super) fn fields(self) -> Fields {
        use Field as F;
        const SAMPLE: Fields = Fields::of(&[
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
        const MEMORY: Fields = Fields::of(&[
            F::Addr,
            F::DataSrc,
            F::Weight,
            F::PhysAddr,
            F::DataPageSize,
            F::CodePageSize,
            F::InstructionLatency,
        ]);
        match self {
            Class::SOFTWARE => SAMPLE.or(Fields::of(&[F::BpfOutput])),
            Class::TRACEPOINT => Fields::of(&[F::Comm, F::Tid, F::Cpu, F::Time, F::Event, F::Trace]),
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
    pub(super) fn is_valid(self, field: Field) -> bool {
        match field {
            Field::Trace => self == Class::TRACEPOINT,
            Field::BpfOutput => matches!(self, Class::SOFTWARE | Class::OTHER),
            _ => true,
        }
    }
}

/// What a sample has to record for a field: any of these.
pub(super) fn recorded_by(field: Field) -> Option<SampleType> {
    use SampleType as T;
    Some(match field {
        Field::Tid | Field::Pid => T::TID,
        Field::Time => T::TIME,
        Field::Cpu => T::CPU,
        Field::Ip => T::IP,
        Field::Addr => T::ADDR,
        Field::DataSrc => T::DATA_SRC,
        Field::Weight => SampleType(T::WEIGHT.0 | T::WEIGHT_STRUCT.0),
        Field::InstructionLatency | Field::RetireLatency => T::WEIGHT_STRUCT,
        Field::RegsIntr => T::REGS_INTR,
        Field::RegsUser => T::REGS_USER,
        Field::PhysAddr => T::PHYS_ADDR,
        Field::DataPageSize => T::DATA_PAGE_SIZE,
        Field::CodePageSize => T::CODE_PAGE_SIZE,
        Field::Cgroup => T::CGROUP,
        _ => return None,
    })
}

/// Fields that an event must record to have them.
pub(super) const RECORDED: &[Field] = &[
    Field::Tid,
    Field::Pid,
    Field::Time,
    Field::Cpu,
    Field::Ip,
    Field::Addr,
    Field::DataSrc,
    Field::Weight,
    Field::InstructionLatency,
    Field::RetireLatency,
    Field::RegsIntr,
    Field::RegsUser,
    Field::PhysAddr,
    Field::DataPageSize,
    Field::CodePageSize,
    Field::Cgroup,
];

/// The name of a field.
pub(super) fn name(field: Field) -> &'static str {
    NAMES.iter().find(|(_, named)| *named == field).map_or("", |(name, _)| name)
}
