//! Answers as text and files: one format a file. Rows are written as they come.

mod csv;
mod json;
mod parquet;
mod plain;
mod table;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::error::{DataFusionError, Result};
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

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

/// Where rows go. It keeps what the system says of it: not every format passes that on.
struct Sink<'w> {
    out: &'w mut (dyn Write + Send),
    failed: Failed,
}

/// What the system said, if it did.
type Failed = Arc<Mutex<Option<io::Error>>>;

impl Sink<'_> {
    fn noted<T>(&self, done: io::Result<T>) -> io::Result<T> {
        done.map_err(|error| {
            let same = io::Error::new(error.kind(), error.to_string());
            *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            same
        })
    }
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let done = self.out.write(bytes);
        self.noted(done)
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.out.flush();
        self.noted(done)
    }
}

/// Writes one answer.
pub struct Writer<'w> {
    rows: Box<dyn Rows + 'w>,
    schema: SchemaRef,
    failed: Failed,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("schema", &self.schema).finish_non_exhaustive()
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
        let failed = Failed::default();
        let sink = Sink { out, failed: Arc::clone(&failed) };
        let columns = Arc::clone(&schema);
        let rows: Box<dyn Rows + 'w> = match format {
            Format::Table => Box::new(table::Table::new(columns, width, sink)),
            Format::Csv => Box::new(csv::Csv::new(&columns, sink)),
            Format::Json => Box::new(json::Json::new(sink)),
            Format::Parquet => Box::new(parquet::Parquet::new(columns, sink)?),
        };
        Ok(Writer { rows, schema, failed })
    }

    /// Writes rows.
    pub fn rows(&mut self, rows: &RecordBatch) -> Result<()> {
        let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
        let rows =
            RecordBatch::try_new_with_options(Arc::clone(&self.schema), rows.columns().to_vec(), &count)?;
        let done = self.rows.rows(&rows);
        explained(&self.failed, done)
    }

    /// Writes what is still held.
    pub fn end(self) -> Result<()> {
        explained(&self.failed, self.rows.end())
    }
}

/// What went wrong, as the system said it.
fn explained(failed: &Failed, done: Result<()>) -> Result<()> {
    done.map_err(|error| {
        let failed = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        failed.map_or(error, DataFusionError::from)
    })
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
