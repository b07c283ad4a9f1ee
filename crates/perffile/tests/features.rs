//! Header features of real recordings: all of them are read to their end and written as they were, and say what perf says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test may state what it expects in the shortest way; clippy.toml covers only functions marked as tests"
)]

mod wire_support;

use perffile::wire::endian::{Be, ByteOrder, Le, Order};
use perffile::wire::feature::{Feature, bit, name};
use perffile::wire::pass::CpuCounts;
use perffile::{Features, Metadata, Recording};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use wire_support::case::{bytes_of, cases, golden};
use wire_support::corpus::{corpus_or_skip, fixtures, recordings};
use wire_support::perf_header::{compared, lines};
use wire_support::tree::Tree;

/// What is known of a recording when all of it has been read.
fn metadata_of(path: &Path) -> Option<Metadata> {
    Recording::open(path).and_then(|recording| recording.read_metadata()).ok()
}

fn encode<O: Order>(feature: &mut Feature<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    feature.encode::<O>(&mut out).unwrap();
    assert_eq!(feature.size(), out.len(), "the measured size is the written one");
    out
}

/// Writes a feature in its own byte order and in the other one, and reads that again. Says what is wrong.
fn there_and_back<O: Order, Other: Order>(
    features: &Features,
    number: u32,
    feature: &mut Feature<'_>,
    rest: &[u8],
) -> Option<String> {
    let bytes = features.bytes(number).unwrap();
    let mut written = encode::<O>(feature);
    written.extend_from_slice(rest);
    if written != bytes {
        return Some("written again it has other bytes".into());
    }
    let swapped = encode::<Other>(feature);
    let cpus = features
        .nrcpus()
        .map_or(CpuCounts::default(), |n| CpuCounts { available: Some(n.available), online: Some(n.online) });
    // Tables without pid are found out by the container.
    if matches!(feature, Feature::BuildId(ids) if ids.entries.iter().any(|entry| entry.pid.is_none())) {
        return None;
    }
    match Feature::decode::<Other>(number, &swapped, cpus) {
        Ok((mut again, [])) if encode::<O>(&mut again.clone()) == bytes[..bytes.len() - rest.len()] => {
            let same = Tree::of(|tree| again.describe(tree)) == Tree::of(|tree| feature.describe(tree));
            (!same).then(|| "in the other byte order it says something else".into())
        }
        other => Some(format!("in the other byte order: {:?}", other.map(|(_, rest)| rest.len()))),
    }
}

/// Reads every feature of some recordings; returns how often each was seen, and what was wrong, by file and feature.
fn read_all(root: &Path) -> (BTreeMap<u32, u64>, BTreeMap<String, String>) {
    let (mut seen, mut wrong) = (BTreeMap::new(), BTreeMap::new());
    for path in recordings(root) {
        let Some(metadata) = metadata_of(&path) else { continue };
        let features = &metadata.features;
        for number in features.bits() {
            let what =
                format!("{} {}", path.strip_prefix(root).unwrap().display(), name(number).unwrap_or("?"));
            *seen.entry(number).or_default() += 1;
            let complaint = match features.feature(number).unwrap() {
                Err(error) => Some(error.to_string()),
                Ok((_, rest)) if !rest.is_empty() => Some(format!("{} bytes left over", rest.len())),
                Ok((mut feature, rest)) => match metadata.order {
                    ByteOrder::Little => there_and_back::<Le, Be>(features, number, &mut feature, rest),
                    ByteOrder::Big => there_and_back::<Be, Le>(features, number, &mut feature, rest),
                },
            };
            wrong.extend(complaint.map(|complaint| (what, complaint)));
        }
    }
    (seen, wrong)
}

#[test]
fn every_feature_of_the_fixtures() {
    let (seen, wrong) = read_all(&fixtures());
    eprintln!("features by bit: {seen:?}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let usual = [bit::CPU_TOPOLOGY, bit::NUMA_TOPOLOGY, bit::PMU_MAPPINGS, bit::CACHE, bit::MEM_TOPOLOGY];
    assert!(usual.iter().all(|bit| seen.get(bit).is_some_and(|count| *count >= 5)), "{seen:?}");
}

#[test]
fn every_feature_of_the_corpus() {
    let Some(root) = corpus_or_skip("every_feature_of_the_corpus") else { return };
    let (seen, wrong) = read_all(&root);
    eprintln!("features by bit: {seen:?}\nexceptions: {wrong:#?}");
    let of_sound_files: Vec<_> = wrong.iter().filter(|(what, _)| !is_damaged(what)).collect();
    assert!(of_sound_files.is_empty(), "{of_sound_files:#?}");
    assert!(seen.len() >= 35, "{seen:?}");
}

/// Files that are made to be wrong.
fn is_damaged(what: &str) -> bool {
    what.starts_with("quipper-fuzz/")
}

/// What perf said of a recording, if it is beside it: the text of the recording machine's own perf, or of perf 6.1.
fn said_by_perf(root: &Path, recording: &Path) -> Option<Vec<String>> {
    if let Ok(text) = std::fs::read_to_string(recording.with_extension("header.txt")) {
        return Some(text.lines().map(str::to_owned).collect());
    }
    let relative = recording.strip_prefix(root).ok()?;
    let expected = format!("expected/{}.json", relative.display().to_string().replace('/', "__"));
    let expected: Json = serde_json::from_str(&std::fs::read_to_string(root.join(expected)).ok()?).unwrap();
    let versions = expected["perf"].as_object()?;
    let header = versions.values().find_map(|perf| perf["header"].as_array())?;
    Some(header.iter().map(|line| line.as_str().unwrap().to_owned()).collect())
}

/// Lines that only we have, and lines that only perf has.
fn difference(ours: &[String], perfs: &[String]) -> Vec<String> {
    let (ours_set, perfs_set): (BTreeSet<_>, BTreeSet<_>) = (ours.iter().collect(), perfs.iter().collect());
    let mut found: Vec<String> =
        ours_set.difference(&perfs_set).map(|line| format!("ours:   {line}")).collect();
    found.extend(perfs_set.difference(&ours_set).map(|line| format!("perf's: {line}")));
    found
}

/// Compares all recordings of which perf has said something; returns how many lines were compared and what differs.
fn compare_with_perf(
    root: &Path,
    said: fn(&Path, &Path) -> Option<Vec<String>>,
) -> (usize, BTreeMap<PathBuf, Vec<String>>) {
    let (mut compared_lines, mut differing) = (0, BTreeMap::new());
    for path in recordings(root) {
        let (Some(metadata), Some(perfs)) = (metadata_of(&path), said(root, &path)) else { continue };
        // Said where there are none, but also where perf does not believe them.
        let said_cores_are_missing =
            perfs.iter().any(|line| line.starts_with("# Core ID and Socket ID information is not"));
        let perfs: Vec<String> = perfs.iter().filter_map(|line| compared(line)).collect();
        if perfs.is_empty() {
            continue;
        }
        let ours: Vec<String> = lines(&metadata).iter().filter_map(|line| compared(line)).collect();
        compared_lines += perfs.len();
        let mut found = difference(&ours, &perfs);
        if said_cores_are_missing {
            found.retain(|line| !line.starts_with("ours:   # CPU "));
        }
        if !found.is_empty() {
            differing.insert(path.strip_prefix(root).unwrap().to_owned(), found);
        }
    }
    (compared_lines, differing)
}

/// What the perf of this machine says.
fn asked_perf(_: &Path, recording: &Path) -> Option<Vec<String>> {
    let mut perf = Command::new("perf");
    perf.args(["report", "--header-only", "-I", "-i"]).arg(recording).env("LC_ALL", "C");
    let out = perf.output().ok()?;
    Some(String::from_utf8_lossy(&out.stdout).lines().map(str::to_owned).collect())
}

#[test]
#[ignore = "live: compares with perf"]
fn fixtures_say_what_perf_says() {
    if Command::new("perf").arg("version").output().is_err() {
        return eprintln!("SKIPPED fixtures_say_what_perf_says: no perf here");
    }
    let (count, mut differing) = compare_with_perf(&fixtures(), asked_perf);
    eprintln!("{count} lines compared");
    // Its recorder was killed: there are no features, but perf takes what it asks its own machine for theirs.
    differing.remove(Path::new("killed/perf.data"));
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(count > 300, "{count} lines");
}

#[test]
fn corpus_says_what_perf_says() {
    let Some(root) = corpus_or_skip("corpus_says_what_perf_says") else { return };
    let (count, mut differing) = compare_with_perf(&root, said_by_perf);
    // The 32-bit perf misprints the microseconds of the time of day: it says .717827175, the file has 567637 us.
    differing.remove(Path::new("own-armhf/buildid-mmap.data"));
    eprintln!("{count} lines compared");
    assert!(differing.is_empty(), "{differing:#?}");
    assert!(count > 2000, "{count} lines");
}

/// The number of CPUs is not stored with the topology. Where NRCPUS is not there, it is found out.
#[test]
fn topology_without_nrcpus() {
    let (mut with_cpus, mut with_dies) = (0, 0);
    for root in [Some(fixtures()), corpus_or_skip("topology_without_nrcpus")].into_iter().flatten() {
        for path in recordings(&root) {
            let Some(features) = metadata_of(&path).map(|metadata| metadata.features) else { continue };
            let Some(Ok((told, _))) = features.feature(bit::CPU_TOPOLOGY) else { continue };
            let bytes = features.bytes(bit::CPU_TOPOLOGY).unwrap();
            let (found, rest) = match features.order() {
                ByteOrder::Little => {
                    Feature::decode::<Le>(bit::CPU_TOPOLOGY, bytes, CpuCounts::default()).unwrap()
                }
                ByteOrder::Big => {
                    Feature::decode::<Be>(bit::CPU_TOPOLOGY, bytes, CpuCounts::default()).unwrap()
                }
            };
            assert_eq!((&found, rest), (&told, &[][..]), "{}", path.display());
            let Feature::CpuTopology(found) = found else { panic!("{found:?}") };
            with_cpus += usize::from(!found.cpus.is_empty());
            with_dies += usize::from(found.dies.is_some());
        }
    }
    assert!(with_cpus >= 10 && with_dies >= 10, "{with_cpus} with CPUs, {with_dies} with dies");
}

/// What a plain walk over the bytes of these files finds, made outside our code.
#[test]
fn auxtrace_index_points_at_the_records() {
    let Some(root) = corpus_or_skip("auxtrace_index_points_at_the_records") else { return };
    let index = |file: &str| {
        let features = metadata_of(&root.join(file)).unwrap().features;
        let index = features.auxtrace_index().unwrap();
        (
            index.uncounted,
            index.entries.iter().map(|entry| (entry.file_offset, entry.size)).collect::<Vec<_>>(),
        )
    };
    assert_eq!(index("quipper/perf.data.intel_pt-4.14"), (false, vec![(0x29c0, 48), (0x7788, 48)]));
    assert_eq!(index("simpleperf/perf_etm.data"), (true, vec![(0x26a8, 48)]));
    assert_eq!(
        index("simpleperf/perf_kernel.data"),
        (true, vec![(0xdef8, 48), (0x11f88, 48), (0x13968, 48)])
    );
}

/// Facts taken from the bytes by another program.
#[test]
fn features_of_simpleperf() {
    let Some(root) = corpus_or_skip("features_of_simpleperf") else { return };
    let features = |file: &str| metadata_of(&root.join("simpleperf").join(file)).unwrap().features;

    let told = features("perf_with_meta_info.data");
    let meta = told.meta_info().unwrap();
    assert_eq!(meta.entries.len(), 13);
    assert_eq!(meta.value("clockid"), Some(&b"monotonic"[..]));
    assert_eq!(meta.value("event_type_info"), Some(&b"cpu-cycles,0,0"[..]));
    assert_eq!(meta.value("clock"), None);

    let told = features("perf_merge1.data");
    let files = told.files().unwrap().files;
    assert_eq!(files.len(), 6);
    assert_eq!(files.iter().map(|file| file.symbols.len()).sum::<usize>(), 75);
    let crypto = &files[1];
    assert_eq!(
        (crypto.path, crypto.kind.0, crypto.min_vaddr),
        (&b"/system/lib64/libcrypto.so"[..], 2, 0x55000)
    );
    let sha = &crypto.symbols[0];
    assert_eq!((sha.addr, sha.len, sha.name), (0xed354, 284, &b"SHA256_Update"[..]));
    assert_eq!(crypto.tail, 0x55000u64.to_le_bytes());

    let told = features("perf_kernel.data");
    let Some(Ok((Feature::File2(messages), []))) = told.feature(bit::FILE2) else { panic!("no FILE2") };
    assert_eq!(messages.files.len(), 328);
}

/// A feature that is put in is read again, in the byte order of the recording.
#[test]
fn a_feature_put_in() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut features = Features::new(order);
        let nrcpus = Feature::Nrcpus(perffile::wire::feature::nrcpus::Nrcpus { available: 8, online: 6 });
        features.set(bit::NRCPUS, nrcpus).unwrap();
        let first = if order == ByteOrder::Little { [8, 0, 0, 0] } else { [0, 0, 0, 8] };
        assert_eq!(features.bytes(bit::NRCPUS).unwrap()[..4], first);
        assert_eq!(features.nrcpus().map(|n| (n.available, n.online)), Some((8, 6)));
    }
}

/// Bytes changed at random: whatever is still read is written as it was.
#[test]
fn noise() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let (mut read, mut refused) = (0, 0);
    for case in cases(&golden(), "features", 40) {
        let number = u32::try_from(case["bit"].as_u64().unwrap()).unwrap();
        let whole = bytes_of(&case["little"]);
        for _ in 0..if whole.is_empty() { 0 } else { 500 } {
            let mut bytes = whole.clone();
            for _ in 0..1 + random() % 4 {
                let at = usize::try_from(random() % bytes.len() as u64).unwrap();
                bytes[at] = random().to_le_bytes()[0];
            }
            let cpus = CpuCounts { available: Some(4), online: Some(2) };
            match Feature::decode::<Le>(number, &bytes, cpus) {
                Ok((mut feature, rest)) => {
                    let mut written = encode::<Le>(&mut feature);
                    written.extend_from_slice(rest);
                    assert_eq!(written, bytes, "{}", case["name"]);
                    Tree::of(|tree| feature.describe(tree));
                    read += 1;
                }
                Err(error) => {
                    assert!(error.to_string().contains(error.field));
                    refused += 1;
                }
            }
        }
    }
    assert!(read > 1000 && refused > 1000, "{read} read, {refused} refused");
}
