//! The context switches.

use super::{bits, part, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use readperf_profile::{Mark, MarkKind};
use readperf_session::{Process, Thread};

type Field = field::Field<Mark>;

pub(crate) const TABLE: Definition<Mark> = Definition {
    meaning: "A thread got a CPU or gave it up, as records of switches tell it, or the tracepoint `sched:sched_switch` where every one of it \
              was recorded. In order of time.",
    needs: Needs::SWITCHES,
    len: |made| made.switches.len(),
    rows: |made, rows| part(&made.switches, rows),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new("time_ns", "When, by the clock of the recording.", Value::Int64(|_, mark| bits(mark.time_ns)))
        .unit("ns"),
    Field::new(
        "time",
        "When, as time of day, where the recording tells how its clock stands to that.",
        Value::Timestamp(|made, mark| made.moment_us(mark.time_ns)),
    )
    .optional(),
    Field::new("cpu", "On which CPU.", Value::Int32(|_, mark| i32::try_from(mark.cpu?).ok())).optional(),
    Field::new(
        "pid",
        "Id of the process.",
        Value::Int32(|made, mark| Some(process(made, mark)?.pid.cast_signed())),
    )
    .optional(),
    Field::new(
        "tid",
        "Id of the thread.",
        Value::Int32(|made, mark| Some(thread(made, mark)?.tid.cast_signed())),
    )
    .optional(),
    Field::new(
        "thread_id",
        "The thread: `threads.thread_id`.",
        Value::Int64(|made, mark| Some(made.thread_ids.get(mark.thread?.index())?.number())),
    )
    .optional(),
    Field::new(
        "comm",
        "Name of the thread at that time.",
        Value::Word(
            |made| &made.dictionaries.comms,
            |made, mark| Some(thread(made, mark)?.comm_at(mark.time_ns).index()),
        ),
    )
    .optional(),
    Field::new(
        "out",
        "Whether it gave the CPU up; else it got one.",
        Value::Boolean(|_, mark| Some(matches!(mark.kind, MarkKind::SwitchOut { .. }))),
    ),
    Field::new(
        "preempted",
        "Whether it still wanted to run.",
        Value::Boolean(|_, mark| Some(matches!(mark.kind, MarkKind::SwitchOut { preempted: true }))),
    ),
];

fn thread<'m>(made: &'m Made, mark: &Mark) -> Option<&'m Thread> {
    made.session().thread(mark.thread?)
}

fn process<'m>(made: &'m Made, mark: &Mark) -> Option<&'m Process> {
    made.session().process(thread(made, mark)?.process)
}
