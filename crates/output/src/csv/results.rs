//! `results.csv`: a row a function of each event, highest period first.

use super::CsvTable;
use crate::names::{Names, TieOrder};
use crate::overview::share;
use readperf_profile::Profile;
use readperf_profile::view::table::Keys;
use readperf_session::Session;
use std::io::{self, Write};

/// Writes the table.
///
/// # Errors
/// What the writer says.
pub fn write(out: impl Write, profile: &Profile, session: &Session) -> io::Result<()> {
    let names = Names { profile, session };
    let order = TieOrder::new(names);
    let columns = ["event", "period", "samples", "percent", "function", "source_file", "binary"];
    let mut table = CsvTable::new(out, columns)?;
    for view in profile.tables(Keys::Function, |row| order.key(row)) {
        let Some(event) = profile.events().get(view.event) else { continue };
        for row in &view.rows {
            let function = names.function(row);
            table.row([
                event.name.as_str(),
                &row.period.to_string(),
                &row.samples.to_string(),
                &format!("{:.4}", share(row.period, event.period)),
                &function.map_or_else(Default::default, |function| function.label()),
                function.and_then(|function| function.source_file()).unwrap_or(""),
                &names.binary_path(row),
            ])?;
        }
    }
    table.finish()
}
