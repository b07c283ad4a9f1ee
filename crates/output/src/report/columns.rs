//! What rows and trees of a report have in common as text: heads of columns, numbers, and what is left out.

use super::Report;
use crate::overview::share;
use crate::table::ColumnKind;
use crate::text::grouped;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{Histogram, LeftOut, Numbers};
use readperf_profile::view::key::KeyUse;
use std::io::{self, Write};

/// What a key's column shows, and so how it is cut.
pub(super) fn kind(key: Option<&KeyUse>) -> ColumnKind {
    let name = key.map_or("", |key| key.key.name);
    if name.starts_with("sym") || name == "parent" {
        ColumnKind::Name
    } else if name.starts_with("src") {
        ColumnKind::File
    } else {
        ColumnKind::Text
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

/// A number of a row as a column shows it.
pub(super) fn number(report: &Report<'_>, column: Column, total: &EventTotal, numbers: &Numbers) -> String {
    let number = column.number(numbers);
    match column.is_share() {
        true => format!("{:.2} %", share(number, report.whole(total))),
        false => grouped(number),
    }
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
