//! Records that are no samples: who and when, then what the record says, in perf's words.

use super::beginnings::Who;
use super::start::When;
use super::{Script, places};
use crate::buffer::Piece;
use crate::digits::hex;
use perffile::Event;
use perffile::wire::misc;
use perffile::wire::protection::permissions;
use perffile::wire::record::mmap2::{FileIdentity, Mmap2};
use perffile::wire::record::namespaces::{self, Namespaces};
use perffile::wire::record::text_poke::TextPoke;
use perffile::wire::record::{Record, kind};
use perffile::wire::sample::SampleId;
use readperf_session::{CommId, thread_of};
use std::io::Write as _;

/// A record and what of its line depends on the lines before: [`Script::follow_record`] makes it.
#[derive(Clone, Copy, Debug)]
pub struct NextRecord<'s, 'e> {
    event: &'s Event<'e>,
    /// The name of the thread that it is about, if it is known.
    comm: Option<CommId>,
    time_ns: u64,
}

impl Script {
    /// Takes a record as the next that is shown, with the name of the thread that it is about, if that is known. `None` if it is not shown.
    pub fn follow_record<'s, 'e>(
        &mut self,
        event: &'s Event<'e>,
        comm: Option<CommId>,
    ) -> Option<NextRecord<'s, 'e>> {
        let number = event.head().kind;
        self.cgroups.follow(event);
        if !self.options.records.contains(&number) {
            return None;
        }
        let time_ns = match number {
            kind::FINISHED_ROUND => 0,
            _ => self.before.time(self.options.times, event.time().unwrap_or_default()),
        };
        Some(NextRecord { event, comm, time_ns })
    }

    /// Appends the line of a record; nothing if it cannot be decoded.
    pub fn write_record(&self, out: &mut Vec<u8>, next: &NextRecord<'_, '_>) {
        let NextRecord { event, comm, .. } = *next;
        let Ok((record, _)) = event.record() else { return };
        if event.is_user_record() {
            // Writing to memory does not fail, here and below.
            let _ = writeln!(out, "PERF_RECORD_{}", event.type_name());
            return;
        }
        let bits = event.head().misc;
        if let Some(columns) = event.event_index().and_then(|index| self.columns(index)) {
            let id = event.sample_id().unwrap_or_else(|| SampleId {
                pid: thread_of(event).map(|(pid, _)| pid),
                tid: thread_of(event).map(|(_, tid)| tid),
                cpu: Some(0),
                ..SampleId::default()
            });
            let unnamed = match id.tid {
                // Nothing names the idle threads, which all have this number.
                Some(0) => "swapper".to_owned(),
                tid => format!(":{}", tid.unwrap_or(u32::MAX).cast_signed()),
            };
            let unnamed = Piece::new(unnamed.into());
            let comm = comm.map_or(Some(&unnamed), |comm| self.comm(comm));
            let number = |id: Option<u32>| id.unwrap_or(u32::MAX);
            let who = Who { pid: number(id.pid), tid: number(id.tid), cpu: number(id.cpu) };
            self.write_who(out, columns, comm, who);
            let kind = Some(event.head().kind);
            let when = When { time_ns: next.time_ns, recorded_ns: event.time(), misc: bits, kind };
            self.write_when(out, columns, &when);
        }
        let _ = write!(out, "PERF_RECORD_{}", event.type_name());
        write_body(out, &record, bits);
        out.push(b'\n');
    }
}

/// What a record says, without the line's end.
fn write_body(out: &mut Vec<u8>, record: &Record<'_>, bits: u16) {
    let id = |id: u32| id.cast_signed();
    let _ = match record {
        Record::Mmap(map) => {
            let (pid, tid, addr, len) = (id(map.pid), id(map.tid), Hex(map.addr), Hex(map.len));
            let kind = if bits & misc::MMAP_DATA != 0 { 'r' } else { 'x' };
            let (pgoff, name) = (Hex(map.pgoff), places::shown(map.filename.bytes()));
            write!(out, " {pid}/{tid}: [{addr}({len}) @ {pgoff}]: {kind} {name}")
        }
        Record::Mmap2(map) => return write_mmap2(out, map),
        Record::Comm(comm) => {
            let exec = if bits & misc::COMM_EXEC != 0 { " exec" } else { "" };
            let name = places::shown(comm.comm.bytes());
            write!(out, "{exec}: {name}:{}/{}", id(comm.pid), id(comm.tid))
        }
        Record::Fork(task) | Record::Exit(task) => {
            write!(out, "({}:{}):({}:{})", id(task.pid), id(task.tid), id(task.ppid), id(task.ptid))
        }
        Record::Switch(_) => write!(out, " {}", switch(bits)),
        Record::SwitchCpuWide(other) => {
            let side = if bits & misc::SWITCH_OUT != 0 { "next" } else { "prev" };
            let (pid, tid) = (id(other.next_prev_pid), id(other.next_prev_tid));
            write!(out, " {}  {side} pid/tid: {pid:5}/{tid:<5}", switch(bits))
        }
        Record::Lost(lost) => write!(out, " lost {}", lost.lost),
        Record::LostSamples(lost) => write!(out, " lost {}", lost.lost),
        Record::Namespaces(namespaces) => return write_namespaces(out, namespaces),
        Record::Cgroup(cgroup) => {
            write!(out, " cgroup: {} {}", cgroup.cgroup_id, places::shown(cgroup.path.bytes()))
        }
        Record::Ksymbol(symbol) => write!(
            out,
            " addr {:x} len {} type {} flags 0x{:x} name {}",
            symbol.addr,
            symbol.len,
            symbol.ksym_type.0,
            symbol.flags.0,
            places::shown(symbol.name.bytes())
        ),
        Record::BpfEvent(bpf) => {
            write!(out, " type {}, flags {}, id {}", bpf.bpf_type.0, bpf.flags, bpf.prog_id)
        }
        Record::TextPoke(poke) => return write_text_poke(out, poke),
        _ => Ok(()),
    };
}

fn switch(bits: u16) -> &'static str {
    match (bits & misc::SWITCH_OUT != 0, bits & misc::SWITCH_OUT_PREEMPT != 0) {
        (true, true) => "OUT preempt",
        (true, false) => "OUT        ",
        (false, _) => "IN         ",
    }
}

fn write_mmap2(out: &mut Vec<u8>, map: &Mmap2<'_>) {
    let (pid, tid) = (map.pid.cast_signed(), map.tid.cast_signed());
    let (addr, len, pgoff) = (Hex(map.addr), Hex(map.len), Hex(map.pgoff));
    let _ = write!(out, " {pid}/{tid}: [{addr}({len}) @ {pgoff}");
    let _ = match map.file {
        FileIdentity::Inode { maj, min, ino, ino_generation } => {
            write!(out, " {maj:02x}:{min:02x} {ino} {ino_generation}]: ")
        }
        FileIdentity::BuildId { .. } => {
            write!(out, " <{}>]: ", crate::json::hex(map.file.build_id().unwrap_or_default()))
        }
    };
    out.extend_from_slice(permissions(map.prot, map.flags).as_bytes());
    out.push(b' ');
    out.extend_from_slice(places::shown(map.filename.bytes()).as_bytes());
}

fn write_namespaces(out: &mut Vec<u8>, record: &Namespaces<'_>) {
    const IN_LINE: usize = 4;
    let count = record.namespaces.len();
    let (pid, tid) = (record.pid.cast_signed(), record.tid.cast_signed());
    let _ = write!(out, " {pid}/{tid} - nr_namespaces: {count}\n\t\t[");
    for (nr, link) in record.namespaces.iter().enumerate() {
        if nr > 0 && nr % IN_LINE == 0 {
            out.extend_from_slice(b"\n\t\t ");
        }
        let name = namespaces::NAMES.get(nr).copied().unwrap_or("unknown");
        let end = if nr + 1 < count { ", " } else { "]" };
        let _ = write!(out, "{nr}/{name}: {}/{}{end}", link.dev, Hex(link.inode));
    }
}

fn write_text_poke(out: &mut Vec<u8>, poke: &TextPoke<'_>) {
    out.push(b' ');
    hex(out, poke.addr, 0);
    let _ = write!(out, " old len {} new len {}", poke.old.len(), poke.new.len());
    for (title, bytes) in [("old bytes:", poke.old), ("new bytes:", poke.new)] {
        for (nr, line) in bytes.chunks(16).enumerate() {
            let _ = write!(out, "\n{:>22}", if nr == 0 { title } else { "" });
            for byte in line {
                let _ = write!(out, " {byte:02x}");
            }
        }
    }
}

/// A number as C prints it with `%#x`: 0 has no prefix.
struct Hex(u64);

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.0 == 0 { f.write_str("0") } else { write!(f, "{:#x}", self.0) }
    }
}
