//! The samples.

use super::{bits, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use readperf_profile::{DetailField, SampleRow, Value as Detail};
use readperf_session::{Process, Thread};
use std::ops::Range;

/// A sample and its number.
pub(crate) struct Sample {
    pub(crate) number: i64,
    pub(crate) row: SampleRow,
}

type Field = field::Field<Sample>;

pub(crate) const TABLE: Definition<Sample> = Definition {
    meaning: "A sample for an event: one that carries the values of several counters has a row for each. In order of event, then time. \
              What samples amount to is the sum of `period`; how many there are, the count of rows.",
    needs: Needs::SAMPLES,
    len: |made| made.profile().rows().len(),
    rows,
    fields: FIELDS,
};

fn rows(made: &Made, rows: Range<usize>) -> Vec<Sample> {
    let numbers = (0..).skip(rows.start);
    let rows = made.profile().rows().range(rows);
    numbers.zip(rows).map(|(number, row)| Sample { number, row }).collect()
}

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new(
        "sample_no",
        "Number of the sample in its recording, from 0; as it was read, so that other filters give other numbers.",
        Value::Int64(|_, sample| Some(sample.number)),
    ),
    Field::new(
        "event_id",
        "The event: `events.event_id`.",
        Value::Int32(|_, sample| i32::try_from(sample.row.event).ok()),
    ),
    Field::new(
        "event",
        "Name of the event.",
        Value::Word(|made| &made.dictionaries.events, |_, sample| Some(sample.row.event as usize)),
    )
    .optional(),
    Field::new("time_ns", "When, by the clock of the recording.", Value::Int64(|_, sample| time(sample)))
        .optional()
        .unit("ns"),
    Field::new(
        "time",
        "When, as time of day, where the recording tells how its clock stands to that (`perf record -k`).",
        Value::Timestamp(|made, sample| made.moment_us(time(sample)?.cast_unsigned())),
    )
    .optional(),
    Field::new("cpu", "On which CPU.", Value::Int32(|_, sample| i32::try_from(sample.row.cpu?).ok())).optional(),
    Field::new("pid", "Id of the process.", Value::Int32(|made, sample| Some(process(made, sample)?.pid.cast_signed())))
        .optional(),
    Field::new("tid", "Id of the thread.", Value::Int32(|made, sample| Some(thread(made, sample)?.tid.cast_signed())))
        .optional(),
    Field::new(
        "thread_id",
        "The thread: `threads.thread_id`. Ids of the system are used again, this one is not.",
        Value::Int64(|made, sample| Some(made.thread_ids.get(sample.row.thread?.index())?.number())),
    )
    .optional(),
    Field::new(
        "comm",
        "Name of the thread at that time.",
        Value::Word(|made| &made.dictionaries.comms, |_, sample| Some(sample.row.comm.index())),
    )
    .optional(),
    Field::new(
        "cpu_mode",
        "In which mode the CPU was: `user`, `kernel`, `hypervisor`, `guest user`, `guest kernel`.",
        Value::Word(
            |made| &made.dictionaries.modes,
            |made, sample| Some(made.profile().addresses().get(sample.row.address)?.mode as usize),
        ),
    )
    .optional(),
    Field::new(
        "ip",
        "The instruction pointer, as bits.",
        Value::Int64(|made, sample| bits(made.profile().addresses().get(sample.row.address)?.ip)),
    )
    .optional(),
    Field::new(
        "dso",
        "Short name of the binary that the sample was taken in; NULL where nothing was mapped.",
        Value::Word(|made| &made.dictionaries.binaries, |made, sample| Some(made.binary_of(sample.row.address)?.index())),
    )
    .optional(),
    Field::new(
        "function",
        "Name of the function that the sample was taken in, as the symbol table has it: inlined functions are in `frame_levels`. \
         NULL where there is no name.",
        Value::Word(
            |made| &made.dictionaries.functions,
            |made, sample| Some(made.profile().names().function_at(sample.row.address)?.index()),
        ),
    )
    .optional()
    .needs(Needs::NAMES),
    Field::new(
        "function_id",
        "This function: `symbols.function_id`.",
        Value::Int64(|made, sample| {
            let function = made.profile().names().function_at(sample.row.address)?;
            Some(made.function_ids.get(function.index())?.number())
        }),
    )
    .optional()
    .needs(Needs::NAMES),
    Field::new(
        "frame_id",
        "The place where the sample was taken: `frames.frame_id`.",
        Value::Int64(|made, sample| Some(made.frame_ids.get(sample.row.address.index())?.number())),
    )
    .needs(Needs::FRAMES),
    Field::new(
        "stack_id",
        "The stack: `stacks.stack_id`. A sample without a recorded one has a stack of one frame.",
        Value::Int64(|made, sample| Some(made.stack_id(&sample.row)?.number())),
    )
    .needs(Needs::STACKS),
    Field::new(
        "period",
        "For how much of its event the sample stands: what is summed up.",
        Value::Int64(|_, sample| bits(sample.row.period)),
    )
    .unit("of the event"),
    detail("data_address", "The data address, as bits.", DetailField::DataAddress, Value::Int64(|made, sample| {
        number(made, sample, DetailField::DataAddress)
    })),
    detail("physical_address", "The physical data address, as bits.", DetailField::PhysicalAddress, Value::Int64(|made, sample| {
        number(made, sample, DetailField::PhysicalAddress)
    })),
    detail("data_source", "Where the data came from, the bits of `perf_mem_data_src`.", DetailField::DataSource, Value::Int64(|made, sample| {
        number(made, sample, DetailField::DataSource)
    })),
    detail("mem_weight", "How long the access took.", DetailField::Weight, Value::Int64(|made, sample| {
        number(made, sample, DetailField::Weight)
    }))
    .unit("cycles"),
    detail("instruction_latency", "How long the instruction took.", DetailField::InstructionLatency, Value::Int64(|made, sample| {
        number(made, sample, DetailField::InstructionLatency)
    }))
    .unit("cycles"),
    detail("stage_cycles", "How long a stage of the pipeline took, or to retirement.", DetailField::StageCycles, Value::Int64(|made, sample| {
        number(made, sample, DetailField::StageCycles)
    }))
    .unit("cycles"),
    detail("transaction", "What the kernel says of the transaction, its bits.", DetailField::Transaction, Value::Int64(|made, sample| {
        number(made, sample, DetailField::Transaction)
    })),
    detail("cgroup_id", "Id of the cgroup.", DetailField::Cgroup, Value::Int64(|made, sample| {
        number(made, sample, DetailField::Cgroup)
    })),
    detail("data_page_size", "Size of the page of the data.", DetailField::DataPageSize, Value::Int64(|made, sample| {
        number(made, sample, DetailField::DataPageSize)
    }))
    .unit("bytes"),
    detail("code_page_size", "Size of the page of the code.", DetailField::CodePageSize, Value::Int64(|made, sample| {
        number(made, sample, DetailField::CodePageSize)
    }))
    .unit("bytes"),
];

/// A column of what only some recordings have.
const fn detail(
    name: &'static str,
    meaning: &'static str,
    field: DetailField,
    value: Value<Sample>,
) -> Field {
    Field::new(name, meaning, value).optional().needs(Needs::detail(field))
}

fn number(made: &Made, sample: &Sample, field: DetailField) -> Option<i64> {
    match made.profile().details().value(sample.row.detail, field) {
        Detail::Number(number) | Detail::Size(number) | Detail::Address(number) => bits(number),
        _ => None,
    }
}

/// 0 stands for no time.
fn time(sample: &Sample) -> Option<i64> {
    bits(sample.row.time_ns).filter(|time| *time != 0)
}

fn thread<'m>(made: &'m Made, sample: &Sample) -> Option<&'m Thread> {
    made.session().thread(sample.row.thread?)
}

fn process<'m>(made: &'m Made, sample: &Sample) -> Option<&'m Process> {
    made.session().process(thread(made, sample)?.process)
}
