//! The main job's answer: functions by share of the period, one section an event.

use crate::names::{Names, UNKNOWN};
use crate::text::{grouped, printable, printable_bytes, width};
use anstyle::{AnsiColor, Style};
use readperf_profile::Profile;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::missing::Missing;
use readperf_profile::view::table::{Keys, Row, Table};
use readperf_session::Session;
use std::io::{self, Write};

/// Shares from which a row is red, and green: perf's own thresholds, in percent.
const HOT: f64 = 5.0;
const WARM: f64 = 0.5;

/// How a section is cut short.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Rows below this share, in percent, are summed up in one line.
    pub percent: f64,
}

/// Share of a period in percent; 0 of nothing.
pub fn share(period: u64, total: u64) -> f64 {
    if total == 0 {
        return 0.0;
    }
    // Periods beyond 2^53 lose digits that a share does not show.
    #[allow(clippy::cast_precision_loss)]
    let share = period as f64 * 100.0 / total as f64;
    share
}

/// The style of a row of this share.
pub fn style(share: f64) -> Style {
    if share >= HOT {
        AnsiColor::Red.on_default()
    } else if share >= WARM {
        AnsiColor::Green.on_default()
    } else {
        Style::new()
    }
}

/// Writes a section for each event that has samples.
///
/// # Errors
/// What the writer says.
pub fn write(out: &mut impl Write, profile: &Profile, session: &Session, limits: Limits) -> io::Result<()> {
    let names = Names { profile, session };
    let tables = profile.tables(Keys::CommFunction, |row| names.key(row));
    if tables.is_empty() {
        return writeln!(out, "no samples");
    }
    for (nr, table) in tables.iter().enumerate() {
        let Some(event) = profile.events().get(table.event) else { continue };
        if nr > 0 {
            writeln!(out)?;
        }
        section(out, event, table, names, limits)?;
    }
    Ok(())
}

const HEADS: [&str; 7] = ["share", "period", "samples", "command", "binary", "function", "source file"];

/// Cells as text; the first three are numbers.
fn cells(row: &Row, event: &EventTotal, names: Names<'_>) -> [String; 7] {
    let function = names.function(row);
    [
        format!("{:.2} %", share(row.period, event.period)),
        grouped(row.period),
        grouped(row.samples),
        printable(&names.comm(row)).into_owned(),
        printable(&names.binary_name(row)).into_owned(),
        function.map_or_else(String::new, |function| printable(&function.label()).into_owned()),
        function
            .and_then(|function| function.source_file())
            .map_or_else(String::new, |file| printable(file).into_owned()),
    ]
}

fn section(
    out: &mut impl Write,
    event: &EventTotal,
    table: &Table,
    names: Names<'_>,
    limits: Limits,
) -> io::Result<()> {
    let name = printable(&event.name);
    writeln!(out, "{name}: {} samples, period {}", grouped(event.samples), grouped(event.period))?;
    let shown = table.rows.iter().take_while(|row| share(row.period, event.period) >= limits.percent);
    let rows: Vec<(f64, [String; 7])> =
        shown.map(|row| (share(row.period, event.period), cells(row, event, names))).collect();
    let mut widths = HEADS.map(width);
    for (_, cells) in &rows {
        for (widest, cell) in widths.iter_mut().zip(cells) {
            *widest = (*widest).max(width(cell));
        }
    }
    line(out, &HEADS.map(str::to_owned), &widths, Style::new().bold())?;
    for (share, cells) in &rows {
        line(out, cells, &widths, style(*share))?;
    }
    let left = table.rows.get(rows.len()..).unwrap_or_default();
    if !left.is_empty() {
        let period: u64 = left.iter().fold(0, |sum, row| sum.wrapping_add(row.period));
        let (count, share) = (grouped(left.len() as u64), share(period, event.period));
        writeln!(out, "… and {count} rows below {} %, together {share:.2} %", limits.percent)?;
    }
    Ok(())
}

/// Numbers to the right, names to the left; the last column is not padded. Wide names push the rest: no name is cut.
/// Space is written only when something follows it: one wide name makes more of it than of everything else.
fn line(out: &mut impl Write, cells: &[String; 7], widths: &[usize; 7], style: Style) -> io::Result<()> {
    let mut text = String::new();
    let mut space = 0;
    for (nr, (cell, widest)) in cells.iter().zip(widths).enumerate() {
        let pad = widest.saturating_sub(width(cell));
        let (before, behind) = if nr < 3 { (pad, 0) } else { (0, pad) };
        space += before;
        if !cell.is_empty() {
            push_space(&mut text, space);
            text.push_str(cell);
            space = 0;
        }
        space += behind + 2;
    }
    writeln!(out, "{style}{}{style:#}", text.trim_end())
}

/// Many spaces at a time.
fn push_space(text: &mut String, mut count: usize) {
    const SPACES: &str = "                                                                ";
    while let Some(rest) = count.checked_sub(SPACES.len()) {
        text.push_str(SPACES);
        count = rest;
    }
    text.push_str(SPACES.get(..count).unwrap_or_default());
}

/// Says what has no name, and why, of what [`Profile::missing_names`] found.
///
/// # Errors
/// What the writer says.
pub fn write_missing(
    out: &mut impl Write,
    profile: &Profile,
    session: &Session,
    mut missing: Vec<Missing>,
) -> io::Result<()> {
    let samples: u64 = profile.events().iter().map(|event| event.samples).sum();
    missing.retain(|missing| missing.samples > 0 || share(missing.in_stacks, samples) >= WARM);
    if missing.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nwithout a name:")?;
    for missing in &missing {
        let binary = missing.binary.and_then(|id| session.binary(id));
        let name = binary.map_or_else(|| UNKNOWN.to_owned(), |binary| printable_bytes(&binary.short_name));
        write!(out, "  {:.2} % of samples in {name}", share(missing.samples, samples))?;
        if missing.in_stacks > missing.samples {
            write!(out, ", {:.2} % with what it calls", share(missing.in_stacks, samples))?;
        }
        writeln!(out, ": {}", printable(&missing.reason))?;
        if let Some(remedy) = &missing.remedy {
            writeln!(out, "    {}", printable(remedy))?;
        }
    }
    Ok(())
}
