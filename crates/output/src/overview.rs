//! The main job's answer: functions by share of the period, one section an event.

use crate::names::{Names, TieOrder, UNKNOWN};
use crate::table::{self, ColumnKind, TableColumn};
use crate::text::{counted, grouped, printable, shown, shown_bytes};
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

/// How the answer is cut short.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverviewLimits {
    /// Rows below this share, in percent, are summed up in one.
    pub percent: f64,
    /// So many rows are shown in all, but a few of each event at least; the others are summed up, too.
    pub rows: Option<usize>,
    /// Columns of the terminal, if it is one: longer names are cut.
    pub width: Option<usize>,
}

/// So many rows are shown of each event, however many events there are.
const FEWEST: usize = 10;

impl OverviewLimits {
    /// How many rows are shown of each of some events.
    fn rows_of_each(&self, events: usize) -> usize {
        self.rows.map_or(usize::MAX, |rows| rows.checked_div(events).unwrap_or(rows).max(FEWEST.min(rows)))
    }
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
pub fn write(
    out: &mut impl Write,
    profile: &Profile,
    session: &Session,
    limits: OverviewLimits,
) -> io::Result<()> {
    let names = Names { profile, session };
    let order = TieOrder::new(names);
    let tables = profile.tables(Keys::CommFunction, |row| order.key(row));
    if tables.is_empty() {
        return writeln!(out, "no samples");
    }
    for (nr, table) in tables.iter().enumerate() {
        let Some(event) = profile.events().get(table.event) else { continue };
        if nr > 0 {
            writeln!(out)?;
        }
        section(
            out,
            event,
            table,
            names,
            OverviewLimits { rows: Some(limits.rows_of_each(tables.len())), ..limits },
        )?;
    }
    Ok(())
}

const COLUMNS: [(&str, ColumnKind); 7] = [
    ("share", ColumnKind::Number),
    ("period", ColumnKind::Number),
    ("samples", ColumnKind::Number),
    ("command", ColumnKind::Text),
    ("binary", ColumnKind::Text),
    ("function", ColumnKind::Name),
    ("source file", ColumnKind::File),
];

/// The numbers of a row as text.
fn numbers(period: u64, samples: u64, event: &EventTotal) -> Vec<String> {
    vec![format!("{:.2} %", share(period, event.period)), grouped(period), grouped(samples)]
}

fn cells(row: &Row, event: &EventTotal, names: Names<'_>) -> Vec<String> {
    let function = names.function(row);
    let mut cells = numbers(row.period, row.samples, event);
    cells.push(shown(&names.comm(row)).into_owned());
    cells.push(shown(&names.binary_name(row)).into_owned());
    let label = function.map(|function| shown(&function.label()).into_owned());
    cells.push(label.unwrap_or_default());
    let file = function.and_then(|function| function.source_file());
    cells.push(file.map_or_else(String::new, |file| shown(file).into_owned()));
    cells
}

fn section(
    out: &mut impl Write,
    event: &EventTotal,
    table: &Table,
    names: Names<'_>,
    limits: OverviewLimits,
) -> io::Result<()> {
    let name = shown(&event.name);
    writeln!(out, "{name}: {}, period {}", counted(event.samples, "sample"), grouped(event.period))?;
    let heavy = table.rows.partition_point(|row| share(row.period, event.period) >= limits.percent);
    let (shown, left) = table.rows.split_at(heavy.min(limits.rows.unwrap_or(heavy)));
    let rows: Vec<(f64, Vec<String>)> =
        shown.iter().map(|row| (share(row.period, event.period), cells(row, event, names))).collect();
    let rest = rest(left, event, (shown.len() == heavy).then_some(limits.percent));
    let columns = COLUMNS.map(|(head, kind)| TableColumn::new(head, kind, None));
    let mut text = table::Table::new(columns.into(), limits.width);
    rows.iter().for_each(|(_, cells)| text.fit(cells));
    // The sums make room for themselves; what they are of goes on over the columns of names.
    text.fit(rest.get(..NUMBERS).unwrap_or_default());
    text.head(out)?;
    for (share, cells) in &rows {
        text.row(out, cells, style(*share))?;
    }
    if left.is_empty() { Ok(()) } else { text.row(out, &rest, Style::new()) }
}

/// How many columns are numbers.
const NUMBERS: usize = 3;

/// What is not shown, as one row. `percent` is the share below which nothing is shown, if it was that.
fn rest(left: &[Row], event: &EventTotal, percent: Option<f64>) -> Vec<String> {
    let period = left.iter().fold(0, |sum: u64, row| sum.wrapping_add(row.period));
    let samples = left.iter().map(|row| row.samples).sum();
    let mut cells = numbers(period, samples, event);
    let count = grouped(left.len() as u64);
    cells.push(match percent {
        Some(percent) => format!("… {count} rows below {percent} %"),
        None => format!("… {count} more rows: --all shows them"),
    });
    cells
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
        let name =
            binary.map_or_else(|| UNKNOWN.to_owned(), |binary| shown_bytes(&binary.short_name).into_owned());
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
