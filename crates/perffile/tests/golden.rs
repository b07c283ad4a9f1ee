//! Records, attrs and header features against bytes made outside our code, in both byte orders: each field by its value,
//! and the bytes again. The bytes come from a description of the ABI in Python (`tests/fixtures/golden`), and perf has
//! been asked what it reads in them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod wire_support;

use perffile::Features;
use perffile::bytes::Bytes;
use perffile::wire::endian::{Be, Le, Order};
use perffile::wire::feature::{FEATURES, Feature, bit};
use perffile::wire::pass::CpuCounts;
use perffile::wire::record::RECORDS;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use wire_support::case::{Parsed, attr_bytes, attr_of, attr_tree, bytes_of, cases, golden, shape_of};
use wire_support::expect::{Kind, differences};
use wire_support::tree::Tree;

/// Fails with all that was found, a line each.
fn nothing(found: Vec<String>) {
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

/// The golden fields as they are in one byte order: opaque bytes may depend on it.
fn fields_in(order: &str, case: &Json) -> Json {
    let mut fields = case["fields"].clone();
    for value in fields.as_object_mut().unwrap().values_mut() {
        if value.get("little").is_some() {
            *value = value[order].clone();
        }
    }
    fields
}

/// Whether a case has bytes inside that our code does not look into and that depend on the byte order.
fn is_opaque(case: &Json) -> bool {
    case["bit"].as_u64() == Some(u64::from(bit::TRACING_DATA))
        || case["fields"].as_object().unwrap().values().any(|value| value.get("little").is_some())
}

fn record_case<O: Order, Other: Order>(order: &str, other: &str, case: &Json, found: &mut Vec<String>) {
    let bytes = bytes_of(&case[order]);
    let shape = shape_of(&case["attr"]);
    let mut say = |what: String| found.push(format!("{} {order}: {what}", case["name"].as_str().unwrap()));
    let parsed = match Parsed::new::<O>(&bytes, &shape) {
        Ok(parsed) => parsed,
        Err(error) => return say(error.to_string()),
    };
    let head = parsed.head;
    let expected = (case["type"].as_u64().unwrap(), case["misc"].as_u64().unwrap(), bytes.len());
    if (u64::from(head.kind), u64::from(head.misc), usize::from(head.size)) != expected {
        say(format!("head {head:?}"));
    }
    if !parsed.rest.is_empty() {
        say(format!("{} bytes are left over", parsed.rest.len()));
    }
    let mut fields = fields_in(order, case);
    let sample_id = fields.as_object_mut().unwrap().remove("sample_id");
    differences(Kind::Record(u64::from(head.kind)), &fields, &parsed.describe())
        .into_iter()
        .for_each(&mut say);
    match (sample_id, parsed.describe_sample_id()) {
        (Some(golden), Some(ours)) => {
            let mut golden = golden;
            if let Some(res) = golden.as_object_mut().unwrap().remove("res") {
                golden["cpu_reserved"] = res;
            }
            differences(Kind::Record(0), &golden, &ours).into_iter().for_each(&mut say);
        }
        (None, None) => {}
        (golden, ours) => say(format!("trailer: ours {ours:?}, golden {golden:?}")),
    }
    if parsed.encode::<O>() != bytes {
        say(format!("writes other bytes:\n  {:02x?}\n  {:02x?}", parsed.encode::<O>(), bytes));
    }
    if !is_opaque(case) && parsed.encode::<Other>() != bytes_of(&case[other]) {
        say(format!(
            "writes other bytes in {other}:\n  {:02x?}\n  {:02x?}",
            parsed.encode::<Other>(),
            bytes_of(&case[other])
        ));
    }
}

#[test]
fn records() {
    let mut found = Vec::new();
    let cases = cases(&golden(), "records", 180);
    for case in &cases {
        record_case::<Le, Be>("little", "big", case, &mut found);
        record_case::<Be, Le>("big", "little", case, &mut found);
    }
    nothing(found);
    let covered: BTreeSet<u64> = cases.iter().map(|case| case["type"].as_u64().unwrap()).collect();
    let missing: Vec<_> = RECORDS.iter().filter(|kind| !covered.contains(&u64::from(kind.number))).collect();
    assert!(missing.is_empty(), "no golden case for {missing:?}");
}

fn attr_case<O: Order, Other: Order>(order: &str, other: &str, case: &Json, found: &mut Vec<String>) {
    let bytes = bytes_of(&case[order]);
    let (attr, left) = attr_of::<O>(&bytes);
    let mut say = |what: String| found.push(format!("{} {order}: {what}", case["name"].as_str().unwrap()));
    if left != 0 {
        say(format!("{left} bytes are left over"));
    }
    differences(Kind::Attr, &case["fields"], &attr_tree(&attr)).into_iter().for_each(&mut say);
    if attr_bytes::<O>(&attr) != bytes {
        say("writes other bytes".into());
    }
    if attr_bytes::<Other>(&attr) != bytes_of(&case[other]) {
        say(format!("writes other bytes in {other}"));
    }
}

#[test]
fn attrs() {
    let mut found = Vec::new();
    for case in &cases(&golden(), "attrs", 40) {
        attr_case::<Le, Be>("little", "big", case, &mut found);
        attr_case::<Be, Le>("big", "little", case, &mut found);
    }
    nothing(found);
}

fn feature_case<O: Order, Other: Order>(
    order: &str,
    other: &str,
    cpus: CpuCounts,
    case: &Json,
    found: &mut Vec<String>,
) {
    let bytes = bytes_of(&case[order]);
    let bit = u32::try_from(case["bit"].as_u64().unwrap()).unwrap();
    let mut say = |what: String| found.push(format!("{} {order}: {what}", case["name"].as_str().unwrap()));
    let (mut feature, rest) = match Feature::decode::<O>(bit, &bytes, cpus) {
        Ok(decoded) => decoded,
        Err(error) => return say(error.to_string()),
    };
    let fill = case["context"]["fill"].as_u64().unwrap_or_default();
    if rest.len() as u64 != fill {
        say(format!("{} bytes are left over, not {fill}", rest.len()));
    }
    let mut features = Features::new(O::ORDER);
    features.insert(bit, Bytes::new(bytes.clone()), 0);
    if !matches!(features.feature(bit), Some(Ok((_, [])))) {
        say("zeros that fill it up are not told apart from what is unknown".into());
    }
    // What TRACING_DATA holds is looked into elsewhere.
    if !matches!(feature, Feature::Raw(_)) {
        let ours = Tree::of(|tree| feature.describe(tree));
        differences(Kind::Feature(u64::from(bit)), &case["fields"], &ours).into_iter().for_each(&mut say);
    }
    let mut same = Vec::new();
    feature.encode::<O>(&mut same).unwrap();
    assert_eq!(feature.size(), same.len(), "the measured size is the written one");
    same.extend(rest);
    if same != bytes {
        say(format!("writes other bytes:\n  {same:02x?}\n  {bytes:02x?}"));
    }
    let mut swapped = Vec::new();
    feature.encode::<Other>(&mut swapped).unwrap();
    swapped.extend(rest);
    if !is_opaque(case) && swapped != bytes_of(&case[other]) {
        say(format!("writes other bytes in {other}"));
    }
}

#[test]
fn features() {
    let mut found = Vec::new();
    let cases = cases(&golden(), "features", 40);
    for case in &cases {
        let context = |name: &str| case["context"][name].as_u64().and_then(|n| u32::try_from(n).ok());
        let told = CpuCounts { available: context("nr_available"), online: context("nr_online") };
        // With and without what NRCPUS tells.
        for cpus in [told, CpuCounts::default()] {
            feature_case::<Le, Be>("little", "big", cpus, case, &mut found);
            feature_case::<Be, Le>("big", "little", cpus, case, &mut found);
        }
    }
    nothing(found);
    let covered: BTreeSet<u64> = cases.iter().map(|case| case["bit"].as_u64().unwrap()).collect();
    // Of CLN_SIZE no writer's source was at hand; simpleperf's are told by its own files.
    let without = |bit: u32| bit == bit::CLN_SIZE || bit >= bit::FILE;
    let missing: Vec<_> = FEATURES
        .iter()
        .filter(|kind| !covered.contains(&u64::from(kind.bit)) && !without(kind.bit))
        .collect();
    assert!(missing.is_empty(), "no golden case for {missing:?}");
}

/// Features that the golden file does not have: those of simpleperf, laid out as its own files have them, and CLN_SIZE.
#[test]
fn features_by_hand() {
    let symbols = |u32: fn(u32) -> [u8; 4], u64: fn(u64) -> [u8; 8]| {
        let (elf, kernel) = (b"/x\0".as_slice(), b"[k]\0".as_slice());
        let symbol = [&u64(0x1010)[..], &u32(0x20), b"f\0"].concat();
        // size, path, type, min_vaddr, number of symbols, symbols, and what newer writers add.
        let first = [&u32(41)[..], elf, &u32(2), &u64(0x1000), &u32(1), &symbol, &[7; 8]].concat();
        let second = [&u32(20)[..], kernel, &u32(0), &u64(0), &u32(0)].concat();
        [first, second].concat()
    };
    let (little, big) =
        (symbols(u32::to_le_bytes, u64::to_le_bytes), symbols(u32::to_be_bytes, u64::to_be_bytes));
    let (one, rest) = Feature::decode::<Le>(bit::FILE, &little, CpuCounts::default()).unwrap();
    assert!(rest.is_empty());
    let Feature::File(files) = &one else { panic!("{one:?}") };
    let [first, second] = files.files.as_slice() else { panic!("{files:?}") };
    assert_eq!((first.path, first.kind.0, first.min_vaddr, first.tail), (&b"/x"[..], 2, 0x1000, &[7; 8][..]));
    let [symbol] = first.symbols.as_slice() else { panic!("{first:?}") };
    assert_eq!((symbol.addr, symbol.len, symbol.name), (0x1010, 0x20, &b"f"[..]));
    assert_eq!((second.path, second.symbols.len(), second.tail), (&b"[k]"[..], 0, &[][..]));
    both_orders(bit::FILE, &little, &big);

    let pairs = b"clockid\0monotonic\0empty\0\0";
    let (meta, _) = Feature::decode::<Le>(bit::META_INFO, pairs, CpuCounts::default()).unwrap();
    let Feature::MetaInfo(meta) = meta else { panic!("{meta:?}") };
    assert_eq!((meta.value("clockid"), meta.value("empty")), (Some(&b"monotonic"[..]), Some(&b""[..])));
    both_orders(bit::META_INFO, pairs, pairs);
    let error = Feature::decode::<Le>(bit::META_INFO, b"key\0value", CpuCounts::default()).unwrap_err();
    assert_eq!((error.field, error.at), ("value", 4));

    both_orders(bit::FILE2, b"\x03\0\0\0abc\0\0\0\0", b"\0\0\0\x03abc\0\0\0\0");
    both_orders(bit::CLN_SIZE, &[64, 0, 0, 0], &[0, 0, 0, 64]);
}

fn both_orders(bit: u32, little: &[u8], big: &[u8]) {
    let (of_little, rest) = Feature::decode::<Le>(bit, little, CpuCounts::default()).unwrap();
    assert!(rest.is_empty(), "feature {bit} leaves {} bytes over", rest.len());
    let (of_big, _) = Feature::decode::<Be>(bit, big, CpuCounts::default()).unwrap();
    for mut feature in [of_little, of_big] {
        let (mut as_little, mut as_big) = (Vec::new(), Vec::new());
        feature.encode::<Le>(&mut as_little).unwrap();
        feature.encode::<Be>(&mut as_big).unwrap();
        assert_eq!((as_little.as_slice(), as_big.as_slice()), (little, big), "feature {bit}");
        assert_eq!(feature.size(), little.len());
    }
}
