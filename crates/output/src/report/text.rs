//! A report for people: aligned columns, hot rows in colour.

use super::columns::{kind, left_out, number, title};
use super::{Report, graph, hierarchy};
use crate::heading;
use crate::overview::style;
use crate::table::{self, ColumnKind, Table};
use crate::text::shown;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{Histogram, HistogramRow, Numbers};
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
    fit(&mut table, report, histogram);
    table.head(out)?;
    let whole = report.whole(&histogram.total);
    let mut cut = 0;
    for row in &histogram.rows {
        let style = style(report.share(histogram, row));
        let cells = row_cells(report, histogram, row);
        table.row(out, &cells, style)?;
        if let Some(graph) = histogram.graph(row) {
            graph::write(out, report, row, &graph, whole)?;
            cut += u64::from(graph.left_out.count > 0);
        }
    }
    graph::write_cut(out, cut)?;
    left_out(out, report, histogram, histogram.left_out)
}

/// Makes room for all rows. Names become text twice: that of all rows at once would be most of the memory. Of the numbers in a column the
/// largest is the widest.
fn fit(table: &mut Table, report: &Report<'_>, histogram: &Histogram) {
    let mut largest = vec![Numbers::default(); 1 + histogram.others.len()];
    for row in &histogram.rows {
        for (largest, numbers) in largest.iter_mut().zip(std::iter::once(&row.numbers).chain(&row.others)) {
            largest.combine(numbers, u64::max);
        }
        table.fit(&cells(report, row, |_, cells| cells.extend(largest.iter().map(|_| String::new()))));
    }
    let Some(row) = histogram.rows.first() else { return };
    table.fit(&cells(report, row, |column, cells| {
        cells.extend(numbers_in(report, histogram, column, largest.iter()));
    }));
}

/// The columns; those of numbers are there once for each event of a group, under its name.
fn table(report: &Report<'_>, histogram: &Histogram) -> Table {
    let told = |nr: usize| report.widths.get(nr).copied().flatten();
    let columns = heads(report, histogram).into_iter().enumerate();
    let columns = columns.map(|(nr, (head, kind))| table::TableColumn::new(&head, kind, told(nr)));
    Table::new(columns.collect(), report.width)
}

/// What stands over each column, and what it shows.
pub(super) fn heads(report: &Report<'_>, histogram: &Histogram) -> Vec<(String, ColumnKind)> {
    let mut heads = Vec::new();
    for column in report.columns {
        let title = title(*column, report);
        match column {
            Column::Key(index) => heads.push((title.to_owned(), kind(report.keys.get(*index)))),
            _ if histogram.others.is_empty() => heads.push((title.to_owned(), ColumnKind::Number)),
            _ => {
                for event in std::iter::once(&histogram.total).chain(&histogram.others) {
                    heads.push((format!("{title} {}", event.name), ColumnKind::Number));
                }
            }
        }
    }
    heads
}

/// The cells of a row.
pub(super) fn row_cells(report: &Report<'_>, histogram: &Histogram, row: &HistogramRow) -> Vec<String> {
    let numbers = std::iter::once(&row.numbers).chain(&row.others);
    cells(report, row, |column, cells| {
        cells.extend(numbers_in(report, histogram, column, numbers.clone()));
    })
}

/// The cells of a row; `numbers` adds those of a column of numbers.
fn cells(report: &Report<'_>, row: &HistogramRow, numbers: impl Fn(Column, &mut Vec<String>)) -> Vec<String> {
    let mut cells = Vec::with_capacity(report.columns.len());
    for column in report.columns {
        let Column::Key(index) = column else {
            numbers(*column, &mut cells);
            continue;
        };
        let value = report.values.value(row.key, *index);
        cells.push(shown(&report.text(value, row.numbers.samples)).into_owned());
    }
    cells
}

/// The cells of a column, one for each event of the group.
fn numbers_in<'n>(
    report: &Report<'_>,
    histogram: &Histogram,
    column: Column,
    numbers: impl Iterator<Item = &'n Numbers>,
) -> impl Iterator<Item = String> {
    let totals = std::iter::once(&histogram.total).chain(&histogram.others);
    totals.zip(numbers).map(move |(total, numbers)| number(report, column, total, numbers))
}
