//! JSON: an array of objects, one on a line.

use super::{Rows, Sink};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::writer::{JsonFormat, Writer, WriterBuilder};
use datafusion::error::Result;
use std::io::Write;

/// Objects separated so that each has its line.
#[derive(Debug, Default)]
struct ObjectALine;

impl JsonFormat for ObjectALine {
    fn start_stream<W: Write>(&self, writer: &mut W) -> std::result::Result<(), ArrowError> {
        Ok(writer.write_all(b"[\n")?)
    }

    fn start_row<W: Write>(&self, writer: &mut W, is_first_row: bool) -> std::result::Result<(), ArrowError> {
        if is_first_row { Ok(()) } else { Ok(writer.write_all(b",\n")?) }
    }

    fn end_stream<W: Write>(&self, writer: &mut W) -> std::result::Result<(), ArrowError> {
        Ok(writer.write_all(b"\n]\n")?)
    }
}

pub(super) struct Json<'w> {
    writer: Writer<Sink<'w>, ObjectALine>,
}

impl<'w> Json<'w> {
    pub(super) fn new(out: Sink<'w>) -> Json<'w> {
        // What is missing is said: every object has every column.
        let writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, ObjectALine>(out);
        Json { writer }
    }
}

impl Rows for Json<'_> {
    fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        Ok(self.writer.write(rows)?)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        Ok(self.writer.finish()?)
    }
}
