//! `readperf report`: histograms as text, JSON and CSV.

mod cell;
mod chains;
mod columns;
mod csv;
mod graph;
mod hierarchy;
mod json;
mod json_row;
mod text;

pub use cell::CellStyle;
pub use csv::write_csv;
pub use graph::{GraphStyle, GraphValue, Shape};
pub use json::write_json;
pub use text::write_text;

use crate::heading::Whole;
use crate::table::ColumnKind;
use crate::text::{printable, shown};
use readperf_profile::Value;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::column::Column;
use readperf_profile::view::facts::Facts;
use readperf_profile::view::histogram::{Frames, Histogram, HistogramRow, Numbers, RowValues};
use readperf_profile::view::key::KeyUse;
use std::borrow::Cow;

/// What is to be shown, and how.
#[derive(Debug)]
pub struct Report<'r> {
    /// The histograms, sorted.
    pub histograms: &'r [Histogram],
    /// Names.
    pub facts: &'r Facts<'r>,
    /// What the keys of rows say.
    pub values: &'r RowValues,
    /// What the frames of call graphs say.
    pub frames: &'r Frames,
    /// What makes a row.
    pub keys: &'r [KeyUse],
    /// The columns, from left to right.
    pub columns: &'r [Column],
    /// For each event of the recording all its samples, chosen or not.
    pub recorded: &'r [EventTotal],
    /// What 100 % is.
    pub whole: Whole,
    /// Rows below this share, in percent, are not among the rows.
    pub percent_limit: f64,
    /// How call graphs are shown.
    pub graph: GraphStyle,
    /// How values are shown.
    pub cells: CellStyle,
    /// Columns of the terminal, if it is one: longer names are cut.
    pub width: Option<usize>,
    /// Widths of the columns, from left to right, where they are not to follow from what is in them. Longer text is cut.
    pub widths: &'r [Option<usize>],
    /// Whether rows are shown as a tree, by one key after the other. The limit then counts for each branch.
    pub hierarchy: bool,
}

impl<'r> Report<'r> {
    /// What stands over each column, and what the column shows. Those of numbers are there once for each event of a group.
    pub fn heads(&self, histogram: &Histogram) -> Vec<(String, ColumnKind)> {
        text::heads(self, histogram)
    }

    /// What a row says in each of these columns, ready to be shown.
    pub fn cells(&self, histogram: &Histogram, row: &HistogramRow) -> Vec<String> {
        text::row_cells(self, histogram, row)
    }

    /// What the keys say of a row, in full.
    pub fn names(&self, row: &HistogramRow) -> Vec<String> {
        let values = self.values.values(row.key);
        values.map(|value| printable(&self.text(value, row.numbers.samples)).into_owned()).collect()
    }

    /// What a frame of a call graph says, ready to be shown.
    pub fn frame_name(&self, frame: u32) -> String {
        shown(&self.text(self.frames.says(frame), 0)).into_owned()
    }

    /// What a key says, as text, not yet made harmless. `samples` is how many the row has.
    fn text(&self, value: Value, samples: u64) -> Cow<'r, str> {
        cell::text(self.facts, self.cells, value, samples)
    }

    /// The period that is 100 % for an event of a histogram.
    fn whole(&self, total: &EventTotal) -> u64 {
        match self.whole {
            Whole::Chosen => total.period,
            Whole::Recorded => self.recorded(total).period,
        }
    }

    /// All samples of an event of a histogram.
    fn recorded<'t>(&'t self, total: &'t EventTotal) -> &'t EventTotal {
        self.recorded.iter().find(|recorded| recorded.name == total.name).unwrap_or(total)
    }

    /// The share of a row that decides whether it is shown: the highest of its events.
    pub fn share(&self, histogram: &Histogram, row: &HistogramRow) -> f64 {
        let children = self.columns.contains(&Column::Children);
        let of = |total: &EventTotal, numbers: &Numbers| {
            let period = if children { numbers.total_period } else { numbers.self_period };
            crate::overview::share(period, self.whole(total))
        };
        let events = std::iter::once((&histogram.total, &row.numbers));
        let events = events.chain(histogram.others.iter().zip(&row.others));
        events.map(|(total, numbers)| of(total, numbers)).fold(0.0, f64::max)
    }
}
