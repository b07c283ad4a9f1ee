//! Header features whose bytes were made outside of this project's code, and a recording that has one of them.

use perffile::bytes::Bytes;
use perffile::{ByteOrder, Container, Features, Issues, Metadata};
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// The golden features.
pub(crate) fn cases() -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/golden/records.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    golden["features"].as_array().unwrap().clone()
}

/// The bytes of a hex string.
pub(crate) fn bytes_of(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().unwrap();
    (0..hex.len() / 2).map(|nr| u8::from_str_radix(&hex[2 * nr..2 * nr + 2], 16).unwrap()).collect()
}

/// What is known of a recording with this one feature.
pub(crate) fn metadata(bit: u32, bytes: Vec<u8>, order: ByteOrder) -> Metadata {
    let mut features = Features::new(order);
    features.insert(bit, Bytes::new(bytes), 0);
    Metadata {
        container: Container::File,
        version: 2,
        order,
        schema: Arc::default(),
        features: Arc::new(features),
        compressed: false,
        kcore_dir: None,
        guest_kcore_dirs: Vec::new(),
        issues: Issues::default(),
    }
}
