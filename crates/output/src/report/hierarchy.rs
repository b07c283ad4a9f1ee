//! A report as a tree: rows by their first key, in these by the second, and so on.

use super::Report;
use super::text;
use crate::overview::{share, style};
use crate::table::{self, Kind, Table};
use readperf_profile::Value;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{Histogram, HistogramRow, LeftOut, Numbers};
use std::collections::HashMap;
use std::io::{self, Write};

/// Columns that a level is indented by.
const STEP: usize = 2;

/// A row of the tree.
#[derive(Debug)]
struct Branch {
    depth: usize,
    value: Value,
    numbers: Numbers,
}

/// Writes the rows of a histogram as a tree. What is below the limit is summed up, once.
///
/// # Errors
/// What the writer says.
pub(super) fn write(out: &mut impl Write, report: &Report<'_>, histogram: &Histogram) -> io::Result<()> {
    let whole = report.whole(&histogram.total);
    let rows: Vec<&HistogramRow> = histogram.rows.iter().collect();
    let keys: Vec<usize> = (0..report.keys.len()).collect();
    let (mut branches, mut left_out) = (Vec::new(), LeftOut::default());
    let shown = |numbers: &Numbers| share(numbers.self_period, whole) >= report.percent_limit;
    let value = |row: &HistogramRow, key| report.values().value(row.key, key);
    grow(&rows, &keys, 0, (&value, &shown), &mut branches, &mut left_out);
    let columns: Vec<Column> =
        report.columns.iter().copied().filter(|column| !matches!(column, Column::Key(_))).collect();
    let titles: Vec<&str> = report.keys.iter().map(|key| key.title()).collect();
    let number_columns =
        columns.iter().map(|column| table::Column::new(text::title(*column, report), Kind::Number, None));
    let tree = table::Column::new(&titles.join(" / "), Kind::Text, None);
    let mut table = Table::new(number_columns.chain([tree]).collect(), report.width);
    let number = |column: Column, numbers: &Numbers| text::number(report, column, &histogram.total, numbers);
    for branch in &branches {
        let cells: Vec<String> = columns.iter().map(|column| number(*column, &branch.numbers)).collect();
        table.fit(&cells);
    }
    table.head(out)?;
    for Branch { depth, value, numbers } in &branches {
        let mut cells: Vec<String> = columns.iter().map(|column| number(*column, numbers)).collect();
        let name = report.text(*value, numbers.samples);
        cells.push(format!("{}{}", " ".repeat(depth * STEP), crate::text::shown(&name)));
        let style = style(share(numbers.self_period, whole));
        table.row(out, &cells, style)?;
    }
    text::left_out(out, report, histogram, left_out)
}

/// Adds the branches of some rows, by the keys that are left: one level for each key.
fn grow(
    rows: &[&HistogramRow],
    keys: &[usize],
    depth: usize,
    (value, shown): (&impl Fn(&HistogramRow, usize) -> Value, &impl Fn(&Numbers) -> bool),
    branches: &mut Vec<Branch>,
    left_out: &mut LeftOut,
) {
    let Some((key, keys)) = keys.split_first() else { return };
    let mut known: HashMap<Value, usize> = HashMap::new();
    let mut parts: Vec<(Branch, Vec<&HistogramRow>)> = Vec::new();
    for row in rows {
        let value = value(row, *key);
        let next = parts.len();
        let at = *known.entry(value).or_insert(next);
        if at == next {
            parts.push((Branch { depth, value, numbers: Numbers::default() }, Vec::new()));
        }
        if let Some((branch, rows)) = parts.get_mut(at) {
            branch.numbers.add(&row.numbers);
            rows.push(row);
        }
    }
    // The rows are sorted: what weighs the same stays in the order of its first row.
    parts.sort_by_key(|(branch, _)| std::cmp::Reverse(branch.numbers.self_period));
    for (branch, rows) in parts {
        if !shown(&branch.numbers) {
            left_out.rows += 1;
            left_out.self_period = left_out.self_period.wrapping_add(branch.numbers.self_period);
            continue;
        }
        branches.push(branch);
        grow(&rows, keys, depth + 1, (value, shown), branches, left_out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_profile::view::histogram::RowKey;

    /// A row of two keys that say numbers.
    fn row([sample, place]: [u32; 2], period: u64) -> HistogramRow {
        let numbers = Numbers { samples: 1, self_period: period, total_period: period, ..Numbers::default() };
        HistogramRow::new(RowKey { sample, place }, numbers)
    }

    fn value(row: &HistogramRow, key: usize) -> Value {
        Value::Number(if key == 0 { row.key.sample } else { row.key.place }.into())
    }

    #[test]
    fn sums_of_each_level_the_heaviest_first() {
        let rows = [row([1, 1], 50), row([2, 1], 40), row([2, 2], 30), row([1, 2], 1)];
        let rows: Vec<&HistogramRow> = rows.iter().collect();
        let (mut branches, mut left_out) = (Vec::new(), LeftOut::default());
        let is_shown = |numbers: &Numbers| numbers.self_period > 1;
        grow(&rows, &[0, 1], 0, (&value, &is_shown), &mut branches, &mut left_out);
        let shown: Vec<(usize, Value, u64)> =
            branches.iter().map(|branch| (branch.depth, branch.value, branch.numbers.self_period)).collect();
        let number = Value::Number;
        assert_eq!(
            shown,
            [
                (0, number(2), 70),
                (1, number(1), 40),
                (1, number(2), 30),
                (0, number(1), 51),
                (1, number(1), 50)
            ]
        );
        assert_eq!(left_out, LeftOut { rows: 1, self_period: 1 });
    }
}
