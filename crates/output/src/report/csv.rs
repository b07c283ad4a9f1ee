//! A report as comma-separated values.

use super::Report;
use crate::overview::share;
use readperf_profile::view::column::{Column, NUMBERS};
use std::io::Write;

/// The rows of all events in one table. `separator` stands between the fields.
///
/// # Errors
/// What the writer says.
pub fn write_csv(out: impl Write, report: &Report<'_>, separator: u8) -> Result<(), csv::Error> {
    let mut table = csv::WriterBuilder::new().delimiter(separator).from_writer(out);
    let numbers = ["self_percent", "total_percent", "self_period", "total_period", "samples"];
    let keys: Vec<String> = report.keys.iter().map(|key| key.name()).collect();
    // What was asked for beyond the figures that are always there.
    let more: Vec<Column> = report.columns.iter().copied().filter(|column| is_extra(*column)).collect();
    let names = more.iter().filter_map(|column| NUMBERS.iter().find(|(_, other, _)| other == column));
    let more_names: Vec<&str> = names.map(|(name, ..)| *name).collect();
    let head = std::iter::once("event").chain(keys.iter().map(String::as_str));
    table.write_record(head.chain(numbers).chain(more_names))?;
    for histogram in report.histograms {
        for row in &histogram.rows {
            let events = std::iter::once((&histogram.total, &row.numbers));
            for (total, numbers) in events.chain(histogram.others.iter().zip(&row.others)) {
                let whole = report.whole(total);
                let percent = |period: u64| format!("{:.4}", share(period, whole));
                table.write_field(&total.name)?;
                for value in &row.values {
                    table.write_field(&*report.text(*value, numbers.samples))?;
                }
                table.write_field(percent(numbers.self_period))?;
                table.write_field(percent(numbers.total_period))?;
                table.write_field(numbers.self_period.to_string())?;
                table.write_field(numbers.total_period.to_string())?;
                table.write_field(numbers.samples.to_string())?;
                for column in &more {
                    table.write_field(percent(column.number(numbers)))?;
                }
                table.write_record(None::<&[u8]>)?;
            }
        }
    }
    Ok(table.flush()?)
}

fn is_extra(column: Column) -> bool {
    column.is_share() && !matches!(column, Column::Overhead | Column::Children)
}
