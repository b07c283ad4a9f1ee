//! Sort keys: what makes a row of a histogram. One entry each in [`KEYS`]; what an entry computes is in `keys/`.

use super::facts::{Facts, Place};
use super::keys::{branch, code, data, task, trace};
use crate::detail::DetailField as Field;
use crate::profile::SampleRow;
use crate::stacks::StackId;
use crate::value::Value;

/// What a key looks at.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    /// The sample: the same for all places of its stack.
    Sample(fn(&mut Facts<'_>, &SampleRow) -> Value),
    /// The sample, with the argument of the key.
    Field(fn(&mut Facts<'_>, &SampleRow, &TraceField) -> Value),
    /// The sample's stack.
    Stack(fn(&mut Facts<'_>, StackId) -> Value),
    /// The function of a place of its stack.
    Function(fn(&mut Facts<'_>, &Place) -> Value),
    /// A place of its stack.
    Place(fn(&mut Facts<'_>, &Place) -> Value),
}

/// A sort key.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// The head of its column.
    pub title: &'static str,
    /// What it is, in a few words.
    pub help: &'static str,
    /// What it looks at.
    pub part: Part,
    /// What has to be kept of samples.
    pub needs: KeyNeeds,
}

/// What has to be kept of samples for a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeyNeeds {
    /// Their threads.
    pub threads: bool,
    /// Their CPUs.
    pub cpus: bool,
    /// Their stacks.
    pub stacks: bool,
    /// Source lines of their places.
    pub lines: bool,
    /// Inlined functions of their places.
    pub inlines: bool,
    /// The addresses of their places.
    pub addresses: bool,
    /// Fields.
    pub details: &'static [Field],
}

/// The argument of the key for fields of tracepoints: `[EVENT.]FIELD[/raw]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct TraceField {
    /// Part of the name of the event, or `%` and its number from 1; of any event if not given.
    pub event: Option<String>,
    /// The field.
    pub field: String,
    /// Whether its value is wanted as stored, not as the text of the tracepoint shows it.
    pub raw: bool,
}

/// A key that is used, with its argument.
#[derive(Clone, Debug)]
pub struct KeyUse {
    /// The key.
    pub key: &'static Key,
    /// The argument of the key for fields of tracepoints.
    pub field: TraceField,
}

impl PartialEq for KeyUse {
    fn eq(&self, other: &KeyUse) -> bool {
        (self.key.name, &self.field) == (other.key.name, &other.field)
    }
}

impl From<&'static Key> for KeyUse {
    /// A key without an argument.
    fn from(key: &'static Key) -> KeyUse {
        KeyUse { key, field: TraceField::default() }
    }
}

impl KeyUse {
    /// The name under which it was asked for.
    pub fn name(&self) -> String {
        let TraceField { event, field, raw } = &self.field;
        match (field.as_str(), event) {
            ("", _) => self.key.name.to_owned(),
            (field, Some(event)) => format!("{event}.{field}{}", if *raw { "/raw" } else { "" }),
            (field, None) => format!("{field}{}", if *raw { "/raw" } else { "" }),
        }
    }

    /// The head of its column.
    pub fn title(&self) -> &str {
        if self.field.field.is_empty() { self.key.title } else { &self.field.field }
    }
}

const NOTHING: KeyNeeds = KeyNeeds {
    threads: false,
    cpus: false,
    stacks: false,
    lines: false,
    inlines: false,
    addresses: false,
    details: &[],
};
const THREADS: KeyNeeds = KeyNeeds { threads: true, ..NOTHING };
const CPUS: KeyNeeds = KeyNeeds { cpus: true, ..NOTHING };
const STACKS: KeyNeeds = KeyNeeds { stacks: true, ..NOTHING };
const LINES: KeyNeeds = KeyNeeds { lines: true, ..NOTHING };
const INLINES: KeyNeeds = KeyNeeds { inlines: true, ..NOTHING };
const ADDRESSES: KeyNeeds = KeyNeeds { addresses: true, ..NOTHING };

const fn fields(details: &'static [Field]) -> KeyNeeds {
    KeyNeeds { details, ..NOTHING }
}

macro_rules! keys {
    ($( $name:tt $([$($alias:literal),+])? $title:literal $part:ident($of:path) $needs:expr, $help:literal; )*) => {
        &[$( Key {
            name: $name,
            aliases: &[$($($alias),+)?],
            title: $title,
            help: $help,
            part: Part::$part($of),
            needs: $needs,
        }, )*]
    };
}

/// The key that tells inlined functions apart from their symbols.
pub(super) const INLINED: &str = "inlined";

/// Every key.
pub const KEYS: &[Key] = keys! {
    "comm" "command" Sample(task::comm) NOTHING, "name of the thread at that time";
    "dso" "binary" Function(code::dso) NOTHING, "binary";
    "symbol" ["sym", "function"] "function" Function(code::symbol) NOTHING, "function, or address without a name; as a level of stacks an inlined one";
    INLINED "inlined function" Place(code::inlined) INLINES, "innermost inlined function, or the function itself; `symbol` is the real one then";
    "symbol_size" "symbol size" Function(code::symbol_size) NOTHING, "size of the function in bytes";
    "pid" ["tgid"] "process" Sample(task::pid) THREADS, "process";
    "tid" "thread" Sample(task::tid) THREADS, "thread (perf calls this key pid)";
    "cpu" "cpu" Sample(task::cpu) CPUS, "CPU number";
    "socket" "socket" Sample(task::socket) CPUS, "processor socket";
    "time" "time" Sample(task::time) fields(&[Field::Time]), "time, in steps of --time-quantum";
    "cgroup" "cgroup" Sample(task::cgroup) fields(&[Field::Cgroup]), "path of the cgroup";
    "cgroup_id" "cgroup id" Sample(task::cgroup_id) THREADS, "cgroup namespace of the thread: device and inode";
    "parent" "parent" Stack(task::parent) STACKS, "function of the stack that matches --parent";
    "srcline" "source line" Place(code::srcline) LINES, "source file and line";
    "srcfile" "source file" Place(code::srcfile) LINES, "source file";
    "symoff" "offset" Place(code::symoff) ADDRESSES, "bytes from the start of the function";
    "addr" "address" Place(code::addr) ADDRESSES, "address of the instruction when it ran";
    "code_page_size" "code page size" Sample(data::code_page_size) fields(&[Field::CodePageSize]), "size of the page of the instruction";
    "local_weight" "local weight" Sample(data::local_weight) fields(&[Field::Weight]), "weight of a sample";
    "weight" "weight" Sample(data::weight) fields(&[Field::Weight]), "weight of all samples";
    "local_ins_lat" "local instr latency" Sample(data::local_ins_lat) fields(&[Field::InstructionLatency]), "latency of the instruction, of a sample";
    "ins_lat" "instr latency" Sample(data::ins_lat) fields(&[Field::InstructionLatency]), "latency of the instruction, of all samples";
    "local_p_stage_cyc" "local stage cycles" Sample(data::local_stage) fields(&[Field::StageCycles]), "cycles of a pipeline stage, of a sample";
    "p_stage_cyc" ["retire_lat"] "stage cycles" Sample(data::local_stage) fields(&[Field::StageCycles]), "cycles of a pipeline stage, or to retirement";
    "mem" "memory access" Sample(data::mem) fields(&[Field::DataSource]), "level of the memory hierarchy";
    "snoop" "snoop" Sample(data::snoop) fields(&[Field::DataSource]), "snooping";
    "tlb" "tlb access" Sample(data::tlb) fields(&[Field::DataSource]), "translation of the data address";
    "locked" "locked" Sample(data::locked) fields(&[Field::DataSource]), "whether the access was locked";
    "blocked" "blocked" Sample(data::blocked) fields(&[Field::DataSource]), "what blocked the access";
    "symbol_daddr" "data symbol" Sample(data::symbol) fields(&[Field::DataPlace, Field::DataAddress]), "symbol of the data";
    "dso_daddr" "data object" Sample(data::dso) fields(&[Field::DataPlace]), "binary of the data";
    "symbol_iaddr" "code symbol" Function(code::symbol) NOTHING, "function of the access";
    "dcacheline" "data cacheline" Sample(data::cacheline) fields(&[Field::DataAddress]), "cache line of the data";
    "phys_daddr" "physical data address" Sample(data::phys_daddr) fields(&[Field::PhysicalAddress]), "physical address of the data";
    "data_page_size" "data page size" Sample(data::data_page_size) fields(&[Field::DataPageSize]), "size of the page of the data";
    "transaction" "transaction" Sample(data::transaction) fields(&[Field::Transaction]), "how a hardware transaction ended";
    "dso_from" "source binary" Sample(branch::dso_from) fields(&[Field::BranchFrom]), "binary a branch came from";
    "dso_to" "target binary" Sample(branch::dso_to) fields(&[Field::BranchTo]), "binary a branch went to";
    "symbol_from" "source function" Sample(branch::symbol_from) fields(&[Field::BranchFrom]), "function a branch came from";
    "symbol_to" "target function" Sample(branch::symbol_to) fields(&[Field::BranchTo]), "function a branch went to";
    "addr_from" "source address" Sample(branch::addr_from) fields(&[Field::BranchFrom]), "place a branch came from: function and offset, or address in the binary";
    "addr_to" "target address" Sample(branch::addr_to) fields(&[Field::BranchTo]), "place a branch went to: function and offset, or address in the binary";
    "srcline_from" "source line from" Sample(branch::srcline_from) KeyNeeds { lines: true, ..fields(&[Field::BranchFrom]) }, "source line a branch came from";
    "srcline_to" "source line to" Sample(branch::srcline_to) KeyNeeds { lines: true, ..fields(&[Field::BranchTo]) }, "source line a branch went to";
    "mispredict" "mispredicted" Sample(branch::mispredict) fields(&[Field::BranchFlags]), "whether a branch was mispredicted";
    "in_tx" "in transaction" Sample(branch::in_tx) fields(&[Field::BranchFlags]), "whether a branch was in a transaction";
    "abort" "abort" Sample(branch::abort) fields(&[Field::BranchFlags]), "whether a branch was an abort";
    "cycles" "cycles" Sample(branch::cycles) fields(&[Field::BranchFlags]), "cycles since the branch before";
    "trace" "trace output" Sample(trace::text) fields(&[Field::Raw]), "text of a tracepoint";
};

/// The key for fields of tracepoints, which has no name of its own.
pub const TRACE_FIELD: &Key = &Key {
    name: "EVENT.FIELD",
    aliases: &[],
    title: "field",
    help: "a field of a tracepoint",
    part: Part::Field(trace::field),
    needs: fields(&[Field::Raw]),
};

/// Keys of perf that are not here, and why or what to do instead.
pub const NOT_HERE: &[(&str, &str)] = &[
    (
        "dso_size",
        "it is the size of one of a binary's mappings, which `readperf dump --type MMAP,MMAP2` tells",
    ),
    ("event", "every event has a table of its own, --group shows them side by side"),
    ("simd", "it is told by Arm SPE data, which are not decoded"),
    ("ipc_null", "it is told by blocks of branch stacks, which are not put together"),
    ("ipc_lbr", "it is told by blocks of branch stacks, which are not put together"),
    (
        "type",
        "types of data are not looked up; symbol_daddr, dso_daddr and dcacheline tell what was accessed",
    ),
    ("typeoff", "types of data are not looked up; symbol_daddr tells the offset in a variable"),
    ("typecln", "types of data are not looked up; dcacheline tells the cache line"),
    (
        "parallelism",
        "samples are not set against the CPUs that were busy; `readperf timeline` shows load by time",
    ),
    (
        "latency",
        "samples are not set against the CPUs that were busy; `readperf timeline` shows load by time",
    ),
    ("callchain_branch_predicted", "branches are not counted by call chain; -b counts them by place"),
    ("callchain_branch_abort", "branches are not counted by call chain; -b counts them by place"),
    ("callchain_branch_cycles", "branches are not counted by call chain; -b counts them by place"),
];

/// A key by its name or one of its other names.
pub fn by_name(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name || key.aliases.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_there_once() {
        let mut names: Vec<&str> = KEYS
            .iter()
            .flat_map(|key| std::iter::once(key.name).chain(key.aliases.iter().copied()))
            .collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(by_name("sym").is_some_and(|key| key.name == "symbol"));
        assert!(by_name("nothing").is_none());
    }
}
