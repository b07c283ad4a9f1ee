//! The events of a recording.

use super::{bits, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use perffile::EventDescription;
use perffile::wire::attr::AttrFlags;
use std::borrow::Cow;
use std::ops::Range;

/// An event by its number.
pub(crate) struct EventRow(usize);

type Field = field::Field<EventRow>;

pub(crate) const TABLE: Definition<EventRow> = Definition {
    meaning: "An event of a recording, and how it was opened.",
    needs: Needs::NOTHING,
    len: |made| made.analysis.metadata.schema.events().len(),
    rows: |_, rows: Range<usize>| rows.map(EventRow).collect(),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new(
        "event_id",
        "Its number in the recording, from 0.",
        Value::Int32(|_, row| i32::try_from(row.0).ok()),
    ),
    Field::new("event", "Its name.", Value::Word(|made| &made.dictionaries.events, |_, row| Some(row.0))),
    Field::new(
        "type",
        "Its type, `perf_event_attr.type`.",
        Value::Int64(|made, row| Some(i64::from(event(made, row)?.attr.kind.0))),
    ),
    Field::new(
        "config",
        "Which event of that type, as bits.",
        Value::Int64(|made, row| bits(event(made, row)?.attr.config)),
    ),
    Field::new(
        "sample_period",
        "After how much of it a sample was taken; NULL with a frequency.",
        Value::Int64(|made, row| {
            bits(event(made, row).filter(|event| !has(event, AttrFlags::freq))?.attr.sample_period)
        }),
    )
    .optional()
    .unit("of the event"),
    Field::new(
        "sample_frequency",
        "How many samples a second were wanted; NULL with a period.",
        Value::Int64(|made, row| {
            bits(event(made, row).filter(|event| has(event, AttrFlags::freq))?.attr.sample_period)
        }),
    )
    .optional()
    .unit("Hz"),
    Field::new(
        "sample_type",
        "Which fields samples have, the bits of `perf_event_attr.sample_type`.",
        Value::Int64(|made, row| bits(event(made, row)?.attr.sample_type.0)),
    ),
    Field::new(
        "exclude_user",
        "Whether user mode is left out.",
        Value::Boolean(|made, row| Some(has(event(made, row)?, AttrFlags::exclude_user))),
    ),
    Field::new(
        "exclude_kernel",
        "Whether the kernel is left out.",
        Value::Boolean(|made, row| Some(has(event(made, row)?, AttrFlags::exclude_kernel))),
    ),
    Field::new(
        "unit",
        "The unit of its counts, where the recording tells it.",
        Value::Text(|made, row| Some(Cow::from(event(made, row)?.unit.as_deref()?))),
    )
    .optional(),
    Field::new(
        "scale",
        "What its counts have to be multiplied by to be in that unit.",
        Value::Float64(|made, row| event(made, row)?.scale),
    )
    .optional(),
    Field::new(
        "samples",
        "How many samples it has in `samples`.",
        Value::Int64(|made, row| bits(made.profile().events().get(row.0)?.samples)),
    )
    .needs(Needs::SAMPLES),
    Field::new(
        "period",
        "Sum of their periods.",
        Value::Int64(|made, row| bits(made.profile().events().get(row.0)?.period)),
    )
    .unit("of the event")
    .needs(Needs::SAMPLES),
];

fn event<'m>(made: &'m Made, row: &EventRow) -> Option<&'m EventDescription> {
    made.analysis.metadata.schema.event(row.0)
}

fn has(event: &EventDescription, flag: AttrFlags) -> bool {
    event.attr.flags.has(flag)
}
