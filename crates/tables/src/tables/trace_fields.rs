//! The fields of tracepoints.

use super::{bits, hex, part, profile_id};
use crate::field::{self, Definition, Value};
use crate::made::{Made, PayloadField};
use crate::needs::Needs;
use perffile::tracepoint::{FieldValue, Tracepoint};
use perffile::wire::text::decoded;
use readperf_profile::{DetailField, SampleRow};
use std::borrow::Cow;

type Field = field::Field<PayloadField>;

pub(crate) const TABLE: Definition<PayloadField> = Definition {
    meaning: "A field of the tracepoint that a sample was taken at. Each has either a number or a text.",
    needs: Needs::PAYLOADS,
    len: |made| made.payload_fields.len(),
    rows: |made, rows| part(&made.payload_fields, rows),
    fields: FIELDS,
};

const FIELDS: &[Field] = &[
    profile_id(),
    Field::new(
        "sample_no",
        "The sample: `samples.sample_no`.",
        Value::Int64(|_, row| Some(i64::from(row.sample))),
    ),
    Field::new(
        "event",
        "Name of the event.",
        Value::Word(|made| &made.dictionaries.events, |made, row| Some(made.sample(row)?.event as usize)),
    )
    .optional(),
    Field::new(
        "field",
        "Name of the field.",
        Value::Word(|made| &made.dictionaries.trace_fields, |_, row| Some(row.name as usize)),
    ),
    Field::new(
        "number",
        "Its value, if it is a number; what is unsigned or an address as bits.",
        Value::Int64(|made, row| match made.value(row)? {
            FieldValue::U64(number) | FieldValue::Pointer(number) => bits(number),
            FieldValue::I64(number) => Some(number),
            _ => None,
        }),
    )
    .optional(),
    Field::new(
        "text",
        "Its value, if it is a text; bytes in hex, numbers of an array with commas between them.",
        Value::Text(|made, row| match made.value(row)? {
            FieldValue::Str(text) => Some(decoded(text)),
            FieldValue::Bytes(bytes) => Some(Cow::from(hex(bytes))),
            FieldValue::Array(array) => {
                let number = |number: perffile::tracepoint::Number| match number.int_type.signed {
                    true => number.bits.cast_signed().to_string(),
                    false => number.bits.to_string(),
                };
                Some(Cow::from(array.iter().map(number).collect::<Vec<_>>().join(",")))
            }
            _ => None,
        }),
    )
    .optional(),
];

impl Made {
    fn sample(&self, row: &PayloadField) -> Option<SampleRow> {
        self.profile().rows().get(row.sample as usize)
    }

    /// The tracepoint and the payload of a sample, if the recording describes it.
    pub(crate) fn payload(&self, row: &SampleRow) -> Option<(&Tracepoint, &[u8])> {
        let event = self.analysis.metadata.schema.event(row.event as usize)?;
        let details = self.profile().details();
        let payload = details.bytes(details.value(row.detail, DetailField::Raw));
        Some((self.catalog.of_payload(event.attr.tracepoint()?, payload)?, payload))
    }

    fn value(&self, row: &PayloadField) -> Option<FieldValue<'_>> {
        let (tracepoint, payload) = self.payload(&self.sample(row)?)?;
        let field = tracepoint.format.own_fields().get(row.field as usize)?;
        Some(field.value(payload, tracepoint.format.abi))
    }
}
