//! A Parquet file.

use super::Rows;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;
use std::io::Write;

pub(super) struct Parquet<'w> {
    schema: SchemaRef,
    writer: ArrowWriter<&'w mut (dyn Write + Send)>,
}

impl<'w> Parquet<'w> {
    pub(super) fn new(schema: SchemaRef, out: &'w mut (dyn Write + Send)) -> Result<Parquet<'w>> {
        let properties =
            WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
        let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties))?;
        Ok(Parquet { schema, writer })
    }
}

impl Rows for Parquet<'_> {
    fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        Ok(self.writer.write(&rows.clone().with_schema(self.schema.clone())?)?)
    }

    fn end(mut self: Box<Self>) -> Result<()> {
        self.writer.finish()?;
        Ok(())
    }
}
