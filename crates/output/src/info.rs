//! `readperf info`: what a recording says of itself: events and header features.

use crate::json::{self, Tree};
use crate::text::{grouped, printable};
use perffile::wire::attr::{AttrFlags, EventAttr};
use perffile::wire::describe::Describe;
use perffile::wire::feature::{self, Feature};
use perffile::wire::pass::Fields;
use perffile::{EventDescription, Metadata};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// The metadata as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, metadata: &Metadata) -> io::Result<()> {
    let attrs: Vec<Value> = metadata.schema.events().iter().map(attr_json).collect();
    let document = json!({
        "schema": json::SCHEMA,
        "container": metadata.container.to_string(),
        "version": metadata.version,
        "byte_order": metadata.order.to_string(),
        "compressed": metadata.compressed,
        "damaged": metadata.issues.damaged(),
        "attrs": attrs,
        "features": features_json(metadata),
        "issues": json::issues(&metadata.issues),
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn attr_json(event: &EventDescription) -> Value {
    let mut tree = Tree::from(Map::from_iter([("name".to_owned(), Value::from(event.name.as_str()))]));
    describe_attr(&event.attr, &mut tree);
    let mut object = tree.finish();
    object.insert("sample_type_names".into(), event.attr.sample_type.names().into());
    object.insert("read_format_names".into(), event.attr.read_format.names().into());
    object.insert("flag_names".into(), flag_names(event.attr.flags).into());
    if let Some(unit) = &event.unit {
        object.insert("unit".into(), unit.as_str().into());
    }
    if let Some(scale) = event.scale {
        object.insert("scale".into(), scale.into());
    }
    object.insert("ids".into(), event.ids.clone().into());
    Value::Object(object)
}

fn describe_attr(attr: &EventAttr, tree: &mut Tree) {
    let shape = Default::default();
    // Describing an attr cannot fail: it has no counts.
    let _ = attr.clone().fields(&mut Describe::new(tree, &shape, 0));
}

/// Names of the set flags; `precise_ip`, which has two bits, with its value.
fn flag_names(flags: AttrFlags) -> Vec<String> {
    let mut names = flags.names();
    names.retain(|name| !name.starts_with("precise_ip"));
    if flags.precise_ip() > 0 {
        names.push(format!("precise_ip={}", flags.precise_ip()));
    }
    names
}

/// Every feature by its name in lower case. One of a single field is that value; one without payload is `true`.
fn features_json(metadata: &Metadata) -> Value {
    let mut object = Map::new();
    for bit in metadata.features.bits() {
        let name = feature::name(bit).map_or_else(|| format!("feature_{bit}"), str::to_lowercase);
        object.insert(name, feature_json(metadata, bit));
    }
    Value::Object(object)
}

fn feature_json(metadata: &Metadata, bit: u32) -> Value {
    let size = metadata.features.bytes(bit).map_or(0, <[u8]>::len);
    match metadata.features.feature(bit) {
        Some(Ok((Feature::Raw(_), _))) if size == 0 => Value::Bool(true),
        Some(Ok((Feature::Raw(_), _))) => json!({ "size": size }),
        Some(Ok((decoded, rest))) => {
            let mut tree = Tree::default();
            decoded.describe(&mut tree);
            let mut fields = tree.finish();
            if !rest.is_empty() {
                fields.insert("unknown_bytes".into(), json::hex(rest).into());
            }
            simplified(bit, fields)
        }
        Some(Err(error)) => json!({ "size": size, "error": error.to_string() }),
        None => Value::Null,
    }
}

/// One field needs no name, and a count beside its list says nothing.
fn simplified(bit: u32, mut fields: Map<String, Value>) -> Value {
    if fields.values().any(Value::is_array) {
        fields.retain(|name, _| name != "count" && name != "nr" && !name.starts_with("nr_"));
    }
    if bit == feature::bit::TOTAL_MEM || fields.len() != 1 {
        return Value::Object(fields);
    }
    fields.into_iter().next().map_or(Value::Null, |(_, value)| value)
}

/// The metadata as text.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, metadata: &Metadata) -> io::Result<()> {
    let compressed = if metadata.compressed { ", compressed" } else { "" };
    writeln!(
        out,
        "{:<16} {} (version {}, {}-endian{compressed})",
        "recording", metadata.container, metadata.version, metadata.order
    )?;
    for bit in metadata.features.bits() {
        let name = feature::name(bit).map_or_else(|| format!("feature {bit}"), str::to_lowercase);
        feature_text(out, &name, &feature_json(metadata, bit))?;
    }
    for event in metadata.schema.events() {
        event_text(out, event)?;
    }
    Ok(())
}

fn feature_text(out: &mut impl Write, name: &str, value: &Value) -> io::Result<()> {
    match value {
        Value::Bool(_) => writeln!(out, "{name:<16} yes"),
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("size") => {
            writeln!(
                out,
                "{name:<16} {} bytes",
                grouped(fields.get("size").and_then(Value::as_u64).unwrap_or(0))
            )
        }
        Value::Object(fields) => {
            let parts: Vec<String> =
                fields.iter().map(|(name, value)| format!("{name} {}", inline(value))).collect();
            writeln!(out, "{name:<16} {}", parts.join(", "))
        }
        Value::Array(values) if values.iter().any(Value::is_object) => {
            writeln!(out, "{name}")?;
            values.iter().try_for_each(|value| writeln!(out, "{:<16} {}", "", inline(value)))
        }
        value => writeln!(out, "{name:<16} {}", inline(value)),
    }
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => printable(text).into_owned(),
        Value::Array(values) => values.iter().map(inline).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            let shown = fields.iter().filter(|(_, value)| !matches!(value, Value::Object(_)));
            shown.map(|(name, value)| format!("{name} {}", inline(value))).collect::<Vec<_>>().join("  ")
        }
        other => other.to_string(),
    }
}

fn event_text(out: &mut impl Write, event: &EventDescription) -> io::Result<()> {
    let attr = &event.attr;
    let rate = if attr.flags.has(AttrFlags::freq) { "Hz" } else { "per sample" };
    writeln!(out, "\nevent {}", printable(&event.name))?;
    writeln!(out, "  type {} config {:#x}, {} {rate}", attr.kind, attr.config, grouped(attr.sample_period))?;
    writeln!(out, "  samples hold  {}", attr.sample_type.names().join(" "))?;
    if attr.read_format.0 != 0 {
        writeln!(out, "  counts hold   {}", attr.read_format.names().join(" "))?;
    }
    writeln!(out, "  flags         {}", flag_names(attr.flags).join(" "))?;
    let ids: Vec<String> = event.ids.iter().take(8).map(u64::to_string).collect();
    let more = if event.ids.len() > 8 { format!(" … ({} in all)", event.ids.len()) } else { String::new() };
    writeln!(out, "  ids           {}{more}", ids.join(" "))
}
