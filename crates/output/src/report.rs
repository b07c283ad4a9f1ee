//! `readperf report`: the table of functions as JSON.

use crate::json;
use crate::names::Names;
use readperf_profile::Profile;
use readperf_profile::view::table::Keys;
use readperf_session::Session;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The tables of all events that have samples, as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, profile: &Profile, session: &Session) -> io::Result<()> {
    let names = Names { profile, session };
    let tables = profile.tables(Keys::CommFunction, |row| names.key(row));
    let event = |table: &readperf_profile::view::table::Table| {
        let total = profile.events().get(table.event).cloned().unwrap_or_default();
        let rows: Vec<Value> = table
            .rows
            .iter()
            .map(|row| {
                let function = names.function(row);
                json!({
                    "comm": names.comm(row),
                    "dso": names.binary_name(row),
                    "dso_path": names.binary_path(row),
                    "symbol": function.map_or_else(Default::default, |function| function.label()),
                    "source_file": function.and_then(|function| function.source_file.clone()),
                    "self_period": row.period,
                    "total_period": row.period,
                    "samples": row.samples,
                })
            })
            .collect();
        json!({ "name": total.name, "samples": total.samples, "period": total.period, "rows": rows })
    };
    let document = json!({
        "schema": json::SCHEMA,
        "sort": ["comm", "dso", "symbol"],
        "events": tables.iter().map(event).collect::<Vec<Value>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
