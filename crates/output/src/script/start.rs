//! The beginning of a line: who and when, of samples and of other records.

use super::Script;
use super::beginnings::{Beginning, LONGEST, Of, Who};
use super::columns::Columns;
use super::draft::Draft;
use super::fields::ScriptField;
use crate::buffer::{Append, Piece};
use crate::calendar::date_time;
use crate::digits::{decimal, decimal_zeros, millionths, short_decimal, signed};
use perffile::Share;
use perffile::wire::misc;
use readperf_session::CommId;

const SECOND_NS: u64 = 1_000_000_000;

/// Columns of a period.
const PERIOD: usize = 10;

/// When, and in which mode.
#[derive(Clone, Copy, Debug)]
pub(super) struct When {
    pub(super) time_ns: u64,
    /// The time as it was recorded, if it was.
    pub(super) recorded_ns: Option<u64>,
    pub(super) misc: u16,
    /// The type of a record that is no sample.
    pub(super) kind: Option<u32>,
}

impl Script {
    /// The beginning of a sample's line, up to its places or what is rare: who, when, and for how much of which event.
    #[inline(always)]
    pub(super) fn write_beginning(
        &self,
        draft: &mut Draft,
        (share, columns): (&Share, &Columns),
        (comm, who): (CommId, Who),
        when: &When,
    ) {
        let period = if columns.fields.has(ScriptField::Period) { share.period } else { 0 };
        let of = Of { event: share.event, comm, who, seconds: when.time_ns / SECOND_NS };
        let rest_us = when.time_ns % SECOND_NS / 1000;
        if !(columns.has_same_beginnings && draft.begin_again(&of, rest_us, period)) {
            // A copy: what nobody else points to stays in the processor's registers.
            let when = *when;
            self.write_new_beginning(draft, of, columns, &when, period);
        }
    }

    #[inline(never)]
    fn write_new_beginning(&self, draft: &mut Draft, of: Of, columns: &Columns, when: &When, period: u64) {
        let (out, fields) = (&mut draft.text, columns.fields);
        let start = out.length();
        self.write_who(out, columns, self.comm(of.comm), of.who);
        self.write_when(out, columns, when);
        let behind_time = out.length() - start;
        if fields.has(ScriptField::Period) {
            decimal(out, period, PERIOD);
            out.byte(b' ');
        }
        if fields.has(ScriptField::Event) {
            columns.name.append_right(out, 0);
        }
        if fields.has(ScriptField::Flags) {
            // Only decoded instructions have some; perf keeps their place.
            out.pad(24);
        }
        if !columns.has_rare {
            out.slice(columns.before_places());
        }
        let at = start..out.length();
        if columns.has_same_beginnings && at.len() <= LONGEST {
            let short_period = short_decimal(period).map(|digits| behind_time + PERIOD - digits.len());
            let point = behind_time - ".000000: ".len();
            draft.remember(of, Beginning { at, point, period, short_period });
        }
    }

    /// Thread and CPU.
    pub(super) fn write_who(&self, out: &mut impl Append, columns: &Columns, comm: Option<&Piece>, who: Who) {
        let fields = columns.fields;
        if fields.has(ScriptField::Comm) {
            let width = if columns.is_comm_padded { 16 } else { 0 };
            match comm {
                Some(comm) => comm.append_right(out, width),
                None => out.pad(width),
            }
            out.byte(b' ');
        }
        match (fields.has(ScriptField::Pid), fields.has(ScriptField::Tid)) {
            (true, true) => {
                signed(out, who.pid.cast_signed().into(), 5);
                out.byte(b'/');
                let before = out.length();
                signed(out, who.tid.cast_signed().into(), 0);
                out.pad(5usize.saturating_sub(out.length() - before));
                out.byte(b' ');
            }
            (true, false) => {
                signed(out, who.pid.cast_signed().into(), 5);
                out.byte(b' ');
            }
            (false, true) => {
                signed(out, who.tid.cast_signed().into(), 5);
                out.byte(b' ');
            }
            (false, false) => {}
        }
        if fields.has(ScriptField::Cpu) {
            out.byte(b'[');
            if who.cpu == u32::MAX {
                out.slice(b"-01");
            } else {
                decimal_zeros(out, who.cpu.into(), 3);
            }
            out.chunk(b"] ", 2);
        }
    }

    /// Mode and time.
    #[inline]
    pub(super) fn write_when(&self, out: &mut impl Append, columns: &Columns, when: &When) {
        let fields = columns.fields;
        if fields.has(ScriptField::Misc) {
            write_misc(out, when.misc, when.kind);
        }
        if fields.has(ScriptField::TimeOfDay) {
            self.write_time_of_day(out, when.recorded_ns);
        }
        if fields.has(ScriptField::Time) {
            self.write_time(out, when.time_ns);
        }
    }

    #[inline]
    fn write_time(&self, out: &mut impl Append, time_ns: u64) {
        decimal(out, time_ns / SECOND_NS, 5);
        self.write_fraction(out, time_ns % SECOND_NS, b':');
        out.byte(b' ');
    }

    /// Date and time of day, in UTC; the space behind it alone if that is not known.
    fn write_time_of_day(&self, out: &mut impl Append, recorded_ns: Option<u64>) {
        let wall_clock_ns = recorded_ns.and_then(|ns| self.clock?.wall_clock_of(ns));
        if let Some(ns) = wall_clock_ns {
            out.slice(date_time(ns).strftime("%F %T").to_string().as_bytes());
            self.write_fraction(out, ns % SECOND_NS, b' ');
        } else {
            out.byte(b' ');
        }
    }

    /// The point behind the second, and digits, and the byte behind them.
    #[inline]
    fn write_fraction(&self, out: &mut impl Append, rest_ns: u64, behind: u8) {
        if self.options.nanoseconds {
            out.byte(b'.');
            decimal_zeros(out, rest_ns, 9);
            out.byte(behind);
        } else {
            out.chunk(&millionths(rest_ns / 1000, behind), 8);
        }
    }
}

/// Mode of the CPU and, of records, what else `misc` says: a letter each, in six columns.
fn write_misc(out: &mut impl Append, bits: u16, kind: Option<u32>) {
    use perffile::wire::record::kind as K;
    let before = out.length();
    // ABI: the modes are numbers, but perf takes them for bits.
    for (mode, letter) in [(1, b'K'), (2, b'U'), (3, b'H'), (4, b'G'), (5, b'g')] {
        if bits & mode == mode {
            out.byte(letter);
        }
    }
    match kind {
        Some(K::MMAP | K::MMAP2) if bits & misc::MMAP_DATA != 0 => out.byte(b'M'),
        Some(K::COMM) if bits & misc::COMM_EXEC != 0 => out.byte(b'E'),
        Some(K::SWITCH | K::SWITCH_CPU_WIDE) if bits & misc::SWITCH_OUT != 0 => {
            out.byte(b'S');
            if bits & misc::SWITCH_OUT_PREEMPT != 0 {
                out.byte(b'p');
            }
        }
        _ => {}
    }
    out.pad(6usize.saturating_sub(out.length() - before).max(1));
}
