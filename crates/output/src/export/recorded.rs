//! What else was recorded of samples: addresses of data, weights, payloads of tracepoints. For formats that tell every sample.

use crate::dump::payload::{Payload, catalog};
use crate::export::Export;
use crate::json;
use perffile::tracepoint::{Catalog, NoSymbols};
use perffile::wire::feature::bit;
use readperf_profile::{DetailField, SampleRow, Value};
use serde_json::{Map, Value as Json};
use std::fmt;

/// The numbers, by what they are called.
pub(crate) const NUMBERS: [(&str, DetailField); 10] = [
    ("addr", DetailField::DataAddress),
    ("phys_addr", DetailField::PhysicalAddress),
    ("weight", DetailField::Weight),
    ("ins_lat", DetailField::InstructionLatency),
    ("p_stage_cyc", DetailField::StageCycles),
    ("data_src", DetailField::DataSource),
    ("transaction", DetailField::Transaction),
    ("cgroup", DetailField::Cgroup),
    ("data_page_size", DetailField::DataPageSize),
    ("code_page_size", DetailField::CodePageSize),
];

/// What has to be kept of samples for that.
pub(crate) const DETAILS: &[DetailField] = &[
    DetailField::DataAddress,
    DetailField::PhysicalAddress,
    DetailField::Weight,
    DetailField::InstructionLatency,
    DetailField::StageCycles,
    DetailField::DataSource,
    DetailField::Transaction,
    DetailField::Cgroup,
    DetailField::DataPageSize,
    DetailField::CodePageSize,
    DetailField::Raw,
];

/// A number of a sample, as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    /// In decimal.
    Plain(u64),
    /// In hex.
    Address(u64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Plain(number) => write!(f, "{number}"),
            Number::Address(address) => write!(f, "{address:#x}"),
        }
    }
}

/// Looks up what was recorded.
#[derive(Debug)]
pub(crate) struct Recorded<'x> {
    export: Export<'x>,
    catalog: Catalog,
}

/// A payload.
#[derive(Debug)]
pub(crate) enum Told {
    /// Of a tracepoint that the recording describes: what perf prints of it, and its fields.
    Tracepoint(String, Map<String, Json>),
    /// Of anything else: its bytes in hex.
    Bytes(String),
}

impl<'x> Recorded<'x> {
    /// For the samples of a profile.
    pub(crate) fn new(export: Export<'x>) -> Self {
        let catalog = export.metadata.features.bytes(bit::TRACING_DATA).map(catalog).unwrap_or_default();
        Recorded { export, catalog }
    }

    /// A number; nothing if it was not recorded.
    pub(crate) fn number(&self, row: &SampleRow, field: DetailField) -> Option<Number> {
        match self.export.profile.details().value(row.detail, field) {
            Value::Number(number) | Value::Size(number) => Some(Number::Plain(number)),
            Value::Address(address) => Some(Number::Address(address)),
            _ => None,
        }
    }

    /// The address at which a sample was taken.
    pub(crate) fn ip(&self, row: &SampleRow) -> Option<Number> {
        Some(Number::Address(self.export.profile.addresses().get(row.address)?.ip))
    }

    /// The payload of a sample, if it has one.
    pub(crate) fn payload(&self, row: &SampleRow) -> Option<Told> {
        let details = self.export.profile.details();
        let value = details.value(row.detail, DetailField::Raw);
        if value == Value::Unknown {
            return None;
        }
        let bytes = details.bytes(value);
        let event = self.export.metadata.schema.event(row.event as usize);
        let tracepoint = event.and_then(|event| event.attr.tracepoint());
        let payload = tracepoint.and_then(|id| Payload::new(&self.catalog, id, bytes, &NoSymbols));
        Some(match payload {
            Some(payload) => Told::Tracepoint(payload.text.trim_end().to_owned(), payload.fields()),
            None => Told::Bytes(json::hex(bytes)),
        })
    }
}
