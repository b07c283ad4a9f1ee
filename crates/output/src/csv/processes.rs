//! `processes.csv`: a row a process.

use super::CsvTable;
use crate::text::decoded;
use readperf_session::Session;
use std::io::Write;

/// Writes the table.
///
/// # Errors
/// What the writer says.
pub fn write(out: impl Write, session: &Session) -> Result<(), csv::Error> {
    let columns = ["pid", "name", "mmaps", "fork_time", "exit_time", "samples", "period"];
    let mut table = CsvTable::new(out, columns)?;
    let time = |time: Option<u64>| time.map_or_else(String::new, |time| time.to_string());
    for (id, process) in session.processes_with_ids() {
        table.row([
            process.pid.cast_signed().to_string().as_str(),
            &decoded(session.process_name(id)),
            &process.mmaps.to_string(),
            &time(process.fork_time_ns),
            &time(process.exit_time_ns),
            &process.samples.to_string(),
            &process.period.to_string(),
        ])?;
    }
    Ok(table.finish()?)
}
