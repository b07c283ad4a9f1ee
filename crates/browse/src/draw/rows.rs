//! The rows, and the calls that are open below them.

use super::{mark_cursor, put};
use crate::app::App;
use crate::rows::LineAt;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use readperf_explore::Change;
use readperf_output::overview::share;
use readperf_output::report::Report;
use readperf_output::short_name::shorten;
use readperf_output::table::{ColumnKind, Table, TableColumn};
use readperf_output::text::{grouped, width};
use readperf_profile::diff::Presence;
use readperf_profile::view::histogram::{Histogram, HistogramRow};

/// Rows whose text columns are made to fit, besides those on the screen: so that columns do not jump while one scrolls.
const FITTED: usize = 100;
/// Calls farther in than this are not indented more.
const DEEPEST: usize = 40;

pub(super) fn draw(app: &App<'_>, buffer: &mut Buffer, area: Rect) -> String {
    app.with_report(|report, histogram| rows_of(app, report, histogram, buffer, area))
}

fn rows_of(
    app: &App<'_>,
    report: &Report<'_>,
    histogram: &Histogram,
    buffer: &mut Buffer,
    area: Rect,
) -> String {
    if histogram.rows.is_empty() {
        let why = if app.state().steps.is_empty() { "; K checks the recording" } else { "" };
        put(buffer, Rect { y: area.y + 1, ..area }, &format!("  no samples{why}"), Style::new());
        return String::new();
    }
    let seen = app.rows.lines.iter().skip(app.rows.cursor.top).take(usize::from(area.height - 1));
    let seen: Vec<LineAt> = seen.copied().collect();
    let room = usize::from(area.width).saturating_sub(2);
    let mut table = fitted(app, report, histogram, &seen, Some(room));
    let head = Rect { height: 1, ..area };
    put(buffer, head, &format!("  {}", table.head_line()), app.theme.head());
    for (y, line) in (area.y + 1..).zip(&seen) {
        let area = Rect { y, height: 1, ..area };
        let Some(row) = histogram.rows.get(line.row) else { continue };
        let (text, style) = match line.call {
            None => {
                let text = row_line(app, report, histogram, row, &mut table);
                (text, app.theme.heat(report.share(histogram, row)))
            }
            Some(call) => call_line(app, report, histogram, row, call, usize::from(area.width)),
        };
        put(buffer, area, &text, style);
    }
    mark_cursor(app, app.rows.cursor.at - app.rows.cursor.top.min(app.rows.cursor.at), buffer, area);
    let left_out = histogram.left_out.rows;
    let below = format!(", {} below {} %", grouped(left_out), report.percent_limit);
    let gone = app.rows.changes.as_ref().map_or(0, |changes| changes.gone.len());
    let gone = if gone > 0 { format!(", {gone} gone (readperf diff has them)") } else { String::new() };
    let place =
        format!("{}/{}", grouped(app.rows.cursor.at as u64 + 1), grouped(app.rows.lines.len() as u64));
    format!("{place}{}{gone}", if left_out > 0 { below } else { String::new() })
}

/// All rows and the calls that are open below them, as they are seen, whatever fits the screen.
pub(crate) fn text(app: &mut App<'_>) -> String {
    let app = &*app;
    app.with_report(|report, histogram| {
        let mut table = fitted(app, report, histogram, &app.rows.lines, None);
        let mut text = format!("  {}\n", table.head_line());
        for line in &app.rows.lines {
            let Some(row) = histogram.rows.get(line.row) else { continue };
            let line = match line.call {
                None => row_line(app, report, histogram, row, &mut table),
                Some(call) => call_line(app, report, histogram, row, call, usize::MAX).0,
            };
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    })
}

fn row_line(
    app: &App<'_>,
    report: &Report<'_>,
    histogram: &Histogram,
    row: &HistogramRow,
    table: &mut Table,
) -> String {
    let mark = match app.rows.open.get(&row.key) {
        Some(calls) if calls.lines.is_empty() => "  ",
        Some(_) => "▾ ",
        None => "▸ ",
    };
    format!("{mark}{}", table.line(&all_cells(app, report, histogram, row)))
}

/// The columns, as wide as what is in them.
fn fitted(
    app: &App<'_>,
    report: &Report<'_>,
    histogram: &Histogram,
    seen: &[LineAt],
    room: Option<usize>,
) -> Table {
    let mut heads = report.heads(histogram);
    if app.rows.changes.is_some() {
        let numbers = heads.iter().take_while(|(_, kind)| *kind == ColumnKind::Number).count();
        let more = ["before", "change"].map(|head| (head.to_owned(), ColumnKind::Number));
        heads.splice(numbers..numbers, more);
    }
    let columns = heads.into_iter().map(|(head, kind)| TableColumn::new(&head, kind, None)).collect();
    let mut table = Table::new(columns, room);
    let rows = seen.iter().filter(|line| line.call.is_none()).filter_map(|line| histogram.rows.get(line.row));
    for row in histogram.rows.iter().take(FITTED).chain(rows) {
        table.fit(&all_cells(app, report, histogram, row));
    }
    table
}

/// The cells of a row, with its change if another recording is compared with.
fn all_cells(app: &App<'_>, report: &Report<'_>, histogram: &Histogram, row: &HistogramRow) -> Vec<String> {
    let mut cells = report.cells(histogram, row);
    if let Some(changes) = &app.rows.changes {
        let heads = report.heads(histogram);
        let numbers = heads.iter().take_while(|(_, kind)| *kind == ColumnKind::Number).count();
        let more = changes.rows.get(&row.key).map_or_else(Default::default, change_cells);
        cells.splice(numbers..numbers, more);
    }
    cells
}

fn change_cells(change: &Change) -> [String; 2] {
    let before = match change.presence {
        Presence::New => "new".to_owned(),
        Presence::Both | Presence::Gone => format!("{:.2} %", change.before),
    };
    [before, format!("{:+.2} %", change.now - change.before)]
}

fn call_line(
    app: &App<'_>,
    report: &Report<'_>,
    histogram: &Histogram,
    row: &HistogramRow,
    call: usize,
    room: usize,
) -> (String, Style) {
    let Some(line) = app.rows.open.get(&row.key).and_then(|calls| calls.lines.get(call)) else {
        return (String::new(), Style::new());
    };
    let whole = match app.state().rows.whole {
        readperf_profile::Whole::Chosen => histogram.total.period,
        readperf_profile::Whole::Recorded => {
            let recorded = report.recorded.iter().find(|known| known.name == histogram.total.name);
            recorded.map_or(0, |recorded| recorded.period)
        }
    };
    let indent = " ".repeat(4 + 2 * usize::try_from(line.depth).unwrap_or(0).min(DEEPEST));
    let Some(frame) = &line.frame else {
        let left_out = line.left_out;
        let percent = share(left_out.period, whole);
        return (
            format!("{indent}{percent:>6.2} %    … {} more", grouped(left_out.count)),
            app.theme.faint(),
        );
    };
    let percent = share(frame.period, whole);
    let mark = match (line.is_open, frame.has_more) {
        (true, _) => "▾",
        (false, true) => "▸",
        (false, false) => " ",
    };
    let start = format!("{indent}{percent:>6.2} %  {mark} ");
    let name = report.frame_name(frame.frame);
    let name = shorten(&name, room.saturating_sub(width(&start)));
    (format!("{start}{name}"), app.theme.heat(percent))
}
