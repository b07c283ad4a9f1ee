//! The threads.

use super::{bits, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use perffile::wire::text::decoded;
use readperf_session::{Process, Thread};
use std::ops::Range;

/// A thread by its number.
pub(crate) struct ThreadRow(usize);

type Field = field::Field<ThreadRow>;

pub(crate) const TABLE: Definition<ThreadRow> = Definition {
    meaning: "A thread that the recording tells of. An id of the system that is used again is another thread.",
    needs: Needs::NOTHING,
    len: |made| made.session().threads().len(),
    rows: |_, rows: Range<usize>| rows.map(ThreadRow).collect(),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new(
        "thread_id",
        "The thread: a hash.",
        Value::Int64(|made, row| Some(made.thread_ids.get(row.0)?.number())),
    ),
    Field::new(
        "thread_id_lo",
        "The other half of the hash.",
        Value::Int64(|made, row| Some(made.thread_ids.get(row.0)?.rest())),
    ),
    Field::new(
        "pid",
        "Id of its process.",
        Value::Int32(|made, row| Some(process(made, row)?.pid.cast_signed())),
    ),
    Field::new("tid", "Its id.", Value::Int32(|made, row| Some(thread(made, row)?.tid.cast_signed()))),
    Field::new(
        "parent_pid",
        "Id of the parent of its process, where a fork told it.",
        Value::Int32(|made, row| Some(process(made, row)?.parent_pid?.cast_signed())),
    )
    .optional(),
    Field::new(
        "comm",
        "Its last name.",
        Value::Word(|made| &made.dictionaries.comms, |made, row| Some(thread(made, row)?.comm().index())),
    ),
    Field::new(
        "process",
        "The last name of its process: that of the main thread.",
        Value::Text(|made, row| Some(decoded(made.session().process_name(thread(made, row)?.process)))),
    ),
    Field::new(
        "start_ns",
        "When it was forked; NULL if before the recording, or not told.",
        Value::Int64(|made, row| bits(thread(made, row)?.fork_time_ns?)),
    )
    .optional()
    .unit("ns"),
    Field::new(
        "exit_ns",
        "When it exited; NULL if not while recording.",
        Value::Int64(|made, row| bits(thread(made, row)?.exit_time_ns?)),
    )
    .optional()
    .unit("ns"),
    Field::new(
        "samples",
        "How many samples it has in `samples`.",
        Value::Int64(|made, row| bits(made.of_threads.get(row.0)?.0)),
    )
    .needs(Needs::SAMPLES),
    Field::new(
        "period",
        "Sum of their periods, all events together.",
        Value::Int64(|made, row| bits(made.of_threads.get(row.0)?.1)),
    )
    .unit("of the events")
    .needs(Needs::SAMPLES),
];

fn thread<'m>(made: &'m Made, row: &ThreadRow) -> Option<&'m Thread> {
    made.session().threads().get(row.0)
}

fn process<'m>(made: &'m Made, row: &ThreadRow) -> Option<&'m Process> {
    made.session().process(thread(made, row)?.process)
}
