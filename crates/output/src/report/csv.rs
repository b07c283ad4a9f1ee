//! A report as comma-separated values.

use super::{Report, hierarchy};
use crate::csv::CsvTable;
use crate::overview::share;
use readperf_profile::Value;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::column::{Column, NUMBERS};
use readperf_profile::view::hierarchy::HierarchyRow;
use readperf_profile::view::histogram::{Histogram, Numbers};
use std::io::{self, Write};

/// The rows of all events in one table; of a tree the branches, each before those in it. `separator` stands between the fields.
///
/// # Errors
/// What the writer says.
pub fn write_csv(out: impl Write, report: &Report<'_>, separator: u8) -> io::Result<()> {
    let numbers = ["self_percent", "total_percent", "self_period", "total_period", "samples"];
    let keys: Vec<String> = report.keys.iter().map(|key| key.name()).collect();
    // What was asked for beyond the figures that are always there.
    let more: Vec<Column> = report.columns.iter().copied().filter(|column| is_extra(*column)).collect();
    let names = more.iter().filter_map(|column| NUMBERS.iter().find(|(_, other, _)| other == column));
    let more_names: Vec<&str> = names.map(|(name, ..)| *name).collect();
    // A branch of a tree has the keys up to its own.
    let level: &[&str] = if report.hierarchy { &["level"] } else { &[] };
    let head = std::iter::once("event").chain(level.iter().copied()).chain(keys.iter().map(String::as_str));
    let mut table = CsvTable::separated(out, separator, head.chain(numbers).chain(more_names))?;
    for histogram in report.histograms {
        if report.hierarchy {
            write_tree(&mut table, report, histogram, &more)?;
            continue;
        }
        for row in &histogram.rows {
            let events = std::iter::once((&histogram.total, &row.numbers));
            for (total, numbers) in events.chain(histogram.others.iter().zip(&row.others)) {
                table.cell(&total.name)?;
                for value in report.values.values(row.key) {
                    table.cell(&*report.text(value, numbers.samples))?;
                }
                write_numbers(&mut table, report, total, numbers, &more)?;
            }
        }
    }
    table.finish()
}

/// The branches of a tree, each before those in it.
fn write_tree<W: Write>(
    table: &mut CsvTable<W>,
    report: &Report<'_>,
    histogram: &Histogram,
    more: &[Column],
) -> io::Result<()> {
    let mut path: Vec<Value> = Vec::new();
    for HierarchyRow { level, value, numbers } in &hierarchy::tree(report, histogram).branches {
        path.truncate(*level);
        path.push(*value);
        table.cell(&histogram.total.name)?;
        table.cell((level + 1).to_string())?;
        for key in 0..report.keys.len() {
            let text = path.get(key).map(|value| report.text(*value, numbers.samples));
            table.cell(text.as_deref().unwrap_or_default())?;
        }
        write_numbers(table, report, &histogram.total, numbers, more)?;
    }
    Ok(())
}

/// The figures of a row, which end it.
fn write_numbers<W: Write>(
    table: &mut CsvTable<W>,
    report: &Report<'_>,
    total: &EventTotal,
    numbers: &Numbers,
    more: &[Column],
) -> io::Result<()> {
    let whole = report.whole(total);
    let percent = |period: u64| format!("{:.4}", share(period, whole));
    table.cell(percent(numbers.self_period))?;
    table.cell(percent(numbers.total_period))?;
    table.cell(numbers.self_period.to_string())?;
    table.cell(numbers.total_period.to_string())?;
    table.cell(numbers.samples.to_string())?;
    for column in more {
        table.cell(percent(column.number(numbers)))?;
    }
    table.end_row()
}

fn is_extra(column: Column) -> bool {
    column.is_share() && !matches!(column, Column::Overhead | Column::Children)
}
