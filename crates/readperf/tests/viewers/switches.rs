//! Recordings of context switches, put together byte by byte: as records, and as samples of `sched_switch` with the format that
//! tells their fields.
//!
//! ABI: `perf_event.h` (SWITCH), perf's tracing data (`trace-event-info.c`), the tracepoint's own `format` file.

use crate::handmade::{Attr, CODE, PID, Pipe, Sample, flag, sample_type};
use std::path::PathBuf;

const SWITCH: u32 = 14;
/// Bits of a SWITCH record's `misc`: out, and still wanting to run.
pub(crate) const OUT: u16 = 1 << 13;
pub(crate) const PREEMPTED: u16 = 1 << 14;
const HEADER_TRACING_DATA: u32 = 66;
/// The id of the tracepoint in the recording.
const TRACEPOINT: u64 = 5;
/// The id of the counter of `sched_switch`; that of cpu-clock is 1.
pub(crate) const SWITCHES: u64 = 2;

const FORMAT: &str = "name: sched_switch\nID: 5\nformat:\n\
    \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
    \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
    \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
    \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n\
    \tfield:int prev_pid;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:int next_pid;\toffset:12;\tsize:4;\tsigned:1;\n\
    \tfield:long prev_state;\toffset:16;\tsize:8;\tsigned:1;\n\n\
    print fmt: \"%d ==> %d\", REC->prev_pid, REC->next_pid\n";

/// What perf knows of the kernel's tracepoints: one.
fn tracing_data() -> Vec<u8> {
    let mut data = b"\x17\x08\x44tracing0.5\0".to_vec();
    // Little-endian, longs of 8 bytes, pages of 4096.
    data.extend([0, 8]);
    data.extend(4096u32.to_le_bytes());
    for name in ["header_page\0", "header_event\0"] {
        data.extend(name.as_bytes());
        data.extend(0u64.to_le_bytes());
    }
    data.extend(0u32.to_le_bytes());
    data.extend(1u32.to_le_bytes());
    data.extend(b"sched\0");
    data.extend(1u32.to_le_bytes());
    data.extend((FORMAT.len() as u64).to_le_bytes());
    data.extend(FORMAT.as_bytes());
    // No addresses, no formats of the kernel's own.
    data.extend([0; 8]);
    data
}

/// A pipe with cpu-clock and `sched_switch`, the latter with such a period.
pub(crate) struct Recording {
    pub(crate) pipe: Pipe,
}

impl Recording {
    /// With every switch.
    pub(crate) fn of_all() -> Recording {
        Recording::new(1, 0)
    }

    /// With a period, or with a frequency (`flag::FREQ`).
    pub(crate) fn new(period: u64, flags: u64) -> Recording {
        let clock = Attr::default();
        let switches = Attr {
            kind: 2,
            config: TRACEPOINT,
            period,
            sample_type: clock.sample_type | sample_type::RAW,
            flags: flag::SAMPLE_ID_ALL | flags,
            ids: vec![SWITCHES],
            ..clock.clone()
        };
        let mut pipe = Pipe::new(&[clock, switches]);
        let blob = tracing_data();
        let padded = blob.len().next_multiple_of(8);
        pipe.raw(HEADER_TRACING_DATA, 0, &(padded as u32).to_le_bytes());
        pipe.bytes.extend(&blob);
        pipe.bytes.resize(pipe.bytes.len() + padded - blob.len(), 0);
        pipe.map(PID, CODE, "/bin/work", Some(7), 0);
        for tid in [PID, PID + 1] {
            pipe.comm(PID, tid, "work");
        }
        Recording { pipe }
    }

    /// `sched_switch` at a time in ms: a thread gives a CPU to another. A state of 0 is that of who still wants to run.
    pub(crate) fn switch(&mut self, cpu: u32, ms: u64, (out, into): (u32, u32), state: u64) {
        let mut raw = (TRACEPOINT as u16).to_le_bytes().to_vec();
        raw.resize(8, 0);
        raw.extend(out.to_le_bytes());
        raw.extend(into.to_le_bytes());
        raw.extend(state.to_le_bytes());
        raw.resize(28, 0);
        let pid = if out == 0 { 0 } else { PID };
        let chain = vec![-512i64 as u64, CODE + 0x40, CODE + 0x30];
        let (ip, time) = (CODE + 0x40, ms * 1_000_000);
        self.pipe.sample(&Sample {
            pid,
            tid: out,
            cpu,
            time,
            ip,
            id: SWITCHES,
            raw,
            chain,
            ..Sample::default()
        });
    }

    /// A sample of the clock.
    pub(crate) fn sample(&mut self, cpu: u32, ms: u64, tid: u32) {
        self.pipe.sample(&Sample { tid, cpu, time: ms * 1_000_000, ..Sample::default() });
    }

    /// A record of a switch.
    pub(crate) fn record(&mut self, cpu: u32, ms: u64, tid: u32, misc: u16) {
        let mut trailer = Vec::new();
        for word in [u64::from(tid) << 32 | u64::from(PID), ms * 1_000_000, 1, u64::from(cpu)] {
            trailer.extend(word.to_le_bytes());
        }
        self.pipe.raw(SWITCH, misc, &trailer);
    }

    /// Writes it.
    pub(crate) fn write(&self, dir: &tempfile::TempDir) -> PathBuf {
        let path = dir.path().join("perf.data");
        std::fs::write(&path, &self.pipe.bytes).unwrap();
        path
    }
}
