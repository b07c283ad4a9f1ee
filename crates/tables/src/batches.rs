//! The rows of a table, some at a time.

use crate::made::Made;
use crate::schema::Table;
use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use std::ops::Range;
use std::sync::Arc;

/// Rows of a batch that suit most.
pub const BATCH_ROWS: usize = 1 << 16;

/// The rows of a table, some at a time: each batch is made when it is asked for.
#[derive(Debug)]
pub struct Batches {
    pub(crate) table: Table,
    pub(crate) made: Arc<Made>,
    pub(crate) columns: Vec<usize>,
    pub(crate) schema: SchemaRef,
    pub(crate) rows: Range<usize>,
    pub(crate) batch_rows: usize,
}

impl Batches {
    /// The schema of the batches: the columns that were asked for.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// How many rows are still to come.
    pub fn rows_left(&self) -> usize {
        self.rows.len()
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rows.is_empty() {
            return None;
        }
        let end = self.rows.end.min(self.rows.start.saturating_add(self.batch_rows.max(1)));
        let rows = std::mem::replace(&mut self.rows.start, end)..end;
        Some(self.table.definition().batch(self.table, &self.made, &self.columns, rows))
    }
}
