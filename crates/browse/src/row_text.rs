//! What rows say: their names, all that is known of one, and the whole as `report` writes it.

use crate::app::App;
use crate::host::PrintForm;
use crate::keys::View;
use crate::page::{Page, find};
use readperf_output::report::{GraphStyle, Report, write_json, write_text};
use readperf_output::text::{counted, decoded, grouped};
use readperf_profile::Value;
use readperf_profile::view::histogram::{Frames, Histogram};
use regex::Regex;
use std::slice;

impl App<'_> {
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
            "\n{} here, period {}; with what is called {}\n",
            counted(numbers.samples, "sample"),
            grouped(numbers.self_period),
            grouped(numbers.total_period)
        ));
        let changes = self.rows.changes.as_ref();
        if let Some(change) = changes.and_then(|changes| changes.rows.get(&row.key)) {
            let (before, now) = (change.before, change.now);
            text.push_str(&format!("before           {before:.2} %, now {now:.2} %\n"));
        }
        if let Some(Value::Function { function, .. }) = self.function_here() {
            let profile = self.explorer.totals();
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
                if let Some(binary) = binary {
                    text.push_str(&format!("{:<16} {}\n", "binary", decoded(&binary.name)));
                    // What only appears inlined has none.
                    if function.address != 0 {
                        text.push_str(&format!("{:<16} {:#x}\n", "address", function.address));
                    }
                }
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
            recorded: self.explorer.totals().recorded(),
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
