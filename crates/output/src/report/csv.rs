//! A report as comma-separated values.

use super::Report;
use crate::csv::CsvTable;
use crate::overview::share;
use readperf_profile::view::column::{Column, NUMBERS};
use std::io::Write;

/// The rows of all events in one table. `separator` stands between the fields.
///
/// # Errors
/// What the writer says.
pub fn write_csv(out: impl Write, report: &Report<'_>, separator: u8) -> Result<(), csv::Error> {
    let numbers = ["self_percent", "total_percent", "self_period", "total_period", "samples"];
    let keys: Vec<String> = report.keys.iter().map(|key| key.name()).collect();
    // What was asked for beyond the figures that are always there.
    let more: Vec<Column> = report.columns.iter().copied().filter(|column| is_extra(*column)).collect();
    let names = more.iter().filter_map(|column| NUMBERS.iter().find(|(_, other, _)| other == column));
    let more_names: Vec<&str> = names.map(|(name, ..)| *name).collect();
    let head = std::iter::once("event").chain(keys.iter().map(String::as_str));
    let mut table = CsvTable::separated(out, separator, head.chain(numbers).chain(more_names))?;
    for histogram in report.histograms {
        for row in &histogram.rows {
            let events = std::iter::once((&histogram.total, &row.numbers));
            for (total, numbers) in events.chain(histogram.others.iter().zip(&row.others)) {
                let whole = report.whole(total);
                let percent = |period: u64| format!("{:.4}", share(period, whole));
                table.cell(&total.name)?;
                for value in report.values().values(row.key) {
                    table.cell(&*report.text(value, numbers.samples))?;
                }
                table.cell(percent(numbers.self_period))?;
                table.cell(percent(numbers.total_period))?;
                table.cell(numbers.self_period.to_string())?;
                table.cell(numbers.total_period.to_string())?;
                table.cell(numbers.samples.to_string())?;
                for column in &more {
                    table.cell(percent(column.number(numbers)))?;
                }
                table.end_row()?;
            }
        }
    }
    Ok(table.finish()?)
}

fn is_extra(column: Column) -> bool {
    column.is_share() && !matches!(column, Column::Overhead | Column::Children)
}
