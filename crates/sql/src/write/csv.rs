//! CSV.

use super::plain::{flat, flat_schema};
use super::{Rows, Sink};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv::{Writer, WriterBuilder};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;

pub(super) struct Csv<'w> {
    schema: SchemaRef,
    writer: Writer<Sink<'w>>,
    is_begun: bool,
}

impl<'w> Csv<'w> {
    pub(super) fn new(schema: &SchemaRef, out: Sink<'w>) -> Csv<'w> {
        let writer = WriterBuilder::new().with_header(true).build(out);
        Csv { schema: flat_schema(schema), writer, is_begun: false }
    }
}

impl Rows for Csv<'_> {
    fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        self.is_begun = true;
        Ok(self.writer.write(&flat(&self.schema, rows)?)?)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        if !self.is_begun {
            // The line of names comes with the first rows.
            self.writer.write(&RecordBatch::new_empty(self.schema.clone()))?;
        }
        Ok(())
    }
}
