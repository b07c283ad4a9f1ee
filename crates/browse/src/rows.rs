//! The rows, and the calls that are open below them: one list of lines, of which the screen shows a part.

use crate::app::App;
use crate::keys::View;
use crate::list::Cursor;
use crate::menu::Menu;
use readperf_explore::{CallLine, Change, Changes, OpenCalls};
use readperf_output::text::shown;
use readperf_profile::Value;
use readperf_profile::view::call_tree::Direction;
use readperf_profile::view::column::Column;
use readperf_profile::view::histogram::{HistogramRow, RowKey};
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// If all rows are to be open: those that were closed again. Calls are worked out when a row is seen.
    all_but: Option<FxHashSet<RowKey>>,
    pub(crate) cursor: Cursor,
    pub(crate) changes: Option<Changes>,
    /// Whether what has changed most comes first.
    by_change: bool,
}

impl App<'_> {
    /// Makes the list anew from what is looked at.
    pub(crate) fn renew_rows(&mut self) {
        self.rows.open.clear();
        self.rows.all_but = None;
        self.rows.changes = self.explorer.changes().cloned();
        self.list_lines();
        self.rows.cursor = Cursor::default();
    }

    /// What the keys say of the row that the cursor is on.
    pub(crate) fn values_of_row(&self) -> Vec<Value> {
        let key = self.row_here().map(|row| row.key);
        key.map_or_else(Vec::new, |key| self.explorer.rows().values.values(key).collect())
    }

    /// Goes to the row of which the keys say this, if there is one.
    pub(crate) fn go_to_row(&mut self, values: &[Value]) {
        let rows = self.explorer.rows();
        let is_it = |row: &HistogramRow| rows.values.values(row.key).eq(values.iter().copied());
        if let Some(row) = rows.histogram.rows.iter().position(is_it) {
            self.go_to_line(LineAt { row, call: None });
        }
    }

    /// Puts what has changed most first, or not.
    pub(crate) fn sort_by_change(&mut self, by_change: bool) {
        self.rows.by_change = by_change;
        self.list_lines();
    }

    /// Lists the lines of all rows and of the calls that are open.
    fn list_lines(&mut self) {
        let rows = self.explorer.rows();
        let RowsScreen { lines, open, changes, by_change, .. } = &mut self.rows;
        let mut listed: Vec<(usize, &HistogramRow)> = rows.histogram.rows.iter().enumerate().collect();
        if let Some(changes) = changes.as_ref().filter(|_| *by_change) {
            let change = |row: &HistogramRow| changes.rows.get(&row.key).map_or(-1.0, Change::size);
            listed.sort_by(|(_, a), (_, b)| change(b).total_cmp(&change(a)));
        }
        lines.clear();
        for (nr, row) in listed {
            lines.push(LineAt { row: nr, call: None });
            let calls = open.get(&row.key).map_or(0, |calls| calls.lines.len());
            lines.extend((0..calls).map(|call| LineAt { row: nr, call: Some(call) }));
        }
    }

    /// Lists them again, and stays on a line.
    fn relist(&mut self, at: LineAt) {
        self.list_lines();
        self.go_to_line(at);
    }

    fn go_to_line(&mut self, at: LineAt) {
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
            None => {
                if let Some(closed) = &mut self.rows.all_but {
                    closed.insert(row.key);
                }
                self.rows.open.remove(&row.key).is_some()
            }
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

    /// Opens all calls of all rows: of each as soon as it is seen.
    pub(crate) fn open_all(&mut self) {
        self.rows.all_but = Some(FxHashSet::default());
        self.rows.open.clear();
        if let Some(here) = self.line_here() {
            self.relist(LineAt { call: None, ..here });
        }
        self.work();
    }

    /// Does a part of what is left to do when nothing is typed: opens a row that is seen. Says whether there was something.
    pub fn work(&mut self) -> bool {
        let Some(key) = self.to_open() else { return false };
        let here = self.line_here();
        let mut calls = self.explorer.open_calls(key);
        calls.open_all(&mut self.explorer, MOST_CALLS);
        self.rows.open.insert(key, calls);
        if let Some(here) = here {
            self.relist(here);
        }
        true
    }

    /// The first row on the screen that is to be open, and is not.
    fn to_open(&self) -> Option<RowKey> {
        let RowsScreen { lines, open, all_but, cursor, .. } = &self.rows;
        let closed = all_but.as_ref().filter(|_| self.view() == View::Rows)?;
        let rows = self.explorer.rows();
        let seen = lines.iter().skip(cursor.top).take(self.seen()).filter(|line| line.call.is_none());
        let mut keys = seen.filter_map(|line| Some(rows.histogram.rows.get(line.row)?.key));
        keys.find(|key| !open.contains_key(key) && !closed.contains(key))
    }

    pub(crate) fn close_all(&mut self) {
        let here = self.line_here();
        self.rows.open.clear();
        self.rows.all_but = None;
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

    /// Sorts by the column behind that by which rows are sorted now; behind the last one comes the change, if there is one.
    pub(crate) fn sort_by_next(&mut self) {
        let mut state = self.state().clone();
        let columns = &self.look.columns;
        let now = state.rows.order.first().and_then(|lead| columns.iter().position(|column| column == lead));
        let next = now.filter(|_| !self.rows.by_change).map_or(0, |now| now + 1);
        let here = self.values_of_row();
        if next >= columns.len() && self.rows.changes.is_some() {
            self.sort_by_change(true);
            self.go_to_row(&here);
            self.message = "sorted by change".to_owned();
            return;
        }
        let Some(next) = columns.get(next % columns.len().max(1)).copied() else { return };
        state.rows.order = vec![next];
        self.rows.by_change = false;
        self.go(state);
        let title = self.with_report(|report, _| {
            let name = match next {
                Column::Key(index) => report.keys.get(index).map(|key| key.title().to_owned()),
                _ => None,
            };
            name.unwrap_or_else(|| column_name(next).to_owned())
        });
        self.message = format!("sorted by {}", shown(&title));
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
