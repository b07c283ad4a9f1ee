//! `processes.csv`: a row a process.

use super::CsvTable;
use crate::text::decoded;
use readperf_session::{Process, ProcessId, Session};
use std::io::{self, Write};

/// A cell of a process.
type Cell = fn(&Session, ProcessId, &Process) -> String;

/// The columns, and what each says.
const COLUMNS: [(&str, Cell); 7] = [
    ("pid", |_, _, process| process.pid.cast_signed().to_string()),
    ("name", |session, id, _| decoded(session.process_name(id)).into_owned()),
    ("mmaps", |_, _, process| process.mmaps.to_string()),
    ("fork_time", |_, _, process| time(process.fork_time_ns)),
    ("exit_time", |_, _, process| time(process.exit_time_ns)),
    ("samples", |_, _, process| process.samples.to_string()),
    ("period", |_, _, process| process.period.to_string()),
];

fn time(time: Option<u64>) -> String {
    time.map_or_else(String::new, |time| time.to_string())
}

/// Writes the table.
///
/// # Errors
/// What the writer says.
pub fn write(out: impl Write, session: &Session) -> io::Result<()> {
    let mut table = CsvTable::new(out, COLUMNS.map(|(name, _)| name))?;
    for (id, process) in session.processes_with_ids() {
        table.row(COLUMNS.map(|(_, cell)| cell(session, id, process)))?;
    }
    table.finish()
}
