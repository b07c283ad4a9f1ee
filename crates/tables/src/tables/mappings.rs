//! What was mapped.

use super::{bits, part, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::MapRow;
use crate::needs::Needs;

type Field = field::Field<MapRow>;

pub(crate) const TABLE: Definition<MapRow> = Definition {
    meaning: "Something was mapped into a process or the kernel, as a record of the recording tells it, in order of time.",
    needs: Needs::MAPPINGS,
    len: |made| made.maps.len(),
    rows: |made, rows| part(&made.maps, rows),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new(
        "pid",
        "Id of the process; NULL for the kernel.",
        Value::Int32(|made, map| Some(made.session().process(map.process?)?.pid.cast_signed())),
    )
    .optional(),
    Field::new(
        "time_ns",
        "When, by the clock of the recording; NULL for what was there before.",
        Value::Int64(|_, map| bits(map.time_ns).filter(|time| *time != 0)),
    )
    .optional()
    .unit("ns"),
    Field::new("start_address", "First address, as bits.", Value::Int64(|_, map| bits(map.start))),
    Field::new("end_address", "First address behind it, as bits.", Value::Int64(|_, map| bits(map.end))),
    Field::new(
        "file_offset",
        "Where in the file it begins; NULL for the kernel.",
        Value::Int64(|_, map| bits(map.offset?)),
    )
    .optional()
    .unit("bytes"),
    Field::new(
        "binary_id",
        "What was mapped: `binaries.binary_id`.",
        Value::Int64(|made, map| Some(made.binary_ids.get(map.binary.index())?.number())),
    ),
    Field::new(
        "dso",
        "Its short name.",
        Value::Word(|made| &made.dictionaries.binaries, |_, map| Some(map.binary.index())),
    ),
];
