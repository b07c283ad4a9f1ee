//! `stat.csv`: how many records of each type.

use super::CsvTable;
use perffile::Schema;
use readperf_profile::statistics::Statistics;
use std::io::{self, Write};

/// Writes the table.
///
/// # Errors
/// What the writer says.
pub fn write(out: impl Write, stats: &Statistics, schema: &Schema) -> io::Result<()> {
    let mut table = CsvTable::new(out, ["type", "count"])?;
    for (number, count) in stats.records() {
        table.row([&*schema.dialect().record_name(number), &count.count.to_string()])?;
    }
    table.finish()
}
