//! Columns for people: numbers to the right, text to the left. How wide columns are, the first rows decide; a longer cell that
//! comes later moves its line.

use super::plain::options;
use super::{Rows, Sink};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::util::display::ArrayFormatter;
use datafusion::error::Result;
use readperf_output::text::printable;
use std::io::Write;
use unicode_width::UnicodeWidthStr as _;

/// Rows that are looked at before the first is written.
const FIRST: usize = 4096;
/// Between columns.
const GAP: &str = "  ";

pub(super) struct Table<'w> {
    schema: SchemaRef,
    /// Columns that a line may take.
    limit: Option<usize>,
    /// The first rows, until widths are known.
    first: Vec<Vec<String>>,
    /// Of the columns, once they are known.
    widths: Vec<usize>,
    out: Sink<'w>,
}

impl<'w> Table<'w> {
    pub(super) fn new(schema: SchemaRef, limit: Option<usize>, out: Sink<'w>) -> Table<'w> {
        Table { schema, limit, first: Vec::new(), widths: Vec::new(), out }
    }

    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| printable(field.name()).into_owned()).collect()
    }

    /// Works widths out, and writes the names and the rows that were held.
    fn begin(&mut self) -> Result<()> {
        let names = self.names();
        self.widths = names.iter().map(|name| name.width()).collect();
        for row in &self.first {
            for (width, cell) in self.widths.iter_mut().zip(row) {
                *width = cell.width().max(*width);
            }
        }
        self.line(&names)?;
        let rules: Vec<String> = self.widths.iter().map(|&width| "-".repeat(width)).collect();
        self.line(&rules)?;
        for row in std::mem::take(&mut self.first) {
            self.line(&row)?;
        }
        Ok(())
    }

    fn line(&mut self, cells: &[String]) -> Result<()> {
        let mut line = String::new();
        for ((cell, &width), field) in cells.iter().zip(&self.widths).zip(self.schema.fields()) {
            if !line.is_empty() {
                line.push_str(GAP);
            }
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let (left, right) = if field.data_type().is_numeric() { (&*space, "") } else { ("", &*space) };
            line.extend([left, cell.as_str(), right]);
        }
        let shown = cut(line.trim_end(), self.limit);
        writeln!(self.out, "{shown}")?;
        Ok(())
    }
}

/// At most so many columns of a line.
fn cut(line: &str, limit: Option<usize>) -> String {
    let Some(limit) = limit.filter(|&limit| line.width() > limit) else { return line.to_owned() };
    let mut shown = String::new();
    for character in line.chars() {
        shown.push(character);
        if shown.width() >= limit {
            shown.pop();
            break;
        }
    }
    shown.push('…');
    shown
}

impl Rows for Table<'_> {
    fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        let options = options();
        let columns = rows.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>()?;
        for row in 0..rows.num_rows() {
            let cells = columns.iter().map(|column| column.value(row).try_to_string());
            let cells = cells.map(|cell| Ok(printable(&cell?).into_owned()));
            let cells = cells.collect::<Result<Vec<String>>>()?;
            if self.widths.is_empty() {
                self.first.push(cells);
                if self.first.len() >= FIRST {
                    self.begin()?;
                }
            } else {
                self.line(&cells)?;
            }
        }
        Ok(())
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if self.widths.is_empty() {
            self.begin()?;
        }
        Ok(())
    }
}
