//! The functions and lines at each place.

use crate::field::{self, Definition, Value};
use crate::made::Made;
use crate::needs::Needs;
use readperf_profile::{AddressId, Level};
use std::ops::Range;

/// A level of a frame.
pub(crate) struct FrameLevel {
    place: AddressId,
    number: u32,
    level: Option<Level>,
}

type Field = field::Field<FrameLevel>;

pub(crate) const TABLE: Definition<FrameLevel> = Definition {
    meaning: "A level of a place: the innermost inlined function first, the function that all are inlined into last. A place where nothing \
              is inlined has one.",
    needs: Needs::STACKS,
    len: |made| made.levels.len(),
    rows,
    fields: FIELDS,
};

fn rows(made: &Made, rows: Range<usize>) -> Vec<FrameLevel> {
    let level = |(place, number): &(AddressId, u32)| {
        let level = made.profile().levels_at(*place).nth(*number as usize);
        FrameLevel { place: *place, number: *number, level }
    };
    made.levels.get(rows).unwrap_or_default().iter().map(level).collect()
}

const FIELDS: &[Field] = &[
    Field::new(
        "frame_id",
        "The place: `frames.frame_id`.",
        Value::Int64(|made, row| Some(made.frame_ids.get(row.place.index())?.number())),
    ),
    Field::new(
        "level",
        "Which level, from 0, the innermost.",
        Value::Int32(|_, row| i32::try_from(row.number).ok()),
    ),
    Field::new(
        "inlined",
        "Whether the function is inlined into that of the next level.",
        Value::Boolean(|_, row| Some(row.level?.inlined)),
    ),
    Field::new(
        "function_id",
        "The function: `symbols.function_id`.",
        Value::Int64(|made, row| Some(made.function_ids.get(row.level?.function.index())?.number())),
    ),
    Field::new(
        "function",
        "Its name; NULL where there is none.",
        Value::Word(|made| &made.dictionaries.functions, |_, row| Some(row.level?.function.index())),
    )
    .optional(),
    Field::new(
        "file",
        "Source file of the code; of outer levels, of the call that is inlined.",
        Value::Word(|made| &made.dictionaries.files, |_, row| Some(row.level?.file?.index())),
    )
    .optional(),
    Field::new(
        "line",
        "Line in that file, from 1.",
        Value::Int32(|_, row| i32::try_from(row.level?.line).ok().filter(|line| *line > 0)),
    )
    .optional(),
];
