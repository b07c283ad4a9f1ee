//! Header features as JSON. Their bytes were made outside of this project's code, from the ABI, in both byte orders; what is
//! added to them here must not change what kind of value a feature is.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod golden;

use golden::{bytes_of, cases, metadata};
use perffile::ByteOrder;
use perffile::wire::feature::bit;
use serde_json::{Value, json};
use std::mem::discriminant;

fn info(bit: u32, bytes: &[u8], order: ByteOrder) -> Value {
    let mut out = Vec::new();
    readperf_output::info::write_json(&mut out, &metadata(bit, bytes.to_vec(), order)).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The name of the only feature, and its value.
fn only(info: &Value) -> (String, Value) {
    let features = info["features"].as_object().unwrap();
    assert_eq!(features.len(), 1);
    features.iter().next().map(|(name, value)| (name.clone(), value.clone())).unwrap()
}

/// Every golden feature in both byte orders: name of the case, bit, bytes, order.
fn each(check: impl Fn(&str, u32, &[u8], ByteOrder)) {
    for case in cases() {
        let bit = u32::try_from(case["bit"].as_u64().unwrap()).unwrap();
        for (key, order) in [("little", ByteOrder::Little), ("big", ByteOrder::Big)] {
            check(case["name"].as_str().unwrap(), bit, &bytes_of(&case[key]), order);
        }
    }
}

#[test]
fn zeros_that_fill_a_record_of_a_pipe_change_nothing() {
    let cases = cases();
    let mut seen = 0;
    for case in &cases {
        let name = case["name"].as_str().unwrap();
        let Some(plain) = name.strip_suffix("_in_a_pipe") else { continue };
        let plain = cases.iter().find(|case| case["name"] == plain).unwrap();
        let bit = u32::try_from(case["bit"].as_u64().unwrap()).unwrap();
        for (key, order) in [("little", ByteOrder::Little), ("big", ByteOrder::Big)] {
            let filled = info(bit, &bytes_of(&case[key]), order);
            assert_eq!(filled, info(bit, &bytes_of(&plain[key]), order), "{name} {key}");
            assert_eq!(filled["unknown_bytes"], json!({}), "{name} {key}");
        }
        seen += 1;
    }
    assert!(seen >= 20, "{seen}");
}

/// CPU_TOPOLOGY, BUILD_ID and CPU_DOMAIN_INFO go on to their end: what is behind them belongs to them, or nothing can be read.
#[test]
fn bytes_of_a_newer_perf_do_not_change_what_kind_of_value_it_is() {
    each(|name, bit, bytes, order| {
        if [bit::TRACING_DATA, bit::BUILD_ID, bit::CPU_TOPOLOGY, bit::CPU_DOMAIN_INFO].contains(&bit)
            || name.ends_with("_in_a_pipe")
        {
            return;
        }
        let (plain, more) = (info(bit, bytes, order), info(bit, &[bytes, &[0, 7, 0]].concat(), order));
        let ((feature, plain), (_, value)) = (only(&plain), only(&more));
        assert_eq!(value, plain, "{name}");
        assert_eq!(more["unknown_bytes"][feature], "000700", "{name}");
    });
}

#[test]
fn an_empty_section_was_not_available_and_a_cut_one_says_so_elsewhere() {
    each(|name, bit, bytes, order| {
        let (_, plain) = only(&info(bit, bytes, order));
        let (_, empty) = only(&info(bit, &[], order));
        assert!(empty.is_null() || discriminant(&empty) == discriminant(&plain), "{name}: {empty}");
        if bytes.is_empty() || bit == bit::TRACING_DATA {
            return;
        }
        let cut = info(bit, &bytes[..bytes.len().min(3)], order);
        let (feature, value) = only(&cut);
        assert_eq!(value, Value::Null, "{name}");
        assert_eq!(cut["unreadable_features"][&feature]["size"], 3, "{name}");
        assert_eq!(cut["features"].as_object().unwrap().len(), 1, "{name}");
    });
    assert_eq!(only(&info(bit::CPUDESC, &[], ByteOrder::Little)), ("cpudesc".to_owned(), Value::Null));
    assert_eq!(only(&info(bit::STAT, &[1], ByteOrder::Little)), ("stat".to_owned(), Value::Bool(true)));
}

/// Without entries, and of a version that is not known, a feature is what it is with them.
#[test]
fn counts_of_nothing_do_not_change_what_kind_of_value_it_is() {
    each(|name, bit, bytes, order| {
        let (_, plain) = only(&info(bit, bytes, order));
        for blank in [vec![0; bytes.len()], vec![0xff; 4], vec![0xff; 8]] {
            let (_, value) = only(&info(bit, &blank, order));
            let same = value.is_null() || discriminant(&value) == discriminant(&plain);
            assert!(same, "{name}: {plain} and {value}");
        }
    });
}
