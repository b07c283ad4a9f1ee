//! Header features as JSON: by the fields of their declarations, but for those that are read more easily otherwise.

use crate::json::{self, Tree};
use crate::text::decoded;
use perffile::tracepoint::{Catalog, TracingData};
use perffile::wire::feature::build_id::{BuildIdEntry, BuildIds};
use perffile::wire::feature::{self, Feature, bit};
use perffile::wire::head::CpuMode;
use perffile::{ByteOrder, Metadata};
use serde_json::{Map, Value, json};

/// The header features of a recording as JSON. The type of a feature's value follows from its declaration alone: what else
/// may be said of a section stands beside.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Every feature by its name in lower case. One of a single field is that value, one without payload is `true`, one
    /// that was not available or cannot be read is `null`.
    pub(super) values: Map<String, Value>,
    /// Bytes behind the fields that are known here, in hex, by feature.
    pub(super) unknown_bytes: Map<String, Value>,
    /// What is wrong with a section that cannot be read, and its size, by feature.
    pub(super) unreadable: Map<String, Value>,
}

impl Told {
    /// All features of a recording.
    pub(super) fn of(metadata: &Metadata) -> Told {
        let mut told = Told::default();
        for bit in metadata.features.bits() {
            let name = feature::name(bit).map_or_else(|| format!("feature_{bit}"), str::to_lowercase);
            let value = told.value(metadata, bit, &name);
            told.values.insert(name, value);
        }
        told
    }

    fn value(&mut self, metadata: &Metadata, bit: u32, name: &str) -> Value {
        let bytes = metadata.features.bytes(bit).unwrap_or_default();
        let (decoded, rest) = match metadata.features.feature(bit) {
            Some(Ok(told)) => told,
            Some(Err(error)) => {
                let what = json!({ "size": bytes.len(), "error": error.to_string() });
                self.unreadable.insert(name.to_owned(), what);
                return Value::Null;
            }
            None => return Value::Null,
        };
        let unknown = if feature::is_flag(bit) { bytes } else { rest };
        if !unknown.is_empty() {
            self.unknown_bytes.insert(name.to_owned(), json::hex(unknown).into());
        }
        match decoded {
            Feature::Raw(_) if feature::is_flag(bit) => Value::Bool(true),
            Feature::Raw(_) if bit == bit::TRACING_DATA => tracing_data(bytes),
            Feature::Raw(_) => json!({ "size": bytes.len() }),
            Feature::BuildId(ids) => build_ids(&ids),
            mut decoded => {
                let mut tree = Tree::default();
                decoded.describe(&mut tree);
                simplified(bit, tree.finish())
            }
        }
    }
}

/// One field needs no name, a count beside its list says nothing, and neither does what fills a gap.
fn simplified(bit: u32, mut fields: Map<String, Value>) -> Value {
    drop_padding(&mut fields);
    // What is empty now counts: it may be there in another recording.
    let is_single = fields.len() == 1;
    drop_empty(&mut fields);
    if bit == bit::TOTAL_MEM || !is_single {
        return Value::Object(fields);
    }
    fields.into_iter().next().map_or(Value::Null, |(_, value)| value)
}

/// Takes out the fields that hold no information, at every depth. The depth is that of the declarations.
fn drop_padding(fields: &mut Map<String, Value>) {
    let lists = fields.values().any(Value::is_array);
    fields.retain(|name, _| match name.as_str() {
        "gap" | "reserved" | "reserved_2" => false,
        name => !(lists && (name == "count" || name == "nr" || name.starts_with("nr_"))),
    });
    each_inner(fields, drop_padding);
}

/// Takes out what newer writers may add and did not, at every depth.
fn drop_empty(fields: &mut Map<String, Value>) {
    fields.retain(|name, value| !matches!(name.as_str(), "other" | "tail") || value.as_str() != Some(""));
    each_inner(fields, drop_empty);
}

fn each_inner(fields: &mut Map<String, Value>, change: fn(&mut Map<String, Value>)) {
    for value in fields.values_mut() {
        match value {
            Value::Object(inner) => change(inner),
            Value::Array(values) => values.iter_mut().filter_map(Value::as_object_mut).for_each(change),
            _ => {}
        }
    }
}

/// Build-ids as people ask for them: which id, of which file, in which machine.
fn build_ids(ids: &BuildIds<'_>) -> Value {
    let one = |entry: &BuildIdEntry<'_>| {
        let mut object = Map::new();
        object.insert("build_id".into(), json::hex(entry.id()).into());
        object.insert("path".into(), decoded(entry.name()).into());
        if let Some(pid) = entry.pid {
            object.insert("machine_pid".into(), pid.into());
        }
        object.insert("mode".into(), mode_name(entry.misc).into());
        Value::Object(object)
    };
    ids.entries.iter().map(one).collect()
}

/// The CPU mode in a build-id's `misc`, in words.
pub(super) fn mode_name(misc: u16) -> String {
    CpuMode::of(misc).name().unwrap_or("unknown").replace('_', " ")
}

/// The parts of a tracing data blob; of a damaged one, those before the damage.
fn tracing_data(blob: &[u8]) -> Value {
    let (data, error) = parse_tracing_data(blob);
    let event = |(id, tracepoint): (u64, &perffile::tracepoint::Tracepoint)| json!({ "system": tracepoint.system, "name": tracepoint.format.name, "id": id });
    let events: Vec<Value> = Catalog::new(&data).iter().map(event).collect();
    let mut value = json!({
        "version": decoded(data.version),
        "byte_order": data.endian().to_string(),
        "long_size": data.long_size,
        "page_size": data.page_size,
        "events": events,
        "kallsyms_bytes": data.kallsyms.len(),
        "printk_bytes": data.printk_formats.len(),
        "cmdlines_bytes": data.saved_cmdlines.map_or(0, <[u8]>::len),
    });
    if let (Some(error), Some(object)) = (error, value.as_object_mut()) {
        object.insert("error".into(), error.into());
    }
    value
}

/// The blob taken apart, and what was wrong with it.
pub(super) fn parse_tracing_data(blob: &[u8]) -> (TracingData<'_>, Option<String>) {
    match TracingData::parse(blob) {
        Ok(data) => (data, None),
        Err(partial) => (partial.data, Some(partial.error.to_string())),
    }
}

/// Byte order in words.
pub(super) fn endian_name(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little-endian",
        ByteOrder::Big => "big-endian",
    }
}
