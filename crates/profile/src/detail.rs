//! What else of a sample is kept, when a sort key asks for it: equal ones once.

use crate::addresses::AddressId;
use crate::tuples::Tuples;
use crate::value::{Texts, Value};
use perffile::wire::branch::BranchFlags;
use perffile::wire::sample::Sample;
use perffile::wire::weight::WeightParts;
use readperf_session::SampleMoment;

/// A field of a sample, beyond what every row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DetailField {
    /// Its time, cut to a whole number of quanta.
    Time,
    /// The data address.
    DataAddress,
    /// Where the data address lies.
    DataPlace,
    /// Its weight, cycles.
    Weight,
    /// Second part of the weight: latency of the instruction, cycles.
    InstructionLatency,
    /// Third part of the weight: cycles of a stage of the pipeline, or to retirement.
    StageCycles,
    /// Where the data came from, bits.
    DataSource,
    /// Bits of the transaction.
    Transaction,
    /// The physical data address.
    PhysicalAddress,
    /// The cgroup's id.
    Cgroup,
    /// Size of the page of the data, bytes.
    DataPageSize,
    /// Size of the page of the code, bytes.
    CodePageSize,
    /// The payload of a tracepoint.
    Raw,
    /// Where a branch came from.
    BranchFrom,
    /// Where a branch went.
    BranchTo,
    /// What is known of a branch, bits.
    BranchFlags,
}

/// What a sample counts for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weighing {
    /// Its period.
    #[default]
    Period,
    /// Its weight, at least 1, as `perf mem` has it.
    Latency,
    /// One for each branch of its branch stack: such a branch is a sample of its own.
    Branches,
}

/// What of each sample is kept, beyond what every row has.
#[derive(Clone, Debug, Default)]
pub struct DetailOptions {
    /// Which fields.
    pub fields: Vec<DetailField>,
    /// To what times are cut, ns; 0 leaves them as they are.
    pub time_quantum_ns: u64,
    /// What a sample counts for.
    pub weighing: Weighing,
    /// How many places of a stack are kept, from the innermost; all if not given.
    pub max_stack: Option<usize>,
    /// Whether whole stacks are kept instead of a tree; no call graphs can be made of them.
    pub whole_stacks: bool,
}

impl DetailOptions {
    /// Whether a field is kept.
    pub fn has(&self, field: DetailField) -> bool {
        self.fields.contains(&field)
    }
}

/// Number of a row of details in [`Details`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DetailId(u32);

impl DetailId {
    #[cfg(test)]
    pub(crate) fn for_test(number: u32) -> DetailId {
        DetailId(number)
    }

    /// As a number.
    #[inline]
    pub(crate) fn number(self) -> u32 {
        self.0
    }
}

/// A branch of a branch stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Where it came from.
    pub from: AddressId,
    /// Where it went.
    pub to: AddressId,
    /// What is known of it.
    pub flags: BranchFlags,
}

/// The details of all samples.
#[derive(Clone, Debug, Default)]
pub struct Details {
    options: DetailOptions,
    tuples: Tuples,
    texts: Texts,
    scratch: Vec<Value>,
}

impl Details {
    /// An empty table, for these fields.
    pub fn new(options: DetailOptions) -> Details {
        Details { options, ..Details::default() }
    }

    /// What is kept.
    pub fn options(&self) -> &DetailOptions {
        &self.options
    }

    /// A field of a row of details; unknown where it was not recorded or not kept.
    pub fn value(&self, id: DetailId, field: DetailField) -> Value {
        let at = self.options.fields.iter().position(|kept| *kept == field);
        at.and_then(|at| self.tuples.values(id.0).nth(at)).unwrap_or_default()
    }

    /// The bytes behind a text.
    pub fn bytes(&self, value: Value) -> &[u8] {
        match value {
            Value::Text(id) => self.texts.text(id),
            _ => &[],
        }
    }

    /// Takes in what is wanted of a sample, or of one of its branches.
    #[inline(always)]
    pub(crate) fn number(
        &mut self,
        moment: &SampleMoment<'_>,
        data: Option<AddressId>,
        branch: Option<&Branch>,
    ) -> DetailId {
        if self.options.fields.is_empty() {
            return DetailId::default();
        }
        self.take_in(moment, data, branch)
    }

    #[inline(never)]
    fn take_in(
        &mut self,
        moment: &SampleMoment<'_>,
        data: Option<AddressId>,
        branch: Option<&Branch>,
    ) -> DetailId {
        let only_time = self.options.fields.iter().all(|field| *field == DetailField::Time);
        let sample = match only_time {
            true => Sample::default(),
            false => moment.sample.decode().map(|(sample, _)| sample).unwrap_or_default(),
        };
        let mut values = std::mem::take(&mut self.scratch);
        values.clear();
        for nr in 0..self.options.fields.len() {
            let Some(field) = self.options.fields.get(nr).copied() else { continue };
            let value = self.extract(field, moment, &sample, data, branch);
            values.push(value);
        }
        let id = DetailId(self.tuples.number(&values));
        self.scratch = values;
        id
    }

    fn extract(
        &mut self,
        field: DetailField,
        moment: &SampleMoment<'_>,
        sample: &Sample<'_>,
        data: Option<AddressId>,
        branch: Option<&Branch>,
    ) -> Value {
        let place = |id: AddressId| Value::Number(id.index() as u64);
        let number = |number: Option<u64>| number.map_or(Value::Unknown, Value::Number);
        let address = |address: Option<u64>| address.map_or(Value::Unknown, Value::Address);
        // 0 is what the kernel says where nothing is mapped.
        let size = |size: Option<u64>| size.filter(|size| *size > 0).map_or(Value::Unknown, Value::Size);
        match field {
            DetailField::Time => {
                let quantum = self.options.time_quantum_ns.max(1);
                Value::Time(moment.time_ns / quantum * quantum)
            }
            DetailField::DataAddress => address(sample.addr),
            DetailField::DataPlace => data.map_or(Value::Unknown, place),
            DetailField::Weight => number(weight(sample)),
            DetailField::InstructionLatency => number(sample.weight_struct.map(WeightParts::var2)),
            DetailField::StageCycles => number(sample.weight_struct.map(WeightParts::var3)),
            DetailField::DataSource => number(sample.data_src.map(|source| source.0)),
            DetailField::Transaction => number(sample.transaction.map(|bits| bits.0)),
            DetailField::PhysicalAddress => address(sample.phys_addr),
            DetailField::Cgroup => number(sample.cgroup),
            DetailField::DataPageSize => size(sample.data_page_size),
            DetailField::CodePageSize => size(sample.code_page_size),
            DetailField::Raw => sample.raw.map_or(Value::Unknown, |raw| Value::Text(self.texts.number(raw))),
            DetailField::BranchFrom => branch.map_or(Value::Unknown, |branch| place(branch.from)),
            DetailField::BranchTo => branch.map_or(Value::Unknown, |branch| place(branch.to)),
            DetailField::BranchFlags => number(branch.map(|branch| branch.flags.0)),
        }
    }
}

/// The weight of a sample: one number, or the first of three parts.
pub(crate) fn weight(sample: &Sample<'_>) -> Option<u64> {
    sample.weight.or_else(|| sample.weight_struct.map(WeightParts::var1))
}
