//! Rare features in words. Their bytes were made outside of this project's code, from the ABI, in both byte orders.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod golden;

use golden::{bytes_of, cases, metadata};
use perffile::ByteOrder;

fn text_of(bit: u32, bytes: Vec<u8>, order: ByteOrder) -> String {
    let mut out = Vec::new();
    readperf_output::info::write_text(&mut out, &metadata(bit, bytes, order)).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.split_once('\n').unwrap().1.to_owned()
}

/// The text of a golden case, which is the same in both byte orders but for what it says of them.
fn said(name: &str) -> String {
    let cases = cases();
    let case = cases.iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("no case {name}"));
    let bit = u32::try_from(case["bit"].as_u64().unwrap()).unwrap();
    let little = text_of(bit, bytes_of(&case["little"]), ByteOrder::Little);
    let big = text_of(bit, bytes_of(&case["big"]), ByteOrder::Big);
    assert_eq!(little, big.replace("big-endian", "little-endian"), "{name}");
    little
}

#[test]
fn machines_of_many_kinds() {
    let dies = "cpu topology      1 package, 1 die, 2 cores, 4 threads
                  packages: CPUs 0-3
                  dies: CPUs 0-3
                  cores: CPUs 0-1; 2-3\n";
    assert_eq!(said("CPU_TOPOLOGY_dies"), dies);
    assert_eq!(
        said("CPU_TOPOLOGY_lists"),
        dies.replace("1 die, ", "").replace("                  dies: CPUs 0-3\n", "")
    );
    assert_eq!(
        said("NUMA_TOPOLOGY"),
        "numa nodes        node 0: 30.5 GiB, 976.5 MiB free, CPUs 0-3\n                  \
         node 1: 31.4 GiB, 1.9 GiB free, CPUs 4-7\n"
    );
    assert_eq!(
        said("HYBRID_TOPOLOGY"),
        "hybrid topology   cpu_core: CPUs 0-15\n                  cpu_atom: CPUs 16-23\n"
    );
    assert_eq!(
        said("CACHE"),
        "caches            L1d 32K 8-way 64 B lines: CPUs 0-1\n                  \
         L3 32768K 16-way 64 B lines: CPUs 0-3\n"
    );
    assert_eq!(said("PMU_MAPPINGS"), "pmus              software 1, cpu 4, uncore_imc_0 4294901760\n");
    assert_eq!(said("PMU_CAPS"), "pmu caps          cpu_atom: branches=32, max_precise=3\n");
    assert_eq!(said("CPU_PMU_CAPS"), "cpu pmu caps      branches=32, max_precise=3\n");
    assert_eq!(
        said("MEM_TOPOLOGY"),
        "memory blocks     of 128.0 MiB each\n                  node 0: 4 blocks, 512.0 MiB\n"
    );
}

#[test]
fn an_empty_section_was_not_available() {
    assert_eq!(text_of(8, Vec::new(), ByteOrder::Little), "cpu               not available\n");
    assert_eq!(text_of(19, Vec::new(), ByteOrder::Little), "stat              yes\n");
}

#[test]
fn domains_of_the_scheduler() {
    let text = said("CPU_DOMAIN_INFO_v17");
    assert!(text.starts_with("cpu domains       "), "{text}");
    assert!(text.contains("schedstat version 17\n  CPUs "), "{text}");
    assert!(text.contains("\n    in domain 0 "), "{text}");
    assert!(said("CPU_DOMAIN_INFO_v15").contains("schedstat version 15"), "version 15 has no names");
}

#[test]
fn contents() {
    assert_eq!(
        said("AUXTRACE"),
        "aux traces        2 AUXTRACE records of 8,544 bytes, their data not counted\n"
    );
    assert_eq!(said("BRANCH_STACK"), "branch stack      yes\n");
    assert_eq!(said("STAT"), "stat              yes\n");
    assert_eq!(said("SAMPLE_TIME_none"), "sample time       not noted\n");
    assert_eq!(
        said("SAMPLE_TIME"),
        "sample time       881.521969000 s to 20015.998343868 s (19,134.476 s)\n"
    );
    assert_eq!(
        said("BUILD_ID"),
        "build-ids         3 binaries
  c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3  [kernel.kallsyms]  (kernel)
  c0c1c2c3c4c5c6c7  /usr/lib/libwork.so  (user)
  c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3  [vdso]  (user)\n"
    );
    assert_eq!(
        said("TRACING_DATA"),
        "tracing data      version 0.6, little-endian, 8-byte long, pages of 4.0 KiB
  sched: sched_switch
  with printk formats 27 bytes, command lines 10 bytes\n"
    );
}

#[test]
fn bpf_programs_have_names_and_types() {
    // One program: 104 bytes of struct bpf_prog_info, no arrays; type 5 is a tracepoint.
    let mut info = vec![0u8; 104];
    info[..8].copy_from_slice(&[5, 0, 0, 0, 42, 0, 0, 0]);
    info[8..16].copy_from_slice(&[0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4]);
    info[16..20].copy_from_slice(&[0xd2, 4, 0, 0]);
    info[64..70].copy_from_slice(b"tracer");
    let mut bytes = vec![1, 0, 0, 0, 104, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend(info);
    assert_eq!(
        text_of(25, bytes, ByteOrder::Little),
        "bpf programs      1 program\n  42 tracer  tracepoint, tag deadbeef01020304, 1,234 bytes of machine code\n"
    );
}

#[test]
fn simpleperf_and_programs() {
    let meta = b"simpleperf_version\x001.0\0clockid\0monotonic\x1b\0".to_vec();
    assert_eq!(
        text_of(129, meta, ByteOrder::Little),
        "simpleperf        2 notes\n  simpleperf_version=1.0\n  clockid=monotonic\\x1b\n"
    );
    let machine = vec![183, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(text_of(33, machine, ByteOrder::Little), "program for       AArch64 (machine 183)\n");
}

#[test]
fn what_is_not_known_or_damaged() {
    assert_eq!(text_of(57, vec![0; 12], ByteOrder::Little), "feature 57: 12 bytes\n");
    // The length of a name that is not there.
    let text = text_of(3, vec![64, 0, 0, 0], ByteOrder::Little);
    assert!(text.starts_with("hostname: 4 bytes, damaged: "), "{text}");
}
