//! The name of every sample of a recording against `perf script`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::programs::{all_programs, compile, directory, options, run_any};
use readperf_symbols::{AddressBatch, Options, Subject};

#[derive(Clone, Debug)]
struct Mapping {
    start: u64,
    size: u64,
    page_offset: u64,
    name: String,
}

/// Address, name with the distance from its start, and binary.
type Sample = (u64, Option<(String, u64)>, String);

/// What perf script says: the mappings, and for each sample its address, name with offset, and binary.
#[derive(Debug, Default)]
struct Said {
    mappings: Vec<Mapping>,
    samples: Vec<Sample>,
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap()
}

fn mapping(line: &str) -> Option<Mapping> {
    // `… PERF_RECORD_MMAP2 1/1: [0x55d0(0x1000) @ 0x1000 08:01 1 0]: r-xp /path`
    let (_, rest) = line.split_once("PERF_RECORD_MMAP")?;
    let (_, rest) = rest.split_once('[')?;
    let (start, rest) = rest.split_once('(')?;
    let (size, rest) = rest.split_once(") @ ")?;
    let (page_offset, rest) = rest.split_once([' ', ']'])?;
    let (_, name) =
        rest.split_once("xp ").or_else(|| rest.split_once(": x ")).or_else(|| rest.split_once("]: "))?;
    let page_offset = if page_offset == "0" { 0 } else { hex(page_offset) };
    Some(Mapping { start: hex(start), size: hex(size), page_offset, name: name.trim().to_owned() })
}

fn said(text: &str) -> Said {
    let mut said = Said::default();
    for line in text.lines() {
        if line.contains("PERF_RECORD_") {
            said.mappings.extend(mapping(line));
            continue;
        }
        let Some((ip, rest)) = line.trim().split_once(' ') else { continue };
        let Some((name, binary)) = rest.rsplit_once(" (") else { continue };
        let named = name.rsplit_once("+0x").map(|(name, offset)| (name.to_owned(), hex(offset)));
        said.samples.push((hex(ip), named, binary.trim_end_matches(')').to_owned()));
    }
    said
}

fn record(dir: &Path, program: &Path, arguments: &[&str]) -> Option<Said> {
    let data: PathBuf = dir.join("perf.data");
    let mut all =
        vec![OsStr::new("record"), OsStr::new("-N"), OsStr::new("-q"), OsStr::new("-o"), data.as_os_str()];
    all.extend(["-e", "cpu-clock", "-F", "8000", "--"].map(OsStr::new));
    all.push(program.as_os_str());
    all.extend(arguments.iter().map(OsStr::new));
    let output = run_any("perf", &all)?;
    if !data.exists() {
        eprintln!("SKIPPED: perf cannot record here: {}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let script = ["script", "--show-mmap-events", "-F", "ip,sym,symoff,dso", "-i"].map(OsStr::new);
    let script: Vec<&OsStr> = script.into_iter().chain([data.as_os_str()]).collect();
    Some(said(&String::from_utf8_lossy(&run_any("perf", &script)?.stdout)))
}

/// Finds the mapping and groups the samples by what to ask.
fn batches(said: &Said) -> BTreeMap<String, (Subject, Vec<(u64, u64)>)> {
    let mut batches: BTreeMap<String, (Subject, Vec<(u64, u64)>)> = BTreeMap::new();
    for (ip, _, _) in &said.samples {
        let found = said.mappings.iter().rev().find(|m| *ip >= m.start && *ip - m.start < m.size);
        let Some(map) = found else { continue };
        let (subject, address) = if let Some(symbol) = map.name.strip_prefix("[kernel.kallsyms]") {
            let reference = Some((symbol.to_owned(), map.page_offset));
            (Subject::Kernel { build_id: None, reference }, *ip)
        } else if map.name == "[vdso]" {
            (Subject::Vdso { build_id: None }, ip - map.start)
        } else {
            let path = PathBuf::from(&map.name);
            (Subject::File { path, build_id: None }, ip - map.start + map.page_offset)
        };
        batches.entry(map.name.clone()).or_insert_with(|| (subject, Vec::new())).1.push((*ip, address));
    }
    batches
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn every_sample_has_the_name_that_perf_prints() {
    let dir = directory("perf");
    let options = Options { lines: false, trust_running_kernel: true, ..options() };
    let mut total = 0;
    let mut programs = all_programs(&dir, &[]);
    if cfg!(target_arch = "x86_64") {
        programs.extend(compile(&dir, "labels.S", "cc", &[]));
        programs.extend(compile(&dir, "labels.S", "cc", &["-no-pie", "-g"]));
    }
    for program in programs {
        if program.to_string_lossy().contains("-shared") {
            continue;
        }
        let rounds = if program.to_string_lossy().contains("closures") { "1200" } else { "400" };
        let Some(said) = record(&dir, &program, &[rounds]) else { return };
        let mut ours: BTreeMap<u64, (String, u64)> = BTreeMap::new();
        for (_, (subject, asked)) in batches(&said) {
            let batch = AddressBatch::new(subject, asked.iter().map(|(_, address)| *address).collect());
            let answer = crate::programs::resolve_one(&options, batch);
            for (ip, address) in asked {
                let index = answer.addresses.binary_search(&address).unwrap();
                if let Ok(id) = answer.symbol(index) {
                    let symbol = answer.symbol_by_id(id).unwrap();
                    ours.insert(ip, (symbol.name.shown().to_owned(), address - symbol.start));
                }
            }
        }
        let mut different = 0;
        for (ip, theirs, binary) in &said.samples {
            // perf 6.1 does not know `.plt.sec` and the start of `.plt`, and has no name for a function of the same binary that is chosen
            // at load time.
            let is_nameless = theirs.as_ref().is_none_or(|(name, _)| name == "@plt" || name == "_init");
            let is_linkage = ours.get(ip).is_some_and(|(name, _)| name == ".plt" || name.ends_with("@plt"));
            if ours.get(ip) != theirs.as_ref() && !(is_nameless && is_linkage) {
                different += 1;
                eprintln!("{ip:#x} in {binary}\n  ours   {:?}\n  theirs {theirs:?}", ours.get(ip));
            }
        }
        eprintln!("{}: {} samples, {different} different", program.display(), said.samples.len());
        assert!(said.samples.len() > 100);
        assert_eq!(different, 0);
        total += said.samples.len();
    }
    assert!(total > 0);
}
