//! `stat.csv`: how many records of each type.

use perffile::Schema;
use readperf_profile::statistics::Statistics;
use std::io::Write;

/// Writes the table.
///
/// # Errors
/// What the writer says.
pub fn write(out: impl Write, stats: &Statistics, schema: &Schema) -> Result<(), csv::Error> {
    let mut table = super::table(out, &["type", "count"])?;
    for (number, count) in stats.records() {
        table.write_record([&*schema.dialect().record_name(number), &count.count.to_string()])?;
    }
    Ok(table.flush()?)
}
