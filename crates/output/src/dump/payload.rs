//! The payload of a tracepoint: its fields and its text.

use crate::json;
use crate::text::decoded;
use perffile::tracepoint::{Catalog, FieldValue, Number, SymbolNames, Tracepoint, TracingData};
use serde_json::{Map, Value};

/// The formats in a recording's tracing data, as far as they can be read.
pub(crate) fn catalog(blob: &[u8]) -> Catalog {
    match TracingData::parse(blob) {
        Ok(data) => Catalog::new(&data),
        Err(partial) => Catalog::new(&partial.data),
    }
}

/// What a payload says.
#[derive(Debug)]
pub(crate) struct Payload<'p> {
    tracepoint: &'p Tracepoint,
    bytes: &'p [u8],
    /// The text of its print format; where that cannot be made, a mark and the fields.
    pub(crate) text: String,
}

impl<'p> Payload<'p> {
    /// The payload of an event with this id, if the recording describes what wrote it.
    pub(crate) fn new(
        catalog: &'p Catalog,
        id: u64,
        bytes: &'p [u8],
        names: &dyn SymbolNames,
    ) -> Option<Self> {
        let tracepoint = catalog.of_payload(id, bytes)?;
        let mut text = Vec::new();
        catalog.write_text(id, bytes, names, &mut text)?;
        Some(Payload { tracepoint, bytes, text: decoded(&text).into_owned() })
    }

    /// Its own fields as JSON.
    pub(crate) fn fields(&self) -> Map<String, Value> {
        let values = self.tracepoint.format.field_values(self.bytes);
        values.map(|(field, value)| (field.name.clone(), shown(value))).collect()
    }
}

fn shown(value: FieldValue<'_>) -> Value {
    match value {
        FieldValue::U64(number) => number.into(),
        FieldValue::I64(number) => number.into(),
        FieldValue::Pointer(address) => json::address(address),
        FieldValue::Str(text) => decoded(text).into(),
        FieldValue::Bytes(bytes) => json::hex(bytes).into(),
        FieldValue::Array(array) => array.iter().map(integer).collect(),
        FieldValue::Missing => Value::Null,
    }
}

fn integer(number: Number) -> Value {
    if number.int_type.signed { number.bits.cast_signed().into() } else { number.bits.into() }
}
