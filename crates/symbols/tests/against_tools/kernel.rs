//! Kernel symbols against `/proc/kallsyms`, and the code that the kernel maps into each process.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::programs::{directory, options, resolve_one};
use readperf_symbols::{AddressBatch, BuildId, Options, Provides, Reason, Subject};

/// The names of code and data at each address, read in the plainest way.
fn list() -> Option<BTreeMap<u64, BTreeSet<String>>> {
    let text = std::fs::read_to_string("/proc/kallsyms").ok()?;
    let mut names: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let address = u64::from_str_radix(words[0], 16).unwrap();
        if "TtWwDdBb".contains(words[1]) && words.len() == 3 {
            names.entry(address).or_default().insert(words[2].to_owned());
        }
    }
    if names.len() < 2 {
        eprintln!("SKIPPED: kernel addresses are hidden");
        return None;
    }
    Some(names)
}

fn kernel(
    options: &Options,
    id: Option<BuildId>,
    reference: Option<(String, u64)>,
    at: Vec<u64>,
) -> readperf_symbols::SymbolBatch {
    resolve_one(options, AddressBatch::new(Subject::Kernel { build_id: id, reference }, at))
}

/// The build-id of the running kernel, by its place in the note: a header of 12 bytes and the name `GNU`.
fn running_id() -> Option<BuildId> {
    let notes = std::fs::read("/sys/kernel/notes").ok()?;
    let at = notes.windows(8).position(|bytes| bytes == b"\x03\0\0\0GNU\0")?;
    BuildId::from_bytes(&notes[at + 8..at + 28])
}

#[test]
#[ignore = "live: compares with the running kernel"]
fn every_address_of_the_list() {
    let Some(names) = list() else { return };
    let trusting = Options { trust_running_kernel: true, ..options() };
    let answer = kernel(&trusting, None, None, names.keys().copied().collect());
    for (index, (start, names)) in names.iter().enumerate() {
        let symbol = answer.symbol_by_id(answer.symbol(index).unwrap()).unwrap();
        assert_eq!(symbol.start, *start);
        assert!(names.contains(symbol.name.shown()), "{start:#x} {} {names:?}", symbol.name.shown());
    }
    eprintln!("{} addresses", answer.len());
    assert!(answer.found.iter().all(|found| found.provides == Provides::KernelSymbols));
}

#[test]
#[ignore = "live: compares with the running kernel"]
fn a_kernel_that_was_moved() {
    let Some(names) = list() else { return };
    let trusting = Options { trust_running_kernel: true, ..options() };
    let Some((text, _)) = names.iter().find(|(_, names)| names.contains("_text")) else { return };
    let at: Vec<u64> =
        names.keys().copied().filter(|address| address > text).step_by(100).take(500).collect();
    let now = kernel(&trusting, None, Some(("_text".to_owned(), *text)), at.clone());
    let moved: Vec<u64> = at.iter().map(|address| address - 0x20_0000).collect();
    let then = kernel(&trusting, None, Some(("_text".to_owned(), text - 0x20_0000)), moved);
    for index in 0..now.len() {
        assert_eq!(now.name(index).unwrap(), then.name(index).unwrap());
        let start = |batch: &readperf_symbols::SymbolBatch| {
            batch.symbol_by_id(batch.symbol(index).unwrap()).unwrap().start
        };
        assert_eq!(start(&now) - 0x20_0000, start(&then));
    }
}

#[test]
#[ignore = "live: compares with the running kernel"]
fn another_kernel_is_not_used() {
    let other = BuildId::parse("0123456789abcdef0123456789abcdef01234567").unwrap();
    let trusting = Options { trust_running_kernel: true, ..options() };
    let reason = kernel(&trusting, Some(other), None, vec![1]).batch_reason.unwrap();
    assert!(matches!(reason, Reason::KernelDiffers { recorded, .. } if recorded == other), "{reason}");
    assert_eq!(kernel(&options(), None, None, vec![1]).batch_reason.unwrap(), Reason::KernelUnknown);
    let Some(running) = running_id() else { return };
    if list().is_some() {
        assert_eq!(kernel(&options(), Some(running), None, vec![1]).batch_reason, None);
    }
}

#[test]
#[ignore = "live: compares with the running kernel"]
fn lists_from_elsewhere() {
    let dir = directory("kernel_lists");
    let id = BuildId::parse("00112233445566778899aabbccddeeff00112233").unwrap();
    let text = "ffffffff80001000 T alpha\nffffffff80001100 t beta\nffffffffc0000000 t gamma\t[some_mod]\n";
    let entry = dir.join("cache/.build-id/00/112233445566778899aabbccddeeff00112233");
    std::fs::create_dir_all(&entry).unwrap();
    std::fs::write(entry.join("kallsyms"), text).unwrap();
    let cached = Options { build_id_cache: Some(dir.join("cache")), ..options() };
    let answer = kernel(&cached, Some(id), None, vec![0xffff_ffff_8000_1010, 0xffff_ffff_8000_1110]);
    assert_eq!((answer.name(0), answer.name(1)), (Some("alpha"), Some("beta")));
    let given = Options { kallsyms: Some(entry.join("kallsyms")), ..options() };
    let module =
        |name: &str| Subject::KernelModule { name: PathBuf::from(name), build_id: Some(id), start: None };
    let answer = resolve_one(
        &given,
        AddressBatch::new(module("/x/some-mod.ko.xz"), vec![0xffff_ffff_8000_1010, 0xffff_ffff_c000_0004]),
    );
    assert_eq!((answer.name(0), answer.name(1)), (None, Some("gamma")));
    std::fs::write(entry.join("hidden"), "0000000000000000 T alpha\n").unwrap();
    let hidden = Options { kallsyms: Some(entry.join("hidden")), ..options() };
    assert_eq!(kernel(&hidden, Some(id), None, vec![1]).batch_reason.unwrap(), Reason::KernelAddressesHidden);
    let path = entry.join("words");
    std::fs::write(&path, "root:x:0:0:root\n").unwrap();
    let no_list = Options { kallsyms: Some(path.clone()), ..options() };
    let reason = kernel(&no_list, Some(id), None, vec![1]).batch_reason.unwrap();
    assert_eq!(reason, Reason::NoKernelList { path });
}

#[test]
#[ignore = "live: compares with the running kernel"]
fn the_vdso() {
    if !std::fs::read_to_string("/proc/self/maps").unwrap().contains("[vdso]") {
        eprintln!("SKIPPED: no vdso");
        return;
    }
    let vdso = |build_id| Subject::Vdso { build_id };
    let trusting = Options { trust_running_kernel: true, ..options() };
    let answer = resolve_one(&trusting, AddressBatch::new(vdso(None), (0..0x2000).step_by(16).collect()));
    let names: BTreeSet<&str> = (0..answer.len()).filter_map(|index| answer.name(index)).collect();
    eprintln!("{names:?}");
    assert!(names.iter().any(|name| name.ends_with("clock_gettime")), "{names:?}");
    let other = BuildId::parse("0123456789abcdef0123456789abcdef01234567");
    let reason = resolve_one(&trusting, AddressBatch::new(vdso(other), vec![0])).batch_reason.unwrap();
    assert!(matches!(reason, Reason::VdsoDiffers { .. }), "{reason}");
}
