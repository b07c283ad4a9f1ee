//! A Parquet file.

use super::{Rows, Sink};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

pub(super) struct Parquet<'w> {
    writer: ArrowWriter<Sink<'w>>,
}

impl<'w> Parquet<'w> {
    pub(super) fn new(schema: SchemaRef, out: Sink<'w>) -> Result<Parquet<'w>> {
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = ArrowWriter::try_new(out, schema, Some(properties))?;
        Ok(Parquet { writer })
    }
}

impl Rows for Parquet<'_> {
    fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        Ok(self.writer.write(rows)?)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        self.writer.finish()?;
        Ok(())
    }
}
