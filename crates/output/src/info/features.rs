//! Header features as JSON: by the fields of their declarations, but for those that are read more easily otherwise.

use crate::json::{self, Tree};
use perffile::tracepoint::{Catalog, TracingData};
use perffile::wire::feature::build_id::{BuildIdEntry, BuildIds};
use perffile::wire::feature::{self, Feature, bit};
use perffile::wire::head::CpuMode;
use perffile::{ByteOrder, Metadata};
use serde_json::{Map, Value, json};

/// Every feature by its name in lower case. One of a single field is that value; one without payload is `true`.
pub(super) fn json(metadata: &Metadata) -> Value {
    let mut object = Map::new();
    for bit in metadata.features.bits() {
        let name = feature::name(bit).map_or_else(|| format!("feature_{bit}"), str::to_lowercase);
        object.insert(name, feature_json(metadata, bit));
    }
    Value::Object(object)
}

fn feature_json(metadata: &Metadata, bit: u32) -> Value {
    let bytes = metadata.features.bytes(bit).unwrap_or_default();
    match metadata.features.feature(bit) {
        Some(Ok((Feature::Raw(_), _))) if bytes.is_empty() => Value::Bool(true),
        Some(Ok((Feature::Raw(_), _))) if bit == bit::TRACING_DATA => tracing_data(bytes),
        Some(Ok((Feature::Raw(_), _))) => json!({ "size": bytes.len() }),
        Some(Ok((Feature::BuildId(ids), _))) => build_ids(&ids),
        Some(Ok((decoded, rest))) => {
            let mut tree = Tree::default();
            decoded.describe(&mut tree);
            let mut fields = tree.finish();
            if !rest.is_empty() {
                fields.insert("unknown_bytes".into(), json::hex(rest).into());
            }
            simplified(bit, fields)
        }
        Some(Err(error)) => json!({ "size": bytes.len(), "error": error.to_string() }),
        None => Value::Null,
    }
}

/// One field needs no name, a count beside its list says nothing, and neither does what fills a gap.
fn simplified(bit: u32, mut fields: Map<String, Value>) -> Value {
    drop_padding(&mut fields);
    if bit == bit::TOTAL_MEM || fields.len() != 1 {
        return Value::Object(fields);
    }
    fields.into_iter().next().map_or(Value::Null, |(_, value)| value)
}

/// Takes out the fields that hold no information, at every depth. The depth is that of the declarations.
fn drop_padding(fields: &mut Map<String, Value>) {
    let lists = fields.values().any(Value::is_array);
    fields.retain(|name, value| match name.as_str() {
        "gap" | "reserved" | "reserved_2" => false,
        "other" | "tail" => value.as_str() != Some(""),
        name => !(lists && (name == "count" || name == "nr" || name.starts_with("nr_"))),
    });
    for value in fields.values_mut() {
        match value {
            Value::Object(inner) => drop_padding(inner),
            Value::Array(values) => values.iter_mut().filter_map(Value::as_object_mut).for_each(drop_padding),
            _ => {}
        }
    }
}

/// Build-ids as people ask for them: which id, of which file, in which machine.
fn build_ids(ids: &BuildIds<'_>) -> Value {
    let one = |entry: &BuildIdEntry<'_>| {
        let mut object = Map::new();
        object.insert("build_id".into(), json::hex(entry.id()).into());
        object.insert("path".into(), String::from_utf8_lossy(entry.name()).into());
        if let Some(pid) = entry.pid {
            object.insert("machine_pid".into(), pid.into());
        }
        object.insert("mode".into(), mode_name(entry.misc).into());
        Value::Object(object)
    };
    ids.entries.iter().map(one).collect()
}

/// The CPU mode in a build-id's `misc`, in words.
pub(super) fn mode_name(misc: u16) -> &'static str {
    match CpuMode::of(misc) {
        CpuMode::Unknown => "unknown",
        CpuMode::Kernel => "kernel",
        CpuMode::User => "user",
        CpuMode::Hypervisor => "hypervisor",
        CpuMode::GuestKernel => "guest kernel",
        CpuMode::GuestUser => "guest user",
    }
}

/// The parts of a tracing data blob; of a damaged one, those before the damage.
fn tracing_data(blob: &[u8]) -> Value {
    let (data, error) = parse_tracing_data(blob);
    let event = |(id, tracepoint): (u64, &perffile::tracepoint::Tracepoint)| json!({ "system": tracepoint.system, "name": tracepoint.format.name, "id": id });
    let events: Vec<Value> = Catalog::new(&data).iter().map(event).collect();
    let mut value = json!({
        "version": String::from_utf8_lossy(data.version),
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
