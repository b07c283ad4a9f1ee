//! `overview.csv`: every record in order of time. A row is written as its record comes by; nothing is kept.

use super::CsvTable;
use perffile::Event;
use perffile::wire::record::mmap2::FileIdentity;
use perffile::wire::record::{Record, kind};
use std::fmt::Write as _;
use std::io::{self, Write};

/// The table being written.
#[derive(Debug)]
pub struct Overview<W: Write> {
    table: CsvTable<W>,
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
        let table = CsvTable::new(out, ["nr", "type", "pid", "tid", "time", "event", "info"])?;
        Ok(Overview { table, info: String::new() })
    }

    /// Writes the row of a record.
    ///
    /// # Errors
    /// What the writer says.
    pub fn add(&mut self, event: &Event<'_>) -> io::Result<()> {
        self.info.clear();
        let row = if event.head().kind == kind::SAMPLE { self.sample(event) } else { self.other(event) };
        let number = |number: Option<u64>| number.map_or_else(String::new, |number| number.to_string());
        let name = event.event().map_or("", |event| &event.name);
        self.table.row([
            event.index().to_string().as_str(),
            &event.type_name(),
            &number(row.pid.map(u64::from)),
            &number(row.tid.map(u64::from)),
            &number(event.time()),
            name,
            &self.info,
        ])
    }

    /// Ends the table.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(self) -> std::io::Result<()> {
        self.table.finish()
    }

    /// Instruction pointer and period.
    fn sample(&mut self, event: &Event<'_>) -> Row {
        let Some(sample) = event.sample() else { return Row::default() };
        let period = event.event().map_or(0, |event| event.period(sample.period()));
        // Writing to a string does not fail.
        let _ = write!(self.info, "ip={:#x} period={period}", sample.ip().unwrap_or(0));
        Row { pid: sample.pid(), tid: sample.tid() }
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
