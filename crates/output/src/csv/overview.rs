//! `overview.csv`: every record in order of time. A row is written as its record comes by; nothing is kept.

use super::{CsvTable, cell};
use crate::digits::{decimal, hex};
use perffile::Event;
use perffile::wire::record::mmap2::FileIdentity;
use perffile::wire::record::{Record, kind};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Bytes of rows that go out at a time.
const AT_ONCE: usize = 1 << 18;

/// The table being written.
#[derive(Debug)]
pub struct Overview<W: Write> {
    out: W,
    /// Rows that did not go out yet.
    rows: Vec<u8>,
    /// The types of records, and the names of events by their numbers, with the cells that they are.
    types: FxHashMap<u32, Vec<u8>>,
    names: Vec<(String, Vec<u8>)>,
    info: String,
}

/// What the columns pid, tid and info say of a record.
#[derive(Default)]
struct Row {
    pid: Option<u32>,
    tid: Option<u32>,
}

impl<W: Write> Overview<W> {
    /// Begins the table.
    ///
    /// # Errors
    /// What the writer says.
    pub fn new(out: W) -> io::Result<Self> {
        let mut rows = Vec::new();
        CsvTable::new(&mut rows, ["nr", "type", "pid", "tid", "time", "event", "info"])?.finish()?;
        Ok(Overview { out, rows, types: FxHashMap::default(), names: Vec::new(), info: String::new() })
    }

    /// Writes the row of a record.
    ///
    /// # Errors
    /// What the writer says.
    pub fn add(&mut self, event: &Event<'_>) -> io::Result<()> {
        let is_sample = event.head().kind == kind::SAMPLE;
        self.info.clear();
        let (row, ip_and_period) = match is_sample {
            true => sample(event),
            false => (self.other(event), None),
        };
        let Overview { rows, types, info, .. } = self;
        decimal(rows, event.index(), 0);
        rows.push(b',');
        rows.extend_from_slice(types.entry(event.head().kind).or_insert_with(|| cell(&event.type_name())));
        for number in [row.pid.map(u64::from), row.tid.map(u64::from), event.time()] {
            rows.push(b',');
            if let Some(number) = number {
                decimal(rows, number, 0);
            }
        }
        rows.push(b',');
        if let (Some(number), Some(description)) = (event.event_index(), event.event()) {
            let names = &mut self.names;
            if names.len() <= number {
                names.resize_with(number + 1, Default::default);
            }
            if let Some((name, cell_of_name)) = names.get_mut(number) {
                if *name != description.name {
                    (*name, *cell_of_name) = (description.name.to_string(), cell(&description.name));
                }
                rows.extend_from_slice(cell_of_name);
            }
        }
        rows.push(b',');
        match ip_and_period {
            Some((ip, period)) => {
                rows.extend_from_slice(b"ip=0x");
                hex(rows, ip, 0);
                rows.extend_from_slice(b" period=");
                decimal(rows, period, 0);
            }
            None if info.is_empty() => {}
            None => rows.extend_from_slice(&cell(info)),
        }
        rows.push(b'\n');
        if self.rows.len() >= AT_ONCE { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.out.write_all(&self.rows)?;
        self.rows.clear();
        Ok(())
    }

    /// Ends the table.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<()> {
        self.write()?;
        self.out.flush()
    }

    /// What the contract of 2011 names for each type; who it is about comes from the record, else from its trailer.
    fn other(&mut self, event: &Event<'_>) -> Row {
        let id = event.sample_id().unwrap_or_default();
        let mut row = Row { pid: id.pid, tid: id.tid };
        let mut of = |pid: u32, tid: u32| row = Row { pid: Some(pid), tid: Some(tid) };
        let Ok((record, _)) = event.record() else { return row };
        let info = &mut self.info;
        // Writing to a string does not fail.
        let _ = match record {
            Record::Mmap(map) => {
                of(map.pid, map.tid);
                write!(
                    info,
                    "{} addr={:#x} len={:#x} pgoff={:#x}",
                    map.filename.display(),
                    map.addr,
                    map.len,
                    map.pgoff
                )
            }
            Record::Mmap2(map) => {
                of(map.pid, map.tid);
                let (name, addr, len, pgoff) = (map.filename.display(), map.addr, map.len, map.pgoff);
                let written = write!(info, "{name} addr={addr:#x} len={len:#x} pgoff={pgoff:#x}");
                if let (FileIdentity::BuildId { .. }, Some(id)) = (map.file, map.file.build_id()) {
                    let _ = write!(info, " build_id={}", crate::json::hex(id));
                }
                written
            }
            Record::Comm(comm) => {
                of(comm.pid, comm.tid);
                write!(info, "{}", comm.comm.display())
            }
            Record::Fork(task) => {
                of(task.pid, task.tid);
                write!(info, "{}", task.ppid)
            }
            Record::Exit(task) => {
                of(task.pid, task.tid);
                Ok(())
            }
            Record::Lost(lost) => write!(info, "lost={}", lost.lost),
            Record::LostSamples(lost) => write!(info, "lost={}", lost.lost),
            Record::Ksymbol(symbol) => {
                write!(info, "{} addr={:#x} len={:#x}", symbol.name.display(), symbol.addr, symbol.len)
            }
            Record::Cgroup(cgroup) => write!(info, "{} id={}", cgroup.path.display(), cgroup.cgroup_id),
            Record::Namespaces(namespaces) => {
                of(namespaces.pid, namespaces.tid);
                Ok(())
            }
            Record::ItraceStart(start) => {
                of(start.pid, start.tid);
                Ok(())
            }
            _ => Ok(()),
        };
        row
    }
}

/// Who a sample is about, its instruction pointer and its period.
fn sample(event: &Event<'_>) -> (Row, Option<(u64, u64)>) {
    let Some(sample) = event.sample() else { return (Row::default(), None) };
    let period = event.event().map_or(0, |event| event.period(sample.period()));
    (Row { pid: sample.pid(), tid: sample.tid() }, Some((sample.ip().unwrap_or(0), period)))
}
