//! A report as a tree, as text: rows by their first key, in these by the second, and so on.

use super::Report;
use super::columns;
use crate::overview::{share, style};
use crate::table::{self, ColumnKind, Table};
use readperf_profile::view::column::Column;
use readperf_profile::view::hierarchy::{Hierarchy, HierarchyRow};
use readperf_profile::view::histogram::{Histogram, HistogramRow, Numbers};
use std::io::{self, Write};

/// Columns that a level is indented by.
const STEP: usize = 2;

/// The tree of a histogram, with the branches that reach the limit.
pub(super) fn tree(report: &Report<'_>, histogram: &Histogram) -> Hierarchy {
    let whole = report.whole(&histogram.total);
    let is_shown = |numbers: &Numbers| share(numbers.self_period, whole) >= report.percent_limit;
    let value = |row: &HistogramRow, key| report.values.value(row.key, key);
    Hierarchy::new(&histogram.rows, report.keys.len(), value, is_shown)
}

/// Writes the rows of a histogram as a tree. What is below the limit is summed up, once.
///
/// # Errors
/// What the writer says.
pub(super) fn write(out: &mut impl Write, report: &Report<'_>, histogram: &Histogram) -> io::Result<()> {
    let whole = report.whole(&histogram.total);
    let Hierarchy { branches, left_out } = tree(report, histogram);
    let shown: Vec<Column> =
        report.columns.iter().copied().filter(|column| !matches!(column, Column::Key(_))).collect();
    let titles: Vec<&str> = report.keys.iter().map(|key| key.title()).collect();
    let number_columns = shown
        .iter()
        .map(|column| table::TableColumn::new(columns::title(*column, report), ColumnKind::Number, None));
    let tree = table::TableColumn::new(&titles.join(" / "), ColumnKind::Text, None);
    let mut table = Table::new(number_columns.chain([tree]).collect(), report.width);
    let number =
        |column: Column, numbers: &Numbers| columns::number(report, column, &histogram.total, numbers);
    for branch in &branches {
        let cells: Vec<String> = shown.iter().map(|column| number(*column, &branch.numbers)).collect();
        table.fit(&cells);
    }
    table.head(out)?;
    for HierarchyRow { level, value, numbers } in &branches {
        let mut cells: Vec<String> = shown.iter().map(|column| number(*column, numbers)).collect();
        let name = report.text(*value, numbers.samples);
        cells.push(format!("{}{}", " ".repeat(level * STEP), crate::text::shown(&name)));
        let style = style(share(numbers.self_period, whole));
        table.row(out, &cells, style)?;
    }
    columns::left_out(out, report, histogram, left_out)
}
