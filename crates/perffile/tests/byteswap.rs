//! Every record of real recordings written again, in its own byte order and in the other one; and golden records cut at
//! every byte.
//!
//! Same order: byte for byte what it was. Other order: read again it says the same, and written back it is what it was.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod wire_support;

use perffile::wire::WireErrorKind;
use perffile::wire::endian::{Be, ByteOrder, Le, Order};
use perffile::wire::feature::{Feature, bit};
use perffile::wire::pass::CpuCounts;
use perffile::wire::record::{Record, record_name};
use perffile::{Event, Ordering, Recording};
use std::collections::BTreeMap;
use std::path::Path;
use wire_support::case::{Parsed, bytes_of, cases, golden, shape_of};
use wire_support::corpus::{corpus_or_skip, fixtures, recordings};

/// How many records of a type in a file have their fields compared one by one; all have their bytes compared.
const DESCRIBED: u64 = 200;

/// What came of the records of some files.
#[derive(Debug, Default)]
struct Tally {
    records: u64,
    by_type: BTreeMap<u32, u64>,
    undecodable: BTreeMap<String, u64>,
    differing: Vec<String>,
}

impl Tally {
    fn file(&mut self, root: &Path, path: &Path) {
        let name = path.strip_prefix(root).unwrap().display().to_string();
        let Ok(recording) = Recording::open(path) else {
            eprintln!("{name}: cannot be opened");
            return;
        };
        let mut seen = BTreeMap::new();
        for batch in recording.batches(Ordering::File).unwrap() {
            for event in batch.iter() {
                let nr: &mut u64 = seen.entry(event.head().kind).or_default();
                *nr += 1;
                match event.schema().order() {
                    ByteOrder::Little => self.event::<Le, Be>(&name, &event, *nr),
                    ByteOrder::Big => self.event::<Be, Le>(&name, &event, *nr),
                }
            }
        }
    }

    fn event<O: Order, Other: Order>(&mut self, name: &str, event: &Event<'_>, nr: u64) {
        let (raw, (_, shape)) = (event.raw(), event.body_and_shape());
        self.records += 1;
        *self.by_type.entry(event.head().kind).or_default() += 1;
        let parsed = match Parsed::new::<O>(raw, &shape) {
            Ok(parsed) => parsed,
            Err(error) => {
                let what = format!("{name}: {} field {}", record_name(event.head().kind), error.field);
                *self.undecodable.entry(what).or_default() += 1;
                return;
            }
        };
        let mut differs = |what: &str| {
            let kind = record_name(event.head().kind);
            self.differing.push(format!("{name} at {:#x} {kind}: {what}", event.offset()));
        };
        if parsed.encode::<O>() != raw {
            differs("written again it has other bytes");
        }
        let swapped = parsed.encode::<Other>();
        match Parsed::new::<Other>(&swapped, &shape) {
            Ok(again) => {
                if again.encode::<O>() != raw {
                    differs("there and back it has other bytes");
                }
                if nr <= DESCRIBED && !says_the_same(&again, &parsed) {
                    differs("in the other byte order it says something else");
                }
            }
            Err(error) => differs(&format!("in the other byte order: {error}")),
        }
    }

    /// Fails if a record differs.
    fn report(&self, what: &str, at_least: u64) {
        eprintln!("{what}: {} records of {} types", self.records, self.by_type.len());
        for (what, count) in &self.undecodable {
            eprintln!("  cannot be decoded, {count} times: {what}");
        }
        let first: Vec<_> = self.differing.iter().take(20).cloned().collect();
        assert!(
            first.is_empty(),
            "{} records differ, among them:\n{}",
            self.differing.len(),
            first.join("\n")
        );
        assert!(self.records >= at_least, "{} records of {what} are fewer than {at_least}", self.records);
    }
}

fn says_the_same(one: &Parsed<'_>, other: &Parsed<'_>) -> bool {
    one.head == other.head
        && one.describe() == other.describe()
        && one.describe_sample_id() == other.describe_sample_id()
        && one.rest == other.rest
}

#[test]
fn fixtures_in_both_byte_orders() {
    let (mut tally, root) = (Tally::default(), fixtures());
    recordings(&root).iter().for_each(|path| tally.file(&root, path));
    tally.report("fixtures", 3_000);
    assert!(tally.undecodable.is_empty(), "{:?}", tally.undecodable);
}

#[test]
fn corpus_in_both_byte_orders() {
    let Some(root) = corpus_or_skip("corpus_in_both_byte_orders") else { return };
    let mut tally = Tally::default();
    recordings(&root).iter().for_each(|path| tally.file(&root, path));
    tally.report("corpus", 200_000);
    let of_sound_files: Vec<_> = tally.undecodable.keys().filter(|what| !is_another_format(what)).collect();
    assert!(of_sound_files.is_empty(), "{of_sound_files:#?}");
}

/// Files that are made to be wrong, and pipes of the old perf of Chromium OS, whose own records have the numbers of others.
fn is_another_format(what: &str) -> bool {
    what.starts_with("quipper-fuzz/") || what.starts_with("chromiumos/perf.data.piped.")
}

/// Cut anywhere, a record is either read or says at which field it ends.
#[test]
fn golden_records_cut_at_every_byte() {
    let mut cuts = 0;
    for case in cases(&golden(), "records", 180) {
        cuts += cut::<Le>(&case, "little") + cut::<Be>(&case, "big");
    }
    assert!(cuts > 10_000, "{cuts} cuts");
}

fn cut<O: Order>(case: &serde_json::Value, order: &str) -> usize {
    let bytes = bytes_of(&case[order]);
    let (number, misc) = (case["type"].as_u64().unwrap(), case["misc"].as_u64().unwrap());
    let (number, misc) = (u32::try_from(number).unwrap(), u16::try_from(misc).unwrap());
    let (body, shape) = (&bytes[8..], shape_of(&case["attr"]));
    for end in 0..body.len() {
        let name = case["name"].as_str().unwrap();
        match Record::decode::<O>(number, &body[..end], &shape, misc) {
            Ok((mut record, rest)) => {
                let mut out = Vec::new();
                record.encode::<O>(&mut out, &shape, misc).unwrap();
                out.extend_from_slice(rest);
                assert_eq!(out, &body[..end], "{name} {order} cut at {end} is written as it was");
            }
            Err(error) => {
                assert!(!error.field.is_empty(), "{name} {order} cut at {end}: {error:?}");
                assert!(error.at as usize <= end, "{name} {order} cut at {end}: {error:?}");
            }
        }
    }
    body.len()
}

/// The same of header features.
#[test]
fn golden_features_cut_at_every_byte() {
    let mut cuts = 0;
    for case in cases(&golden(), "features", 40) {
        cuts += cut_feature::<Le>(&case, "little") + cut_feature::<Be>(&case, "big");
    }
    assert!(cuts > 10_000, "{cuts} cuts");
}

fn cut_feature<O: Order>(case: &serde_json::Value, order: &str) -> usize {
    let (bytes, name) = (bytes_of(&case[order]), case["name"].as_str().unwrap());
    let number = u32::try_from(case["bit"].as_u64().unwrap()).unwrap();
    let told = CpuCounts { available: Some(4), online: Some(2) };
    for (end, cpus) in (0..bytes.len()).flat_map(|end| [(end, told), (end, CpuCounts::default())]) {
        match Feature::decode::<O>(number, &bytes[..end], cpus) {
            Ok((mut feature, rest)) => {
                let mut out = Vec::new();
                feature.encode::<O>(&mut out).unwrap();
                out.extend_from_slice(rest);
                assert_eq!(out, &bytes[..end], "{name} {order} cut at {end} is written as it was");
            }
            Err(error) => {
                assert!(!error.field.is_empty() && error.at as usize <= end, "{name} cut at {end}: {error:?}")
            }
        }
    }
    bytes.len()
}

/// A section of nothing but zeros has as many elements as it likes, and they are not kept.
#[test]
fn elements_are_bounded() {
    let zeros = vec![0; 5 << 20];
    let error = Feature::decode::<Le>(bit::META_INFO, &zeros, CpuCounts::default()).unwrap_err();
    assert_eq!(error.field, "entries");
    assert!(matches!(error.kind, WireErrorKind::TooMany { .. }), "{error:?}");
    // Lists inside of lists count together: PMUs of one capability each, all names of no length, two elements in 16 bytes.
    let pmu = [1u32, 0, 0, 0].map(u32::to_le_bytes).concat();
    let pmus = [u32::MAX.to_le_bytes().to_vec(), pmu.repeat((20 << 20) / 16)].concat();
    let error = Feature::decode::<Le>(bit::PMU_CAPS, &pmus, CpuCounts::default()).unwrap_err();
    assert!(matches!(error.kind, WireErrorKind::TooMany { .. }), "{error:?}");
}

/// A count of four billion allocates nothing, and is told as what it is.
#[test]
fn counts_are_not_believed() {
    let counted = [
        bit::CMDLINE,
        bit::CPU_TOPOLOGY,
        bit::NUMA_TOPOLOGY,
        bit::PMU_MAPPINGS,
        bit::GROUP_DESC,
        bit::BPF_PROG_INFO,
        bit::BPF_BTF,
        bit::CPU_PMU_CAPS,
        bit::HYBRID_TOPOLOGY,
        bit::PMU_CAPS,
        bit::AUXTRACE,
    ];
    for bit in counted {
        let bytes = [0xff; 8];
        let error = Feature::decode::<Le>(bit, &bytes, CpuCounts::default()).unwrap_err();
        assert!(!error.field.is_empty(), "feature {bit}: {error:?}");
    }
    for (bit, version) in [(bit::CACHE, 4), (bit::MEM_TOPOLOGY, 16)] {
        let mut bytes = vec![0xff; 64];
        bytes[..version].fill(0);
        bytes[0] = 1;
        let error = Feature::decode::<Le>(bit, &bytes, CpuCounts::default()).unwrap_err();
        assert!(!error.field.is_empty(), "feature {bit}: {error:?}");
    }
}
