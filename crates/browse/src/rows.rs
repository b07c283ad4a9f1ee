//! The rows, and the calls that are open below them: one list of lines, of which the screen shows a part.

use crate::app::App;
use crate::host::PrintForm;
use crate::keys::View;
use crate::list::Cursor;
use crate::menu::Menu;
use crate::page::{Page, find};
use readperf_explore::{CallLine, Changes, OpenCalls};
use readperf_output::report::{GraphStyle, Report, write_json, write_text};
use readperf_output::text::{decoded, grouped, shown};
use readperf_profile::Value;
use readperf_profile::view::call_tree::Direction;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{Frames, Histogram, HistogramRow, RowKey};
use regex_lite::Regex;
use rustc_hash::FxHashMap;
use std::slice;

/// Most lines that all calls of a row are opened to.
const MOST_CALLS: usize = 2_000;

/// A line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LineAt {
    /// The row, by index.
    pub(crate) row: usize,
    /// The line of its calls, if it is one.
    pub(crate) call: Option<usize>,
}

/// The list.
#[derive(Debug, Default)]
pub(crate) struct RowsScreen {
    pub(crate) lines: Vec<LineAt>,
    pub(crate) open: FxHashMap<RowKey, OpenCalls>,
    pub(crate) cursor: Cursor,
    pub(crate) changes: Option<Changes>,
}

impl App<'_> {
    /// Makes the list anew from what is looked at.
    pub(crate) fn renew_rows(&mut self) {
        self.rows.open.clear();
        self.rows.changes = self.explorer.changes().cloned();
        self.list_lines();
        self.rows.cursor = Cursor::default();
    }

    /// Lists the lines of all rows and of the calls that are open.
    fn list_lines(&mut self) {
        let rows = self.explorer.rows();
        let RowsScreen { lines, open, .. } = &mut self.rows;
        lines.clear();
        for (nr, row) in rows.histogram.rows.iter().enumerate() {
            lines.push(LineAt { row: nr, call: None });
            let calls = open.get(&row.key).map_or(0, |calls| calls.lines.len());
            lines.extend((0..calls).map(|call| LineAt { row: nr, call: Some(call) }));
        }
    }

    /// Lists them again, and stays on a line.
    fn relist(&mut self, at: LineAt) {
        self.list_lines();
        let at = self.rows.lines.iter().position(|line| *line == at).unwrap_or(self.rows.cursor.at);
        let (len, seen) = (self.rows.lines.len(), self.seen());
        self.rows.cursor.go(at, len, seen);
    }

    /// The line that the cursor is on.
    pub(crate) fn line_here(&self) -> Option<LineAt> {
        self.rows.lines.get(self.rows.cursor.at).copied()
    }

    /// The row of the line that the cursor is on.
    pub(crate) fn row_here(&self) -> Option<HistogramRow> {
        let line = self.line_here()?;
        self.explorer.rows().histogram.rows.get(line.row).cloned()
    }

    /// The call that the cursor is on.
    pub(crate) fn call_here(&self) -> Option<&CallLine> {
        let call = self.line_here()?.call?;
        self.rows.open.get(&self.row_here()?.key)?.lines.get(call)
    }

    /// What a key says of the row that the cursor is on.
    pub(crate) fn value_here(&self, key: &str) -> Option<Value> {
        let row = self.row_here()?;
        let index = self.state().rows.keys.iter().position(|used| used.key.name == key)?;
        Some(self.explorer.rows().values.value(row.key, index))
    }

    /// The function that the cursor is on: of the call, or of the row.
    pub(crate) fn function_here(&self) -> Option<Value> {
        let value = match self.call_here() {
            Some(call) => self.explorer.frames()?.says(call.frame.as_ref()?.frame),
            None => self.value_here("symbol")?,
        };
        matches!(value, Value::Function { .. }).then_some(value)
    }

    /// Opens the calls of the line, or the menu where there are none.
    pub(crate) fn open_here(&mut self) {
        if !self.open_line() {
            self.overlay = Some(crate::app::Overlay::Menu(Menu::of(View::Rows)));
        }
    }

    /// Opens the line; says whether something is behind it that was not open.
    fn open_line(&mut self) -> bool {
        let (Some(line), Some(row)) = (self.line_here(), self.row_here()) else { return false };
        let before = self.rows.lines.len();
        match line.call {
            None if self.rows.open.contains_key(&row.key) => return false,
            None => {
                let mut calls = self.explorer.open_calls(row.key);
                // A single line says little.
                if calls.lines.len() == 1 {
                    calls.open(&mut self.explorer, 0);
                }
                self.rows.open.insert(row.key, calls);
            }
            Some(call) => {
                if let Some(calls) = self.rows.open.get_mut(&row.key) {
                    calls.open(&mut self.explorer, call);
                }
            }
        }
        self.relist(line);
        self.rows.lines.len() > before
    }

    /// Closes the calls of the line, or goes to the line that it is behind; without calls takes the last step back.
    pub(crate) fn left(&mut self) {
        let (Some(line), Some(row)) = (self.line_here(), self.row_here()) else { return self.take_back() };
        if self.close_line() {
            return;
        }
        let Some(call) = line.call else { return self.take_back() };
        let parent = self.rows.open.get(&row.key).and_then(|calls| calls.parent(call));
        self.relist(LineAt { call: parent, ..line });
    }

    /// Closes the line, if it is open.
    fn close_line(&mut self) -> bool {
        let (Some(line), Some(row)) = (self.line_here(), self.row_here()) else { return false };
        let is_open = match line.call {
            None => self.rows.open.remove(&row.key).is_some(),
            Some(call) => self.rows.open.get_mut(&row.key).is_some_and(|calls| {
                let is_open = calls.lines.get(call).is_some_and(|line| line.is_open);
                calls.close(call);
                is_open
            }),
        };
        if is_open {
            self.relist(line);
        }
        is_open
    }

    pub(crate) fn toggle(&mut self) {
        if !self.close_line() && !self.open_line() {
            self.message = "there are no calls here".to_owned();
        }
    }

    /// Opens all calls of the rows on the screen.
    pub(crate) fn open_all(&mut self) {
        let here = self.line_here();
        let from = self.rows.lines.get(self.rows.cursor.top).map_or(0, |line| line.row);
        let keys: Vec<RowKey> = {
            let rows = self.explorer.rows();
            rows.histogram.rows.iter().skip(from).take(self.seen()).map(|row| row.key).collect()
        };
        for key in keys {
            let mut calls = self.explorer.open_calls(key);
            calls.open_all(&mut self.explorer, MOST_CALLS);
            self.rows.open.insert(key, calls);
        }
        if let Some(here) = here {
            self.relist(LineAt { call: None, ..here });
        }
    }

    pub(crate) fn close_all(&mut self) {
        let here = self.line_here();
        self.rows.open.clear();
        if let Some(here) = here {
            self.relist(LineAt { call: None, ..here });
        }
    }

    /// Callers instead of callees; the flame graph the other way round.
    pub(crate) fn turn_around(&mut self) {
        let mut state = self.state().clone();
        if self.view() == View::Flame {
            state.reversed = !state.reversed;
            return self.go(state);
        }
        let (calls, told) = match state.calls {
            Direction::Callers => (Direction::Callees, "calls are what rows call"),
            Direction::Callees | Direction::Below => (Direction::Callers, "calls are who calls rows"),
        };
        state.calls = calls;
        self.explorer.go(state);
        self.close_all();
        self.message = told.to_owned();
    }

    /// Sorts by the column behind that by which rows are sorted now.
    pub(crate) fn sort_by_next(&mut self) {
        let mut state = self.state().clone();
        let columns = &self.look.columns;
        let now = state.rows.order.first().and_then(|lead| columns.iter().position(|column| column == lead));
        let next = now.map_or(0, |now| (now + 1) % columns.len().max(1));
        let Some(next) = columns.get(next).copied() else { return };
        state.rows.order = vec![next];
        let here = self.row_here().map(|row| row.key);
        self.go(state);
        let at =
            here.and_then(|key| self.explorer.rows().histogram.rows.iter().position(|row| row.key == key));
        self.relist(LineAt { row: at.unwrap_or(0), call: None });
        let title = self.with_report(|report, _| {
            let name = match next {
                Column::Key(index) => report.keys.get(index).map(|key| key.title().to_owned()),
                _ => None,
            };
            name.unwrap_or_else(|| column_name(next).to_owned())
        });
        self.message = format!("sorted by {}", shown(&title));
    }

    /// Goes to the next line whose text matches.
    pub(crate) fn find_row(&mut self, pattern: &Regex, forward: bool) -> bool {
        let (len, from) = (self.rows.lines.len(), self.rows.cursor.at);
        let found =
            find(len, from, forward, |nr| self.names_in(nr).iter().any(|name| pattern.is_match(name)));
        let seen = self.seen();
        found.map(|at| self.rows.cursor.go(at, len, seen)).is_some()
    }

    /// The names in a line, as they are.
    fn names_in(&self, nr: usize) -> Vec<String> {
        let Some(line) = self.rows.lines.get(nr) else { return Vec::new() };
        self.with_report(|report, histogram| {
            let Some(row) = histogram.rows.get(line.row) else { return Vec::new() };
            match line.call {
                None => report.names(row),
                Some(call) => {
                    let calls = self.rows.open.get(&row.key).and_then(|calls| calls.lines.get(call));
                    let frame = calls.and_then(|call| call.frame.as_ref());
                    frame.map(|frame| report.frame_name(frame.frame)).into_iter().collect()
                }
            }
        })
    }

    /// All that is known of a row, with names in full.
    pub(crate) fn show_details(&mut self) {
        if self.view() == View::Flame {
            let text = match self.screens.last() {
                Some(crate::app::Screen::Flame(flame)) => flame.details(self),
                _ => String::new(),
            };
            return self.show_page(Page::new("details", &text));
        }
        let Some(row) = self.row_here() else { return };
        let mut text = self.with_report(|report, histogram| {
            let heads = report.heads(histogram).into_iter().map(|(head, _)| head);
            let numbers = report.cells(histogram, &row);
            let keys = report.names(&row);
            let first = numbers.len().saturating_sub(keys.len());
            let cells = numbers.into_iter().take(first).chain(keys);
            let lines = heads.zip(cells).map(|(head, cell)| format!("{head:<16} {cell}\n"));
            lines.collect::<String>()
        });
        let numbers = &row.numbers;
        text.push_str(&format!(
            "\n{} samples here, period {}; with what is called {}\n",
            grouped(numbers.samples),
            grouped(numbers.self_period),
            grouped(numbers.total_period)
        ));
        if let Some(Value::Function { function, .. }) = self.function_here() {
            let profile = self.explorer.profile();
            if let Some(function) = profile.function(function) {
                text.push_str(&format!("\nfunction         {}\n", function.label()));
                for (what, known) in [
                    ("linkage name", function.linkage_name()),
                    ("source file", function.source_file()),
                    ("no name, since", function.reason()),
                ] {
                    text.push_str(&known.map_or(String::new(), |known| format!("{what:<16} {known}\n")));
                }
                let binary = function.binary.and_then(|id| self.explorer.session().binary(id));
                text.push_str(&binary.map_or(String::new(), |binary| {
                    format!(
                        "{:<16} {}\n{:<16} {:#x}\n",
                        "binary",
                        decoded(&binary.name),
                        "address",
                        function.address
                    )
                }));
            }
        }
        self.show_page(Page::new("details", &text));
    }

    /// Works with the rows as a report.
    pub(crate) fn with_report<T>(&self, work: impl FnOnce(&Report<'_>, &Histogram) -> T) -> T {
        let rows = self.explorer.rows();
        let no_frames = Frames::default();
        let state = self.state();
        let report = Report {
            histograms: slice::from_ref(rows.histogram),
            facts: &rows.facts,
            values: rows.values,
            frames: self.explorer.frames().unwrap_or(&no_frames),
            keys: &state.rows.keys,
            columns: &self.look.columns,
            recorded: self.explorer.profile().recorded(),
            whole: state.rows.whole,
            percent_limit: state.rows.least_percent,
            graph: GraphStyle::default(),
            cells: self.look.cells,
            width: None,
            widths: &[],
            hierarchy: false,
        };
        work(&report, rows.histogram)
    }

    /// The rows as `report` writes them.
    pub(crate) fn printed_rows(&self, form: PrintForm) -> String {
        self.with_report(|report, _| {
            let mut out = Vec::new();
            // Writing to memory does not fail.
            let _ = match form {
                PrintForm::Text => write_text(&mut out, report),
                PrintForm::Json => write_json(&mut out, report, self.explorer.analysis().issues.iter()),
            };
            match form {
                PrintForm::Text => without_styles(&out),
                PrintForm::Json => String::from_utf8_lossy(&out).into_owned(),
            }
        })
    }
}

/// What a column of numbers is called in a sentence.
fn column_name(column: Column) -> &'static str {
    match column {
        Column::Children => "total",
        Column::Overhead => "self",
        Column::System => "kernel",
        Column::User => "user",
        Column::GuestSystem => "guest kernel",
        Column::GuestUser => "guest user",
        Column::Samples => "samples",
        Column::Period => "period",
        Column::Key(_) => "",
    }
}

/// Text without the styles that are written for terminals.
fn without_styles(text: &[u8]) -> String {
    let mut plain = String::new();
    let mut rest = &*String::from_utf8_lossy(text);
    while let Some((before, behind)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = behind.split_once('m').map_or("", |(_, behind)| behind);
    }
    plain.push_str(rest);
    plain
}
