//! Answers as text and files: one format a file. Rows are written as they come.

mod csv;
mod json;
mod parquet;
mod plain;
mod table;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::Result;
use std::io::Write;
use std::sync::Arc;

/// How an answer is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Columns for people.
    #[default]
    Table,
    /// RFC 4180, with a line of names. Missing is empty.
    Csv,
    /// An array of objects, one a row. Numbers of 64 bits stay numbers.
    Json,
    /// A Parquet file.
    Parquet,
}

/// What writes the rows of one answer.
trait Rows {
    fn rows(&mut self, rows: &RecordBatch) -> Result<()>;
    /// Writes what is still held.
    fn end(self: Box<Self>) -> Result<()>;
}

/// Writes one answer.
pub struct Writer<'w>(Box<dyn Rows + 'w>);

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Writer")
    }
}

impl<'w> Writer<'w> {
    /// Begins an answer with these columns. A table is cut to `width` columns of text, if there is one.
    pub fn new(
        format: Format,
        schema: &SchemaRef,
        width: Option<usize>,
        out: &'w mut (dyn Write + Send),
    ) -> Result<Writer<'w>> {
        let schema = distinct_names(schema);
        Ok(Writer(match format {
            Format::Table => Box::new(table::Table::new(schema, width, out)),
            Format::Csv => Box::new(csv::Csv::new(schema, out)),
            Format::Json => Box::new(json::Json::new(schema, out)?),
            Format::Parquet => Box::new(parquet::Parquet::new(schema, out)?),
        }))
    }

    /// Writes rows.
    pub fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        self.0.rows(rows)
    }

    /// Writes what is still held.
    pub fn end(self) -> Result<()> {
        self.0.end()
    }
}

/// Columns under names of their own: `SELECT a.x, b.x` has two that are called x, and an object in JSON would lose one.
fn distinct_names(schema: &SchemaRef) -> SchemaRef {
    let mut seen = std::collections::HashSet::new();
    let fields = schema.fields().iter().map(|field| {
        let name = field.name();
        let names = std::iter::once(name.clone()).chain((2u32..).map(|nr| format!("{name}_{nr}")));
        let free = names.into_iter().find(|name| seen.insert(name.clone()));
        field.as_ref().clone().with_name(free.unwrap_or_else(|| name.clone()))
    });
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}
