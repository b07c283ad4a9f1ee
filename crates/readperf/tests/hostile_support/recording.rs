//! A recording in which everything that has a name has the same one: threads, binaries, functions, events, cgroups, machine.

use crate::handmade::*;
use readperf::perffile::tracepoint::{System, TracingData};
use std::path::{Path, PathBuf};

/// Kernel code that was generated at run time, and code of a runtime.
const GENERATED: u64 = 0xffff_ffff_c000_0000;
const JIT: u64 = 0x7f00_0000_0000;
/// Bytes between two functions of the runtime.
const STEP: u64 = 0x10;

/// `id` of the tracepoint's format.
const TRACEPOINT: u64 = 77;

/// What names are put where.
#[derive(Clone)]
pub(crate) struct Names {
    /// Of the binary.
    pub(crate) binary: Vec<u8>,
    /// Of functions.
    pub(crate) symbol: Vec<u8>,
    /// Of everything else.
    pub(crate) other: Vec<u8>,
    /// How many functions of the runtime there are; each has samples.
    pub(crate) functions: u64,
    /// Samples of each.
    pub(crate) samples: u64,
}

impl Names {
    /// The same name for everything.
    pub(crate) fn all(name: &[u8], functions: u64, samples: u64) -> Names {
        Names { binary: name.to_vec(), symbol: name.to_vec(), other: name.to_vec(), functions, samples }
    }
}

/// A recording, and a directory with the list of the runtime's functions.
pub(crate) fn write(names: &Names, directory: &Path, file: &str) -> PathBuf {
    let symbols = directory.join("symbols");
    std::fs::create_dir_all(&symbols).unwrap();
    let mut map = Vec::new();
    for nr in 0..names.functions {
        map.extend(format!("{:x} {STEP:x} f{nr}", JIT + nr * STEP).bytes());
        map.extend(names.symbol.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        map.push(b'\n');
    }
    std::fs::write(symbols.join(format!("perf-{PID}.map")), map).unwrap();
    let path = directory.join(file);
    std::fs::write(&path, bytes(names)).unwrap();
    path
}

fn bytes(names: &Names) -> Vec<u8> {
    let name = names.other.as_slice();
    let mut pipe = Pipe::new(&attrs());
    for id in [1, 2] {
        event_update(&mut pipe, id, &[name, &[b'0' + id as u8]].concat());
    }
    features(&mut pipe, name);
    tracing_data(&mut pipe, name);
    pipe.kernel_map(KERNEL_CODE);
    pipe.comm(PID, PID, &name[..name.len().min(2000)]);
    pipe.map(PID, CODE, &[b"/bin/", names.binary.as_slice()].concat(), Some(7), 0);
    pipe.map(PID, JIT, "//anon", None, 0);
    let mut symbol = GENERATED.to_le_bytes().to_vec();
    symbol.extend(0x1000u32.to_le_bytes());
    symbol.extend([1, 0, 0, 0]);
    symbol.extend(padded(&names.symbol));
    pipe.kernel(KSYMBOL, 0, &symbol, 0);
    pipe.kernel(CGROUP, 0, &[&1u64.to_le_bytes()[..], &padded(name)].concat(), 0);
    let mut time = 1_000_000_000;
    for nr in 0..names.functions {
        let ip = JIT + nr * STEP + 1;
        let chain = vec![-512i64 as u64, ip, CODE + 0x20 + 8 * nr, JIT + 1, CODE + 0x30];
        pipe.samples(names.samples, &Sample { ip, chain, time, ..Sample::default() });
        time += names.samples * 1_000_000;
    }
    let kernel = vec![-128i64 as u64, GENERATED + 0x10, KERNEL_CODE + 0x10];
    pipe.sample(&Sample { mode: KERNEL, ip: GENERATED + 0x10, chain: kernel, time, ..Sample::default() });
    for nr in 0..names.samples {
        let raw = payload(name);
        pipe.sample(&Sample { id: 2, time: time + nr, raw, ..Sample::default() });
    }
    pipe.bytes
}

fn attrs() -> [Attr; 2] {
    let clock = Attr { sample_type: Attr::default().sample_type | sample_type::CGROUP, ..Attr::default() };
    let tracepoint = Attr {
        kind: 2,
        config: TRACEPOINT,
        sample_type: clock.sample_type | sample_type::RAW,
        ids: vec![2],
        ..clock.clone()
    };
    [clock, tracepoint]
}

/// What an event is called.
fn event_update(pipe: &mut Pipe, id: u64, name: &[u8]) {
    pipe.raw(EVENT_UPDATE, 0, &[&2u64.to_le_bytes()[..], &id.to_le_bytes(), &padded(name)].concat());
}

/// Host name, releases, processor, command line, PMUs, groups.
fn features(pipe: &mut Pipe, name: &[u8]) {
    let name = &name[..name.len().min(20_000)];
    let string = |name: &[u8]| {
        let bytes = padded(name);
        [&(bytes.len() as u32).to_le_bytes()[..], &bytes].concat()
    };
    for bit in [3, 4, 5, 6, 8, 9] {
        pipe.feature(bit, &string(name));
    }
    pipe.feature(11, &[&2u32.to_le_bytes()[..], &string(b"perf"), &string(name)].concat());
    pipe.feature(15, &[&1u32.to_le_bytes()[..], &1u32.to_le_bytes(), &string(name)].concat());
    let group = [0u32.to_le_bytes(), 2u32.to_le_bytes()].concat();
    pipe.feature(16, &[&1u32.to_le_bytes()[..], &string(name), &group].concat());
}

/// The payload of the tracepoint: its head, where its text is, and the text.
fn payload(name: &[u8]) -> Vec<u8> {
    let name = &name[..name.len().min(2000)];
    let mut raw = (TRACEPOINT as u16).to_le_bytes().to_vec();
    raw.extend([0; 6]);
    raw.extend((12 | (name.len() as u32 + 1) << 16).to_le_bytes());
    raw.extend(name);
    raw.push(0);
    raw.resize(raw.len().next_multiple_of(8) + 4, 0);
    raw
}

/// The formats of tracepoints: one, with a text in it.
fn tracing_data(pipe: &mut Pipe, name: &[u8]) {
    let format = "name: told\nID: 77\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
        \tfield:__data_loc char[] what;\toffset:8;\tsize:4;\tsigned:0;\n\n\
        print fmt: \"what=%s\", __get_str(what)\n";
    let mut blob = TracingData {
        version: b"0.6",
        big_endian_flag: 0,
        long_size: 8,
        page_size: 4096,
        systems: vec![System { name: &name[..name.len().min(100)], formats: vec![format.as_bytes()] }],
        ..TracingData::default()
    }
    .encode();
    let size = blob.len() as u32;
    blob.resize(blob.len().next_multiple_of(8), 0);
    pipe.raw(HEADER_TRACING_DATA, 0, &size.to_le_bytes());
    pipe.bytes.extend(blob);
}

/// A recording of counts of threads that have such a name.
pub(crate) fn write_counts(name: &[u8], directory: &Path) -> PathBuf {
    let mut pipe = Pipe::new(&[Attr::default()]);
    event_update(&mut pipe, 1, name);
    pipe.raw(EVENT_UPDATE, 0, &[&0u64.to_le_bytes()[..], &1u64.to_le_bytes(), &padded(name)].concat());
    let mut comm = name.to_vec();
    comm.resize(15, 0);
    comm.push(0);
    pipe.raw(THREAD_MAP, 0, &[&1u64.to_le_bytes()[..], &7u64.to_le_bytes(), &comm].concat());
    let head = [&1u64.to_le_bytes()[..], &(-1i32).to_le_bytes(), &0u32.to_le_bytes()].concat();
    let values = [500u64, 100, 100].iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    pipe.raw(STAT, 0, &[head, values].concat());
    let path = directory.join("stat.data");
    std::fs::write(&path, &pipe.bytes).unwrap();
    path
}
