//! The beginning of a line: who and when, of samples and of other records.

use super::Script;
use super::columns::Columns;
use super::fields::ScriptField;
use crate::calendar::date_time;
use crate::digits::{Piece, append_again, decimal, decimal_zeros, millionths, pad, signed};
use perffile::wire::misc;
use readperf_session::CommId;
use std::io::Write as _;
use std::ops::Range;

const SECOND_NS: u64 = 1_000_000_000;

/// A thread on a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Who {
    pub(super) pid: u32,
    pub(super) tid: u32,
    pub(super) cpu: u32,
}

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

/// How many beginnings are remembered, by thread and CPU.
const REMEMBERED: usize = 16;

/// How the last lines of a text begin: those that follow mostly begin as one of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Beginnings([Beginning; REMEMBERED]);

/// What it is of, and where it is in the text.
#[derive(Clone, Debug, Default)]
struct Beginning {
    of: Option<Of>,
    at: Range<usize>,
}

/// What beginnings depend on: the event, the thread's name, and the rest.
type Of = (usize, CommId, Who);

impl Beginnings {
    #[inline]
    fn slot((_, _, who): &Of) -> usize {
        (who.tid ^ who.cpu << 2) as usize % REMEMBERED
    }

    #[inline]
    fn find(&self, of: &Of) -> Option<Range<usize>> {
        let known = self.0.get(Beginnings::slot(of))?;
        (known.of.as_ref() == Some(of)).then(|| known.at.clone())
    }

    fn put(&mut self, of: Of, at: Range<usize>) {
        if let Some(slot) = self.0.get_mut(Beginnings::slot(&of)) {
            *slot = Beginning { of: Some(of), at };
        }
    }
}

impl Script {
    /// The thread of a sample, its name, and its CPU, as columns of its event.
    #[inline]
    pub(super) fn write_who_again(
        &self,
        (out, beginnings): (&mut Vec<u8>, &mut Beginnings),
        (event, columns): (usize, &Columns),
        comm: CommId,
        who: Who,
    ) {
        let of = (event, comm, who);
        if let Some(known) = beginnings.find(&of) {
            return append_again(out, known);
        }
        let start = out.len();
        self.write_who(out, columns, self.comm(comm), who);
        beginnings.put(of, start..out.len());
    }

    /// Thread and CPU.
    pub(super) fn write_who(&self, out: &mut Vec<u8>, columns: &Columns, comm: Option<&Piece>, who: Who) {
        let fields = columns.fields;
        if fields.has(ScriptField::Comm) {
            let width = if columns.is_comm_padded { 16 } else { 0 };
            match comm {
                Some(comm) => comm.append_right(out, width),
                None => pad(out, width),
            }
            out.push(b' ');
        }
        let number = |out: &mut Vec<u8>, id: u32| signed(out, id.cast_signed().into(), 5);
        match (fields.has(ScriptField::Pid), fields.has(ScriptField::Tid)) {
            (true, true) => {
                number(out, who.pid);
                out.push(b'/');
                let before = out.len();
                signed(out, who.tid.cast_signed().into(), 0);
                pad(out, 5usize.saturating_sub(out.len() - before));
                out.push(b' ');
            }
            (true, false) => {
                number(out, who.pid);
                out.push(b' ');
            }
            (false, true) => {
                number(out, who.tid);
                out.push(b' ');
            }
            (false, false) => {}
        }
        if fields.has(ScriptField::Cpu) {
            out.push(b'[');
            if who.cpu == u32::MAX {
                out.extend_from_slice(b"-01");
            } else {
                decimal_zeros(out, who.cpu.into(), 3);
            }
            out.extend_from_slice(b"] ");
        }
    }

    /// Mode and time.
    #[inline]
    pub(super) fn write_when(&self, out: &mut Vec<u8>, columns: &Columns, when: &When) {
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
    fn write_time(&self, out: &mut Vec<u8>, time_ns: u64) {
        let (seconds, rest) = (time_ns / SECOND_NS, time_ns % SECOND_NS);
        decimal(out, seconds, 5);
        self.write_fraction(out, rest);
        out.extend_from_slice(b": ");
    }

    /// Date and time of day, in UTC; the space behind it alone if that is not known.
    fn write_time_of_day(&self, out: &mut Vec<u8>, recorded_ns: Option<u64>) {
        let wall_clock_ns = recorded_ns.and_then(|ns| self.clock?.wall_clock_of(ns));
        if let Some(ns) = wall_clock_ns {
            // To a `Vec` nothing fails.
            let _ = write!(out, "{}", date_time(ns).strftime("%F %T"));
            self.write_fraction(out, ns % SECOND_NS);
        }
        out.push(b' ');
    }

    /// The point behind the second, and digits.
    #[inline]
    fn write_fraction(&self, out: &mut Vec<u8>, rest_ns: u64) {
        if self.options.nanoseconds {
            out.push(b'.');
            decimal_zeros(out, rest_ns, 9);
        } else {
            millionths(out, rest_ns / 1000);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::ScriptOptions;
    use crate::script::fields::ScriptFields;
    use readperf_session::Session;

    fn columns(fields: &[ScriptField], is_comm_padded: bool) -> Columns {
        Columns {
            fields: ScriptFields::of(fields),
            has_chain: !is_comm_padded,
            is_comm_padded,
            style: None,
            unwound_style: None,
            return_style: None,
            name: Piece::default(),
            tracepoint: None,
            is_fault: false,
            is_bpf_output: false,
        }
    }

    #[test]
    fn lines_begin_as_the_last_one_of_the_same_event_thread_name_and_cpu() {
        let mut session = Session::default();
        let comms = [&b"a"[..], b"other"].map(|name| session.add_comm(name));
        let mut script = Script::new(ScriptOptions::default());
        script.comms.extend(["a", "other"].map(|name| Piece::new(name.into())));
        let plain = [ScriptField::Comm, ScriptField::Tid, ScriptField::Cpu];
        let events = [
            columns(&plain, false),
            columns(&plain, true),
            columns(&[ScriptField::Comm, ScriptField::Pid, ScriptField::Tid], false),
        ];
        let (mut out, mut beginnings) = (Vec::new(), Beginnings::default());
        for nr in 0..4000_u32 {
            // What makes a line is now the same as before, now another one.
            let pick = |every: u32, of: u32| nr / every % of;
            let (event, comm) = (pick(3, 3) as usize, comms[pick(2, 2) as usize]);
            let who = Who { pid: pick(7, 2), tid: pick(5, 3) * 16, cpu: pick(11, 2) * 4 };
            let (before, columns) = (out.len(), &events[event]);
            script.write_who_again((&mut out, &mut beginnings), (event, columns), comm, who);
            let mut expected = Vec::new();
            script.write_who(&mut expected, columns, script.comm(comm), who);
            assert_eq!(out.get(before..), Some(&*expected), "{nr}");
            out.extend_from_slice(&[b'.'; 64][..pick(1, 65) as usize]);
        }
    }
}
