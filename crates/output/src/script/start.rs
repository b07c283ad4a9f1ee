//! The beginning of a line: who and when, of samples and of other records.

use super::Script;
use super::columns::Columns;
use super::fields::ScriptField;
use crate::calendar::date_time;
use crate::digits::{Piece, decimal, decimal_zeros, pad, signed};
use perffile::wire::misc;
use std::io::Write as _;

const SECOND_NS: u64 = 1_000_000_000;

/// Who and when: what stands before a line, of samples and of other records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start<'s> {
    pub(super) comm: Option<&'s Piece>,
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) cpu: u32,
    pub(super) time_ns: u64,
    /// The time as it was recorded, if it was.
    pub(super) recorded_ns: Option<u64>,
    pub(super) misc: u16,
}

impl Script {
    /// Thread, CPU, time. `kind` is the type of a record that is no sample.
    pub(super) fn write_start(
        &self,
        out: &mut Vec<u8>,
        columns: &Columns,
        start: &Start<'_>,
        kind: Option<u32>,
    ) {
        let fields = columns.fields;
        if fields.has(ScriptField::Comm) {
            let width = if columns.is_comm_padded { 16 } else { 0 };
            match start.comm {
                Some(comm) => comm.append_right(out, width),
                None => pad(out, width),
            }
            out.push(b' ');
        }
        let number = |out: &mut Vec<u8>, id: u32| signed(out, id.cast_signed().into(), 5);
        match (fields.has(ScriptField::Pid), fields.has(ScriptField::Tid)) {
            (true, true) => {
                number(out, start.pid);
                out.push(b'/');
                let before = out.len();
                signed(out, start.tid.cast_signed().into(), 0);
                pad(out, 5usize.saturating_sub(out.len() - before));
                out.push(b' ');
            }
            (true, false) => {
                number(out, start.pid);
                out.push(b' ');
            }
            (false, true) => {
                number(out, start.tid);
                out.push(b' ');
            }
            (false, false) => {}
        }
        if fields.has(ScriptField::Cpu) {
            out.push(b'[');
            if start.cpu == u32::MAX {
                out.extend_from_slice(b"-01");
            } else {
                decimal_zeros(out, start.cpu.into(), 3);
            }
            out.extend_from_slice(b"] ");
        }
        if fields.has(ScriptField::Misc) {
            write_misc(out, start.misc, kind);
        }
        if fields.has(ScriptField::TimeOfDay) {
            self.write_time_of_day(out, start.recorded_ns);
        }
        if fields.has(ScriptField::Time) {
            self.write_time(out, start.time_ns);
        }
    }

    fn write_time(&self, out: &mut Vec<u8>, time_ns: u64) {
        let (seconds, rest) = (time_ns / SECOND_NS, time_ns % SECOND_NS);
        decimal(out, seconds, 5);
        out.push(b'.');
        self.write_fraction(out, rest);
        out.extend_from_slice(b": ");
    }

    /// Date and time of day, in UTC; the space behind it alone if that is not known.
    fn write_time_of_day(&self, out: &mut Vec<u8>, recorded_ns: Option<u64>) {
        let wall_clock_ns = recorded_ns.and_then(|ns| self.clock?.wall_clock_of(ns));
        if let Some(ns) = wall_clock_ns {
            // To a `Vec` nothing fails.
            let _ = write!(out, "{}.", date_time(ns).strftime("%F %T"));
            self.write_fraction(out, ns % SECOND_NS);
        }
        out.push(b' ');
    }

    /// Digits behind the second.
    fn write_fraction(&self, out: &mut Vec<u8>, rest_ns: u64) {
        if self.options.nanoseconds {
            decimal_zeros(out, rest_ns, 9);
        } else {
            decimal_zeros(out, rest_ns / 1000, 6);
        }
    }
}

/// Mode of the CPU and, of records, what else `misc` says: a letter each, in six columns.
fn write_misc(out: &mut Vec<u8>, bits: u16, kind: Option<u32>) {
    use perffile::wire::record::kind as K;
    let before = out.len();
    // ABI: the modes are numbers, but perf takes them for bits.
    for (mode, letter) in [(1, b'K'), (2, b'U'), (3, b'H'), (4, b'G'), (5, b'g')] {
        if bits & mode == mode {
            out.push(letter);
        }
    }
    match kind {
        Some(K::MMAP | K::MMAP2) if bits & misc::MMAP_DATA != 0 => out.push(b'M'),
        Some(K::COMM) if bits & misc::COMM_EXEC != 0 => out.push(b'E'),
        Some(K::SWITCH | K::SWITCH_CPU_WIDE) if bits & misc::SWITCH_OUT != 0 => {
            out.push(b'S');
            if bits & misc::SWITCH_OUT_PREEMPT != 0 {
                out.push(b'p');
            }
        }
        _ => {}
    }
    pad(out, 6usize.saturating_sub(out.len() - before).max(1));
}
