//! A report for people: aligned columns, hot rows in colour.

use super::{Report, graph, hierarchy};
use crate::overview::{share, style};
use crate::text::{grouped, printable, width};
use anstyle::Style;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{Histogram, HistogramRow, LeftOut, Numbers};
use std::io::{self, Write};

/// Names up to this width make their column as wide; longer ones push the rest of their row.
const WIDEST: usize = 40;

/// Less than this of the last column is not worth the cutting.
const NARROWEST: usize = 20;

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

/// A column as it is laid out.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) head: String,
    right: bool,
    width: usize,
    /// Whether longer text is cut.
    fixed: bool,
}

impl Layout {
    /// A column as wide as its head, or as is told.
    pub(super) fn new(head: &str, right: bool, told: Option<usize>) -> Layout {
        let head = printable(head).into_owned();
        Layout { width: told.unwrap_or(width(&head)), head, right, fixed: told.is_some() }
    }

    /// Makes room for a cell.
    pub(super) fn fit(&mut self, cell: &str) {
        let cell = width(cell);
        if !self.fixed && (cell <= WIDEST || self.right) {
            self.width = self.width.max(cell);
        }
    }
}

fn section(out: &mut impl Write, report: &Report<'_>, histogram: &Histogram) -> io::Result<()> {
    for event in std::iter::once(&histogram.total).chain(&histogram.others) {
        let (name, samples, period) = (printable(&event.name), grouped(event.samples), grouped(event.period));
        writeln!(out, "{name}: {samples} samples, period {period}")?;
    }
    if report.hierarchy {
        return hierarchy::write(out, report, histogram);
    }
    let mut layouts = layouts(report, histogram);
    // Cells are made twice: all of them at once would be most of the memory.
    for row in &histogram.rows {
        for (layout, cell) in layouts.iter_mut().zip(cells(report, histogram, row)) {
            layout.fit(&cell);
        }
    }
    let heads: Vec<String> = layouts.iter().map(|layout| layout.head.clone()).collect();
    line(out, &heads, &layouts, report.width, Style::new().bold())?;
    let whole = report.whole(&histogram.total);
    for row in &histogram.rows {
        let style = style(report.share(histogram, row));
        line(out, &cells(report, histogram, row), &layouts, report.width, style)?;
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

/// The columns; those of numbers are there once for each event of a group.
fn layouts(report: &Report<'_>, histogram: &Histogram) -> Vec<Layout> {
    let mut layouts = Vec::new();
    for column in report.columns {
        let is_key = matches!(column, Column::Key(_));
        let times = if is_key { 1 } else { 1 + histogram.others.len() };
        for _ in 0..times {
            let told = report.widths.get(layouts.len()).copied().flatten();
            layouts.push(Layout::new(title(*column, report), !is_key, told));
        }
    }
    layouts
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

/// Numbers to the right, names to the left; the last column is not padded. Only a terminal's width cuts a name.
pub(super) fn line(
    out: &mut impl Write,
    cells: &[String],
    layouts: &[Layout],
    terminal: Option<usize>,
    style: Style,
) -> io::Result<()> {
    let (mut text, mut at) = (String::new(), 0);
    let last = cells.len().saturating_sub(1);
    for (nr, (cell, layout)) in cells.iter().zip(layouts).enumerate() {
        let cut = (layout.fixed && width(cell) > layout.width).then(|| shortened(cell, layout.width));
        let cell = cut.as_ref().unwrap_or(cell);
        let pad = layout.width.saturating_sub(width(cell));
        if layout.right {
            text.extend(std::iter::repeat_n(' ', pad));
        }
        let room = terminal.map(|terminal| terminal.saturating_sub(at).max(NARROWEST));
        match room.filter(|room| nr == last && width(cell) > *room) {
            Some(room) => text.push_str(&shortened(cell, room)),
            None => text.push_str(cell),
        }
        if !layout.right && nr < last {
            text.extend(std::iter::repeat_n(' ', pad));
        }
        at += layout.width.max(width(cell)) + 2;
        text.push_str("  ");
    }
    writeln!(out, "{style}{}{style:#}", text.trim_end())
}

/// A name cut to a width: its middle is left out, since both ends tell names apart.
fn shortened(name: &str, room: usize) -> String {
    let kept = room.saturating_sub(1);
    let (front, back) = (kept.div_ceil(2), kept / 2);
    let behind = width(name).saturating_sub(back);
    let mut text: String = name.chars().take(front).collect();
    text.push('…');
    text.extend(name.chars().skip(behind));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(shortened("abcdefghij", 5), "ab…ij");
        assert_eq!(shortened("abcdefghij", 6), "abc…ij");
        assert_eq!(width(&shortened("größenwahnsinnig", 9)), 9);
    }
}
