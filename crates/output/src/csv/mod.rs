//! The one way to write comma-separated values, and the four tables of 2011.

pub mod overview;
pub mod processes;
pub mod results;
pub mod stat;

use crate::text::printable;
use std::io::{self, Write};

/// A table by RFC 4180, but for the ends of its lines: that has CR LF; every reader takes LF, and so do people's line tools.
///
/// Every cell is made harmless as text for people is. It is not altered for spreadsheets, which take what begins with `=`, `+`, `-`
/// or `@` for a formula.
#[derive(Debug)]
pub struct CsvTable<W: Write> {
    writer: csv::Writer<W>,
}

impl<W: Write> CsvTable<W> {
    /// A table with one row written: the names of the columns.
    ///
    /// # Errors
    /// What the writer says.
    pub fn new<C: AsRef<str>>(out: W, columns: impl IntoIterator<Item = C>) -> io::Result<Self> {
        CsvTable::separated(out, b',', columns)
    }

    /// The same with another character between the fields.
    ///
    /// # Errors
    /// What the writer says.
    pub fn separated<C: AsRef<str>>(
        out: W,
        separator: u8,
        columns: impl IntoIterator<Item = C>,
    ) -> io::Result<Self> {
        let builder = &mut csv::WriterBuilder::new();
        let mut table =
            CsvTable { writer: builder.delimiter(separator).buffer_capacity(1 << 16).from_writer(out) };
        table.row(columns)?;
        Ok(table)
    }

    /// Writes the rest of a row, and ends it.
    ///
    /// # Errors
    /// What the writer says.
    pub fn row<C: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = C>) -> io::Result<()> {
        for cell in cells {
            self.cell(cell)?;
        }
        self.end_row()
    }

    /// Writes the next cell of a row.
    ///
    /// # Errors
    /// What the writer says.
    pub fn cell(&mut self, cell: impl AsRef<str>) -> io::Result<()> {
        self.writer.write_field(&*printable(cell.as_ref())).map_err(told_by_writer)
    }

    /// Ends a row.
    ///
    /// # Errors
    /// What the writer says.
    pub fn end_row(&mut self) -> io::Result<()> {
        self.writer.write_record(None::<&[u8]>).map_err(told_by_writer)
    }

    /// Ends the table.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// A cell as it is written. A table of one cell would write an empty one in quotes.
fn cell(text: &str) -> Vec<u8> {
    let mut table = CsvTable { writer: csv::Writer::from_writer(Vec::new()) };
    // Writing to memory does not fail.
    let _ = table.cell(text);
    table.writer.into_inner().unwrap_or_default()
}

/// What the writer said, as it said it: `From` would wrap it, and who asks whether a reader went away could not see that.
fn told_by_writer(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}
