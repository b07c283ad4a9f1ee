//! Values of counters.

use super::{bits, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use readperf_profile::counters::{Owner, Reading, Round, RoundKind, Thread};
use std::borrow::Cow;
use std::ops::Range;

/// A value of a round.
pub(crate) struct CounterRow {
    round: usize,
    owner: Owner,
    reading: Reading,
}

type Field = field::Field<CounterRow>;

pub(crate) const TABLE: Definition<CounterRow> = Definition {
    meaning: "What an event counted on a CPU or in a thread, during an interval or the whole run (`perf stat record`).",
    needs: Needs::COUNTERS,
    len: |made| made.readings.len(),
    rows,
    fields: FIELDS,
};

fn rows(made: &Made, rows: Range<usize>) -> Vec<CounterRow> {
    let Some(wanted) = made.readings.get(rows) else { return Vec::new() };
    let mut list = Vec::with_capacity(wanted.len());
    for of_round in wanted.chunk_by(|(a, _), (b, _)| a == b) {
        let Some((round, first)) = of_round.first().copied() else { continue };
        let readings = made.analysis.statistics.counters.rounds.get(round).map(|round| &round.readings);
        let readings = readings.into_iter().flatten().skip(first).take(of_round.len());
        list.extend(readings.map(|(owner, reading)| CounterRow { round, owner: *owner, reading: *reading }));
    }
    list
}

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new(
        "round",
        "Number of the interval, from 0.",
        Value::Int32(|_, row| i32::try_from(row.round).ok()),
    ),
    Field::new(
        "round_kind",
        "Why it ended: `interval`, `final` (the run was over), `rest` (what was counted behind the last one).",
        Value::Text(|made, row| {
            Some(Cow::from(match round(made, row)?.kind {
                RoundKind::Interval => "interval",
                RoundKind::Final => "final",
                RoundKind::Rest => "rest",
            }))
        }),
    ),
    Field::new(
        "time_ns",
        "When it ended, since the start; NULL where that is not told.",
        Value::Int64(|made, row| bits(round(made, row)?.time_ns).filter(|time| *time != 0)),
    )
    .optional()
    .unit("ns"),
    Field::new(
        "event_id",
        "The event: `events.event_id`.",
        Value::Int32(|_, row| i32::try_from(row.owner.event).ok()),
    ),
    Field::new(
        "event",
        "Name of the event.",
        Value::Word(|made| &made.dictionaries.events, |_, row| Some(row.owner.event)),
    )
    .optional(),
    Field::new(
        "cpu",
        "On which CPU; NULL where it was counted wherever the task ran.",
        Value::Int32(|_, row| i32::try_from(row.owner.cpu?).ok()),
    )
    .optional(),
    Field::new(
        "tid",
        "In which thread; NULL for any.",
        Value::Int32(|made, row| i32::try_from(thread(made, row)?.tid?).ok()),
    )
    .optional(),
    Field::new(
        "comm",
        "Name of that thread at the start.",
        Value::Text(|made, row| {
            Some(Cow::from(thread(made, row)?.comm.as_str())).filter(|comm| !comm.is_empty())
        }),
    )
    .optional(),
    Field::new("value", "What was counted.", Value::Int64(|_, row| bits(row.reading.count)))
        .unit("of the event"),
    Field::new(
        "enabled_ns",
        "How long the event was wanted.",
        Value::Int64(|_, row| bits(row.reading.enabled_ns)),
    )
    .unit("ns"),
    Field::new(
        "running_ns",
        "How long it was on the hardware: less where events had to take turns.",
        Value::Int64(|_, row| bits(row.reading.running_ns)),
    )
    .unit("ns"),
];

fn round<'m>(made: &'m Made, row: &CounterRow) -> Option<&'m Round> {
    made.analysis.statistics.counters.rounds.get(row.round)
}

fn thread<'m>(made: &'m Made, row: &CounterRow) -> Option<&'m Thread> {
    made.analysis.statistics.counters.threads.get(row.owner.thread as usize)
}
