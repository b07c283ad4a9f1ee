//! `readperf info`: what a recording says of itself: events and header features.
//!
//! As JSON here and in the files beside this one, as text in `words`.

mod attr;
mod features;
mod words;

use crate::json;
use perffile::Metadata;
use serde_json::{Value, json};
use std::io::{self, Write};

pub use words::write_text;

/// The metadata as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, metadata: &Metadata) -> io::Result<()> {
    let attrs: Vec<Value> = metadata.schema.events().iter().map(attr::json).collect();
    let guests: Vec<Value> = metadata
        .guest_kcore_dirs
        .iter()
        .map(|(pid, path)| json!({"pid": pid, "kcore_dir": path.display().to_string()}))
        .collect();
    let features = features::Told::of(metadata);
    let document = json!({
        "schema": json::SCHEMA,
        "container": metadata.container.to_string(),
        "version": metadata.version,
        "byte_order": metadata.order.to_string(),
        "compressed": metadata.compressed,
        "kcore_dir": metadata.kcore_dir.as_ref().map(|path| path.display().to_string()),
        "guests": guests,
        "damaged": metadata.issues.damaged(),
        "attrs": attrs,
        "features": features.values,
        "unknown_bytes": features.unknown_bytes,
        "unreadable_features": features.unreadable,
        "issues": json::issues(&metadata.issues),
    });
    json::write_pretty(&mut *out, &document)?;
    writeln!(out)
}
