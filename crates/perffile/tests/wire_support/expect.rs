//! Compares what our code says of some bytes with what the golden file says. Names may differ by the table below, where
//! two fields of ours would have the same name as something else; values and their order may not.

use super::case::{bytes_of, flag};
use super::tree::Value;
use perffile::wire::attr::AttrFlags;
use serde_json::{Map, Value as Json, json};

/// Which case a name belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A record, by its type.
    Record(u64),
    /// A feature, by its bit.
    Feature(u64),
    /// An attr.
    Attr,
}
use Kind::{Feature, Record};

/// Where the golden file and our declarations use different names: case, its name, ours.
const NAMES: &[(Kind, &str, &str)] = &[
    (Record(16), "link_info", "namespaces"),
    (Record(16), "ino", "inode"),
    (Record(18), "type", "bpf_type"),
    (Record(18), "id", "prog_id"),
    (Record(19), "id", "cgroup_id"),
    (Record(65), "name", "event_name"),
    (Record(66), "size", "data_size"),
    (Record(67), "size", "build_id_size"),
    (Record(70), "type", "auxtrace_type"),
    (Record(70), "priv", "priv_data"),
    (Record(71), "size", "data_size"),
    (Record(71), "offset", "aux_offset"),
    (Record(72), "type", "error_type"),
    (Record(72), "cpu", "cpu_nr"),
    (Record(72), "time", "error_time"),
    (Record(73), "entries", "threads"),
    (Record(74), "type", "map_type"),
    (Record(74), "cpu", "cpus"),
    (Record(75), "data", "settings"),
    (Record(76), "id", "event_id"),
    (Record(77), "type", "round_type"),
    (Record(77), "time", "round_time"),
    (Record(78), "type", "update_type"),
    (Record(78), "id", "event_id"),
    (Record(85), "cpu", "cpu_nr"),
    (Record(86), "cpu", "cpu_nr"),
    (Feature(7), "nr_available", "available"),
    (Feature(7), "nr_online", "online"),
    (Feature(10), "total_mem_kb", "kib"),
    (Feature(11), "cmdline", "words"),
];

/// The features that are one string.
const TEXT_FEATURES: &[u64] = &[3, 4, 5, 6, 8, 9];

/// Fields of ours that the golden file may leave out: counts, which the lists themselves tell, and what pads. That they are
/// right is told by writing the bytes again.
const COUNTS_AND_PADS: &[&str] = &[
    "nr",
    "nr_events",
    "nr_cores",
    "nr_threads",
    "nr_dies",
    "nr_caps",
    "nr_pmu",
    "nr_ids",
    "nr_domains",
    "count",
    "pad",
    "padding",
    "mask_pad",
    "range_pad",
    "reserved",
    "reserved_2",
    "build_id_reserved",
    "cpu_reserved",
    "unused",
    "bitmap_bits",
];

/// `perf_branch_entry` of the kernel header, its bit-fields and their widths.
const BRANCH_FLAGS: &[(&str, u32)] = &[
    ("mispred", 1),
    ("predicted", 1),
    ("in_tx", 1),
    ("abort", 1),
    ("cycles", 16),
    ("type", 4),
    ("spec", 2),
    ("new_type", 4),
    ("priv", 3),
];

/// Says where `ours` differs from `golden`.
pub(crate) fn differences(kind: Kind, golden: &Json, ours: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let golden = reshaped(kind, golden.clone());
    compare(kind, "", &golden, ours, &mut found);
    found
}

/// The golden fields in the structure of our declarations, where that is another one.
fn reshaped(kind: Kind, mut golden: Json) -> Json {
    match (kind, golden.as_object_mut()) {
        (Record(9), Some(fields)) => {
            if let Some(Json::Object(parts)) = fields.get("weight").cloned() {
                fields.remove("weight");
                fields.insert("weight_struct".into(), parts["full"].clone());
            }
            if let Some(res) = fields.remove("res") {
                fields.insert("cpu_reserved".into(), res);
            }
            if let Some(branches) = fields.get_mut("branch_stack") {
                branches["entries"].as_array_mut().unwrap().iter_mut().for_each(fold_branch_flags);
            }
        }
        // The second array is a list of its own on the wire.
        (Record(69), Some(fields)) => {
            let entries = fields["entries"].as_array_mut().unwrap();
            let guests: Vec<Json> = entries.iter_mut().filter_map(take_guest).collect();
            fields.insert("guests".into(), Json::Array(guests));
        }
        (Record(74), Some(fields)) => return fields["data"].clone(),
        (Record(78), Some(fields)) => {
            if let Some(cpus) = fields.get_mut("cpus").and_then(Json::as_object_mut) {
                for (golden, ours) in [("type", "map_type"), ("cpu", "cpus")] {
                    let value = cpus.remove(golden).unwrap();
                    cpus.insert(ours.into(), value);
                }
            }
        }
        (Record(79), Some(fields)) if fields.contains_key("time_cycles") => {
            let names = ["time_cycles", "time_mask", "cap_user_time_zero", "cap_user_time_short"];
            let short: Map<String, Json> =
                names.iter().map(|n| ((*n).into(), fields.remove(*n).unwrap())).collect();
            fields.insert("short".into(), Json::Object(short));
        }
        (Record(81 | 83), Some(fields)) => {
            fields.remove("decompressed_hex");
        }
        // Counters: which one is where depends on the version.
        (Record(86), Some(fields)) => {
            let known = ["timestamp", "cpu", "version", "domain"];
            let names: Vec<String> =
                fields.keys().filter(|k| !known.contains(&k.as_str())).cloned().collect();
            let mut counters: Vec<u64> =
                names.iter().map(|n| fields.remove(n).unwrap().as_u64().unwrap()).collect();
            // The golden bytes have ascending values, JSON has no order.
            counters.sort_unstable();
            fields.insert("counters".into(), json!(counters));
        }
        (Feature(bit), Some(fields)) if TEXT_FEATURES.contains(&bit) => {
            return json!({ "text": fields["string"] });
        }
        _ => {}
    }
    golden
}

fn take_guest(entry: &mut Json) -> Option<Json> {
    let entry = entry.as_object_mut().unwrap();
    let machine_pid = entry.remove("machine_pid")?;
    Some(json!({ "machine_pid": machine_pid, "vcpu": entry.remove("vcpu").unwrap() }))
}

fn fold_branch_flags(entry: &mut Json) {
    let entry = entry.as_object_mut().unwrap();
    let (mut flags, mut shift) = (0, 0);
    for (name, width) in BRANCH_FLAGS {
        flags |= entry.remove(*name).unwrap().as_u64().unwrap() << shift;
        shift += width;
    }
    entry.insert("flags".into(), json!(flags));
}

fn compare(kind: Kind, path: &str, golden: &Json, ours: &Value, found: &mut Vec<String>) {
    let equal = match (golden, ours) {
        (Json::Object(golden), Value::Map(ours)) => return compare_maps(kind, path, golden, ours, found),
        (Json::Object(flags), Value::Unsigned(ours)) if path.ends_with("flags") => {
            return compare_flags(path, flags, AttrFlags(*ours), found);
        }
        // A payload of the record is one field of ours.
        (Json::Object(payload), Value::Bytes(ours)) if payload.contains_key("data_hex") => {
            bytes_of(&payload["data_hex"]) == *ours && payload["size"].as_u64() == Some(ours.len() as u64)
        }
        (Json::Array(golden), Value::List(ours)) => {
            if golden.len() != ours.len() {
                found.push(format!("{path}: {} elements, not {}", ours.len(), golden.len()));
            }
            for (nr, (golden, ours)) in golden.iter().zip(ours).enumerate() {
                // A list of structures with one field is a list of numbers.
                let ours = match (golden, ours) {
                    (Json::Object(_), _) => ours,
                    (_, Value::Map(fields)) if fields.len() == 1 => &fields[0].1,
                    _ => ours,
                };
                compare(kind, &format!("{path}[{nr}]"), golden, ours, found);
            }
            return;
        }
        (_, Value::Unsigned(ours)) => {
            integer(golden) == Some(i128::from(*ours)) || is_minus_one(golden, *ours)
        }
        // Numbers that the golden file has as unsigned although they are -1 in some cases.
        (_, Value::Signed(ours)) => {
            let golden = integer(golden);
            golden == Some(i128::from(*ours))
                || golden == i32::try_from(*ours).ok().map(|n| i128::from(n.cast_unsigned()))
        }
        (_, Value::Float(ours)) => golden.as_f64().map(f64::to_bits) == Some(*ours),
        (Json::String(golden), Value::Text(ours)) => golden.as_bytes() == ours.as_slice(),
        (Json::String(_), Value::Bytes(ours)) if path.ends_with("_hex") => {
            same_bytes(kind, path, &bytes_of(golden), ours)
        }
        // A name in a field of bytes ends at its NUL.
        (Json::String(golden), Value::Bytes(ours)) => {
            Some(golden.as_bytes()) == ours.split(|byte| *byte == 0).next()
        }
        _ => false,
    };
    if !equal {
        found.push(format!("{path}: ours {ours:?}, golden {golden}"));
    }
}

fn compare_maps(
    kind: Kind,
    path: &str,
    golden: &Map<String, Json>,
    ours: &[(String, Value)],
    found: &mut Vec<String>,
) {
    let mut seen = Vec::new();
    for (name, value) in golden {
        let renamed =
            NAMES.iter().find(|(k, golden, _)| *k == kind && golden == name).map(|(_, _, ours)| *ours);
        let our_name = renamed.unwrap_or(name.strip_suffix("_hex").unwrap_or(name));
        let path = format!("{path}.{name}");
        match ours.iter().find(|(ours, _)| ours == our_name) {
            Some((_, ours)) => compare(kind, &path, value, ours, found),
            None if is_empty(value) || is_count_of(name, value, golden) => {}
            None => found.push(format!("{path}: golden {value}, ours has no such field")),
        }
        seen.push(our_name);
    }
    for (name, value) in ours {
        let by_the_way = COUNTS_AND_PADS.contains(&name.as_str())
            || matches!(value, Value::Bytes(bytes) if bytes.is_empty())
            || matches!(value, Value::List(list) if list.is_empty())
            // The head of each entry of the build-id table.
            || (kind == Record(67) && name == "build_id_size" && *value == Value::Unsigned(0))
            || (kind == Feature(2) && ["type", "size", "build_id_size"].contains(&name.as_str()));
        if !seen.contains(&name.as_str()) && !by_the_way {
            found.push(format!("{path}: ours has {name} {value:?}, golden has no such field"));
        }
    }
}

/// Whether a golden field counts a list beside it, and does so rightly.
fn is_count_of(name: &str, value: &Json, golden: &Map<String, Json>) -> bool {
    (name.starts_with("nr") || name == "count")
        && golden.values().any(|list| list.as_array().map(|l| l.len() as u64) == value.as_u64())
}

fn compare_flags(path: &str, golden: &Map<String, Json>, ours: AttrFlags, found: &mut Vec<String>) {
    assert!(golden.len() >= 39, "the golden file names every flag");
    for (name, value) in golden {
        if value.as_u64() != Some(flag(ours, name)) {
            found.push(format!("{path}.{name}: ours {}, golden {value}", flag(ours, name)));
        }
    }
    if ours.unnamed() != 0 {
        found.push(format!("{path}: ours has unnamed flags {:#x}", ours.unnamed()));
    }
}

/// Golden build-ids and data of COMPRESSED2 are as long as they count, ours are as long as on the wire, zero-padded.
fn same_bytes(kind: Kind, path: &str, golden: &[u8], ours: &[u8]) -> bool {
    let (start, pad) = ours.split_at(golden.len().min(ours.len()));
    let padded = path.ends_with("build_id_hex") || kind == Record(83);
    start == golden && (pad.is_empty() || (padded && pad.iter().all(|byte| *byte == 0)))
}

/// A golden number: as such, or as a decimal or hex string.
fn integer(golden: &Json) -> Option<i128> {
    match golden {
        Json::Number(number) => number.as_i128(),
        Json::String(text) => match text.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16).ok(),
            None => text.parse().ok(),
        },
        _ => None,
    }
}

fn is_minus_one(golden: &Json, ours: u64) -> bool {
    golden.as_i64() == Some(-1) && ours == u64::MAX
}

fn is_empty(golden: &Json) -> bool {
    golden.as_str() == Some("") || golden.as_array().is_some_and(Vec::is_empty)
}
