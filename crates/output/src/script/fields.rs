//! Which fields a line has, by kind of event, and how users ask for them.

use perffile::wire::attr::SampleType;

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
    /// Fields of which only decoded instruction traces know something.
    Decoded,
}

/// Names of fields as perf has them.
const NAMES: &[(&str, Field)] = &[
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
    ("callindent", Field::Decoded),
    ("synth", Field::Decoded),
    ("ipc", Field::Decoded),
];

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
    const HARDWARE: Class = Class(0);
    const SOFTWARE: Class = Class(1);
    pub(super) const TRACEPOINT: Class = Class(2);
    pub(super) const RAW: Class = Class(4);
    const SYNTHETIC: Class = Class(6);
    const OTHER: Class = Class(7);

    /// ABI: types from 6 on are numbers of PMUs; perf counts events that it makes up itself from `INT_MAX` on.
    pub(super) fn of(kind: u32) -> Class {
        match kind {
            0..=5 => Class(kind as usize),
            0x8000_0000 => Class::SYNTHETIC,
            _ => Class::OTHER,
        }
    }

    pub(super) fn index(self) -> usize {
        self.0
    }

    fn fields(self) -> Fields {
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

    fn is_valid(self, field: Field) -> bool {
        match field {
            Field::Trace => self == Class::TRACEPOINT,
            Field::BpfOutput => matches!(self, Class::SOFTWARE | Class::OTHER),
            _ => true,
        }
    }
}

/// Prefixes with which fields are asked for of one kind of event.
const PREFIXES: &[(&str, Class)] = &[
    ("hw", Class::HARDWARE),
    ("sw", Class::SOFTWARE),
    ("trace", Class::TRACEPOINT),
    ("raw", Class::RAW),
    ("synth", Class::SYNTHETIC),
];

/// The fields of every kind of event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChoice {
    fields: [Fields; Class::COUNT],
    asked: [Fields; Class::COUNT],
    is_set: [bool; Class::COUNT],
}

impl Default for FieldChoice {
    fn default() -> Self {
        let fields = std::array::from_fn(|class| Class(class).fields());
        FieldChoice { fields, asked: Default::default(), is_set: Default::default() }
    }
}

/// What is wrong with a choice of fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceError {
    /// No field has this name.
    UnknownField(String),
    /// No kind of event has this name.
    UnknownPrefix(String),
    /// A field that these events cannot have.
    Invalid {
        /// The prefix.
        prefix: String,
        /// The field.
        field: String,
    },
    /// Additions and removals beside plain names.
    Mixed,
}

impl FieldChoice {
    /// Names of all fields.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Prefixes of kinds of events.
    pub fn prefixes() -> impl Iterator<Item = &'static str> {
        PREFIXES.iter().map(|(name, _)| *name)
    }

    /// Takes one more choice: `comm,ip,sym`, `+srcline,-period`, `sw:comm,ip`, `trace:`.
    ///
    /// # Errors
    /// What is wrong with it; then nothing has changed.
    pub fn choose(&mut self, text: &str) -> Result<(), ChoiceError> {
        let (prefix, names) = match text.split_once(':') {
            Some((prefix, names)) => (Some(prefix), names),
            None => (None, text),
        };
        let classes: Vec<Class> = match prefix {
            None => (0..Class::COUNT).map(Class).collect(),
            Some(prefix) => {
                let found = PREFIXES.iter().find(|(name, _)| *name == prefix);
                vec![found.ok_or_else(|| ChoiceError::UnknownPrefix(prefix.to_owned()))?.1]
            }
        };
        let names: Vec<&str> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let changes = names.iter().filter(|name| name.starts_with(['+', '-'])).count();
        // A sign before the first name holds for those that follow until the next sign.
        let is_change = names.first().is_some_and(|name| name.starts_with(['+', '-']));
        if changes > 0 && !is_change {
            return Err(ChoiceError::Mixed);
        }
        let mut next = self.clone();
        if !is_change {
            for class in &classes {
                next.replace(*class);
            }
        }
        let mut present = true;
        for name in names {
            let bare = name.trim_start_matches(['+', '-']);
            if bare.len() < name.len() {
                present = name.starts_with('+');
            }
            let field = NAMES.iter().find(|(known, _)| *known == bare);
            let (_, field) = field.ok_or_else(|| ChoiceError::UnknownField(bare.to_owned()))?;
            for class in &classes {
                if class.is_valid(*field) {
                    next.ask(*class, *field, present);
                } else if let Some(prefix) = prefix {
                    return Err(ChoiceError::Invalid { prefix: prefix.to_owned(), field: bare.to_owned() });
                }
            }
        }
        *self = next;
        Ok(())
    }

    /// Takes all fields of a kind of event away.
    fn replace(&mut self, Class(class): Class) {
        let none = (Fields::default(), Fields::default(), true);
        if let (Some(fields), Some(asked), Some(is_set)) =
            (self.fields.get_mut(class), self.asked.get_mut(class), self.is_set.get_mut(class))
        {
            (*fields, *asked, *is_set) = none;
        }
    }

    fn ask(&mut self, Class(class): Class, field: Field, present: bool) {
        if let Some(fields) = self.fields.get_mut(class) {
            fields.set(field, present);
        }
        if let Some(asked) = self.asked.get_mut(class) {
            asked.set(field, present);
        }
        if let Some(is_set) = self.is_set.get_mut(class) {
            *is_set = true;
        }
    }

    /// The fields of a kind of event.
    pub(super) fn of(&self, class: Class) -> Fields {
        self.fields.get(class.index()).copied().unwrap_or_default()
    }

    /// Those of them that were asked for.
    pub(super) fn asked(&self, class: Class) -> Fields {
        self.asked.get(class.index()).copied().unwrap_or_default()
    }

    /// Whether the user has said anything about this kind of event.
    pub(super) fn is_set(&self, class: Class) -> bool {
        self.is_set.get(class.index()).copied().unwrap_or_default()
    }

    /// Whether a field is shown for any kind of event.
    pub fn any(&self, field: Field) -> bool {
        self.fields.iter().any(|fields| fields.has(field))
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
