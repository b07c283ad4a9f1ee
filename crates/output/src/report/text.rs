//! A report for people: aligned columns, hot rows in colour.

use super::{Report, graph, hierarchy};
use crate::heading;
use crate::overview::{share, style};
use crate::table::{self, Kind, Table};
use crate::text::{grouped, printable};
use readperf_profile::profile::EventTotal;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{Histogram, HistogramRow, LeftOut, Numbers};
use readperf_profile::view::key::KeyUse;
use std::io::{self, Write};

/// Writes a section for each histogram.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, report: &Report<'_>) -> io::Result<()> {
    if report.histograms.is_empty() {
        return writeln!(out, "no samples");
    }
    for (nr, histogram) in report.histograms.iter().enumerate() {
        if nr > 0 {
            writeln!(out)?;
        }
        section(out, report, histogram)?;
    }
    Ok(())
}

fn section(out: &mut impl Write, report: &Report<'_>, histogram: &Histogram) -> io::Result<()> {
    for event in std::iter::once(&histogram.total).chain(&histogram.others) {
        writeln!(out, "{}", heading::samples(event, report.recorded(event)))?;
    }
    heading::write_whole(out, &histogram.total, report.recorded(&histogram.total), report.whole)?;
    if report.hierarchy {
        return hierarchy::write(out, report, histogram);
    }
    let mut table = table(report, histogram);
    // Cells are made twice: all of them at once would be most of the memory.
    for row in &histogram.rows {
        table.fit(&cells(report, histogram, row));
    }
    table.head(out)?;
    let whole = report.whole(&histogram.total);
    for row in &histogram.rows {
        let style = style(report.share(histogram, row));
        table.row(out, &cells(report, histogram, row), style)?;
        graph::write(out, report, report.graph, row, whole)?;
    }
    graph::left_out(out, &histogram.rows)?;
    left_out(out, report, histogram, histogram.left_out)
}

/// Says what rows below the limit add up to.
pub(super) fn left_out(
    out: &mut impl Write,
    report: &Report<'_>,
    histogram: &Histogram,
    left_out: LeftOut,
) -> io::Result<()> {
    let LeftOut { rows, self_period } = left_out;
    if rows == 0 {
        return Ok(());
    }
    let share = share(self_period, report.whole(&histogram.total));
    let (rows, limit) = (grouped(rows), report.percent_limit);
    writeln!(out, "… and {rows} rows below {limit} %, together {share:.2} % of their own")
}

/// The columns; those of numbers are there once for each event of a group, under its name.
fn table(report: &Report<'_>, histogram: &Histogram) -> Table {
    let mut columns = Vec::new();
    for column in report.columns {
        let title = title(*column, report);
        let mut push = |head: &str, kind| {
            let told = report.widths.get(columns.len()).copied().flatten();
            columns.push(table::Column::new(head, kind, told));
        };
        match column {
            Column::Key(index) => push(title, kind(report.keys.get(*index))),
            _ if histogram.others.is_empty() => push(title, Kind::Number),
            _ => {
                for event in std::iter::once(&histogram.total).chain(&histogram.others) {
                    push(&format!("{title} {}", event.name), Kind::Number);
                }
            }
        }
    }
    Table::new(columns, report.width)
}

/// What a key's column shows, and so how it is cut.
pub(super) fn kind(key: Option<&KeyUse>) -> Kind {
    let name = key.map_or("", |key| key.key.name);
    if name.starts_with("sym") || name == "parent" {
        Kind::Name
    } else if name.starts_with("src") {
        Kind::File
    } else {
        Kind::Text
    }
}

/// The head of a column.
pub(super) fn title<'r>(column: Column, report: &Report<'r>) -> &'r str {
    match column {
        Column::Overhead if report.columns.contains(&Column::Children) => "self",
        Column::Overhead => "share",
        Column::Children => "total",
        Column::System => "kernel",
        Column::User => "user",
        Column::GuestSystem => "guest kernel",
        Column::GuestUser => "guest user",
        Column::Samples => "samples",
        Column::Period => "period",
        Column::Key(index) => report.keys.get(index).map_or("", |key| key.title()),
    }
}

fn cells(report: &Report<'_>, histogram: &Histogram, row: &HistogramRow) -> Vec<String> {
    let mut cells = Vec::new();
    for column in report.columns {
        if let Column::Key(index) = column {
            let value = row.values.get(*index).copied().unwrap_or_default();
            let text = report.text(value, row.numbers.samples);
            cells.push(printable(&text).into_owned());
            continue;
        }
        cells.push(number(report, *column, &histogram.total, &row.numbers));
        for (total, numbers) in histogram.others.iter().zip(&row.others) {
            cells.push(number(report, *column, total, numbers));
        }
    }
    cells
}

pub(super) fn number(report: &Report<'_>, column: Column, total: &EventTotal, numbers: &Numbers) -> String {
    let number = column.number(numbers);
    match column.is_share() {
        true => format!("{:.2} %", share(number, report.whole(total))),
        false => grouped(number),
    }
}
