//! What fields say in words, shown beside their values.

use crate::json::Tree;
use perffile::wire::attr::{AttrFlags, BranchSampleType, ReadFormat, SampleShape, SampleType};
use perffile::wire::branch::BranchFlags;
use perffile::wire::data_src::DataSrc;
use perffile::wire::describe::{Shown, Sink};
use perffile::wire::pass::WireType;
use perffile::wire::record::{Record, kind};
use perffile::wire::registers::Machine;
use perffile::wire::transaction::Transaction;
use perffile::wire::weight::WeightParts;
use perffile::wire::words::U64s;
use perffile::wire::{callchain, clock, protection};
use serde_json::{Map, Value};

/// Words about a field.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Words {
    /// A text.
    Text(String),
    /// Some words.
    List(Vec<String>),
    /// Named parts of a number.
    Parts(Vec<(&'static str, u64)>),
    /// A name for each of some values.
    Names(Vec<Option<String>>),
    /// Remarks about some of some values.
    Marks(Vec<Option<String>>),
}

/// A sink that shows words beside values.
pub(super) trait WordSink: Sink {
    /// One field with words about it.
    fn worded(&mut self, name: &'static str, wire: WireType, value: Shown<'_>, words: Words);
}

impl WordSink for Tree {
    /// The words go under `<name>_words`.
    fn worded(&mut self, name: &'static str, wire: WireType, value: Shown<'_>, words: Words) {
        self.field(name, wire, value);
        let value = match words {
            Words::Text(text) => text.into(),
            Words::List(list) => list.into(),
            Words::Parts(parts) => {
                parts.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect()
            }
            Words::Names(names) => by_name(names, value),
            Words::Marks(marks) => marks
                .into_iter()
                .enumerate()
                .filter_map(|(nr, mark)| Some((nr.to_string(), Value::from(mark?))))
                .collect(),
        };
        self.add(format!("{name}_words"), value);
    }
}

/// Values under their names. One that has several slots has them under numbered names.
fn by_name(names: Vec<Option<String>>, value: Shown<'_>) -> Value {
    let mut object = Map::new();
    let (Shown::Addresses(values) | Shown::Unsigneds(values)) = value else { return Value::Null };
    for (nr, (name, value)) in names.into_iter().zip(values).enumerate() {
        let mut name = name.unwrap_or_else(|| format!("#{nr}"));
        if object.contains_key(&name) {
            name.push_str("_high");
        }
        object.insert(name, crate::json::address(value));
    }
    object.into()
}

/// Numbers that stand for something: record, field, names from 0 on. From `perf_event.h` and perf's `event.h`.
const ENUMERATIONS: &[(u32, &str, &[&str])] = &[
    (kind::KSYMBOL, "ksym_type", &["unknown", "bpf", "out_of_line"]),
    (kind::BPF_EVENT, "bpf_type", &["unknown", "load", "unload"]),
    (kind::EVENT_UPDATE, "update_type", &["unit", "scale", "name", "cpus"]),
    (kind::STAT_ROUND, "round_type", &["interval", "final"]),
    (kind::CPU_MAP, "map_type", &["cpus", "mask", "range"]),
    (
        kind::AUXTRACE_INFO,
        "auxtrace_type",
        &["unknown", "intel_pt", "intel_bts", "cs_etm", "arm_spe", "s390_cpumsf", "hisi_ptt", "vpa_dtl"],
    ),
];

/// Bits of the flags of AUX records: PERF_AUX_FLAG_*.
const AUX_FLAGS: [(u64, &str); 4] = [(1, "truncated"), (2, "overwrite"), (4, "partial"), (8, "collision")];

/// Passes a description on, with words where there are some.
#[derive(Debug)]
pub(super) struct Worded<'s, S> {
    sink: &'s mut S,
    number: u32,
    shape: SampleShape,
    machine: Option<Machine>,
    /// What MMAP2 permits, as in /proc/PID/maps.
    permissions: Option<String>,
    /// Whether the last entry of a call chain may be a cookie.
    deferring: bool,
    /// Names of what is open.
    open: Vec<&'static str>,
    /// What fields before have said about those that follow.
    abi: u64,
    reg_mask: u64,
    use_clockid: bool,
}

impl<'s, S: WordSink> Worded<'s, S> {
    /// For one record.
    pub(super) fn new(sink: &'s mut S, record: &Record<'_>, shape: &SampleShape) -> Self {
        let permissions = match record {
            Record::Mmap2(map) => Some(protection::permissions(map.prot, map.flags)),
            _ => None,
        };
        Worded {
            sink,
            number: record.number().unwrap_or(u32::MAX),
            shape: *shape,
            machine: None,
            permissions,
            deferring: false,
            open: Vec::new(),
            abi: 0,
            reg_mask: 0,
            use_clockid: false,
        }
    }

    /// On this machine.
    pub(super) fn machine(mut self, machine: Option<Machine>) -> Self {
        self.machine = machine;
        self
    }

    /// Of an event whose call chains may be deferred.
    pub(super) fn deferring(mut self, deferring: bool) -> Self {
        self.deferring = deferring;
        self
    }

    fn words(&mut self, name: &str, value: &Shown<'_>) -> Option<Words> {
        match *value {
            Shown::Unsigned(number) | Shown::Address(number) => {
                self.note(name, number);
                self.of_number(name, number)
            }
            Shown::Signed(number) if name == "clockid" && self.use_clockid => {
                Some(Words::Text(clock::name(i32::try_from(number).ok()?)?.to_owned()))
            }
            Shown::Addresses(_) if name == "regs" => self.register_names(),
            Shown::Addresses(values) => self.chain_marks(name, values),
            _ => None,
        }
    }

    /// Remembers what later fields depend on.
    fn note(&mut self, name: &str, number: u64) {
        match name {
            "abi" => self.abi = number,
            "reg_mask" => self.reg_mask = number,
            "flags" if self.number == kind::HEADER_ATTR => {
                self.use_clockid = AttrFlags(number).has(AttrFlags::use_clockid);
            }
            _ => {}
        }
    }

    fn of_number(&self, name: &str, number: u64) -> Option<Words> {
        let text = |text: String| Some(Words::Text(text));
        let list = |list: Vec<String>| (!list.is_empty()).then_some(Words::List(list));
        match (self.number, name) {
            (kind::SAMPLE, "data_src") => text(DataSrc(number).to_string()),
            (kind::SAMPLE, "transaction") => text(Transaction(number).to_string()),
            (kind::SAMPLE, "weight_struct") => {
                let WeightParts { var1, var2, var3 } = number.into();
                Some(Words::Parts(vec![("var1", var1.into()), ("var2", var2.into()), ("var3", var3.into())]))
            }
            (kind::SAMPLE, "flags") if self.open.contains(&"branch_stack") => {
                text(BranchFlags(number).to_string())
            }
            (kind::MMAP2, "prot") => self.permissions.clone().map(Words::Text),
            (kind::MMAP2, "flags") => list(protection::flag_words(u32::try_from(number).ok()?)),
            (kind::AUX, "flags") => list(
                AUX_FLAGS
                    .iter()
                    .filter(|(bit, _)| number & bit != 0)
                    .map(|(_, name)| (*name).to_owned())
                    .collect(),
            ),
            (kind::HEADER_ATTR, "sample_type") => list(SampleType(number).names()),
            (kind::HEADER_ATTR, "read_format") => list(ReadFormat(number).names()),
            (kind::HEADER_ATTR, "branch_sample_type") => list(BranchSampleType(number).names()),
            (kind::HEADER_ATTR, "flags") => list(AttrFlags(number).names()),
            _ => {
                let fits = |entry: &&(u32, &str, &[&str])| entry.0 == self.number && entry.1 == name;
                let (_, _, names) = ENUMERATIONS.iter().find(fits)?;
                text((*names.get(usize::try_from(number).ok()?)?).to_owned())
            }
        }
    }

    fn register_names(&self) -> Option<Words> {
        let machine = self.machine?;
        let mask = match self.open.last() {
            Some(&"regs_user") => self.shape.sample_regs_user,
            Some(&"regs_intr") => self.shape.sample_regs_intr,
            _ => self.reg_mask,
        };
        let numbers = (0..64u32).filter(|bit| mask >> bit & 1 == 1);
        Some(Words::Names(numbers.map(|number| machine.register_name(number, self.abi)).collect()))
    }

    fn chain_marks(&self, name: &str, values: U64s<'_>) -> Option<Words> {
        if !matches!((self.number, name), (kind::SAMPLE, "callchain") | (kind::CALLCHAIN_DEFERRED, "ips")) {
            return None;
        }
        let mut marks: Vec<Option<String>> =
            values.iter().map(|entry| callchain::marker_name(entry).map(str::to_owned)).collect();
        let behind_marker =
            values.len() >= 2 && values.get(values.len() - 2) == Some(callchain::USER_DEFERRED);
        if let (true, true, Some(last)) = (self.deferring, behind_marker, marks.last_mut()) {
            *last = Some("cookie".to_owned());
        }
        marks.iter().any(Option::is_some).then_some(Words::Marks(marks))
    }
}

impl<S: WordSink> Sink for Worded<'_, S> {
    fn field(&mut self, name: &'static str, wire: WireType, value: Shown<'_>) {
        match self.words(name, &value) {
            Some(words) => self.sink.worded(name, wire, value, words),
            None => self.sink.field(name, wire, value),
        }
    }
    fn open_list(&mut self, name: &'static str) {
        self.open.push(name);
        self.sink.open_list(name);
    }
    fn open_element(&mut self) {
        self.sink.open_element();
    }
    fn close_element(&mut self) {
        self.sink.close_element();
    }
    fn close_list(&mut self) {
        self.open.pop();
        self.sink.close_list();
    }
    fn open_inner(&mut self, name: &'static str) {
        self.open.push(name);
        self.sink.open_inner(name);
    }
    fn close_inner(&mut self) {
        self.open.pop();
        self.sink.close_inner();
    }
}
