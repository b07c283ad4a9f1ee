//! The scan of a table over recordings. Partitions are groups of files.

use crate::reading::Reading;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{FieldRef, Schema, SchemaRef};
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use readperf_profile::SampleFilter;
use readperf_tables::Table;
use std::collections::HashMap;
use std::fmt::{self, Formatter};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::mpsc::Sender;

/// Batches that wait to be taken.
const AHEAD: usize = 2;

/// A scan.
#[derive(Clone, Debug)]
pub(crate) struct RecordingExec {
    pub(crate) table: Table,
    /// The columns, by their numbers in the table.
    pub(crate) columns: Vec<usize>,
    /// The files of each partition.
    pub(crate) files: Vec<Vec<PathBuf>>,
    /// Which samples the query needs.
    pub(crate) samples: SampleFilter,
    /// After so many rows of a partition there is no need of more.
    pub(crate) limit: Option<usize>,
    reading: Arc<Reading>,
    properties: Arc<PlanProperties>,
}

impl RecordingExec {
    /// A scan; what it needs is added to what the query asks for.
    pub(crate) fn new(
        reading: Arc<Reading>,
        table: Table,
        columns: Vec<usize>,
        files: Vec<Vec<PathBuf>>,
        samples: SampleFilter,
        limit: Option<usize>,
    ) -> Result<RecordingExec> {
        reading.ask(table, &columns, &samples);
        RecordingExec::planned(reading, table, columns, files, samples, limit)
    }

    /// A scan of a query that knows of it already.
    pub(crate) fn planned(
        reading: Arc<Reading>,
        table: Table,
        columns: Vec<usize>,
        files: Vec<Vec<PathBuf>>,
        samples: SampleFilter,
        limit: Option<usize>,
    ) -> Result<RecordingExec> {
        let schema = bare(&table.schema().project(&columns)?);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(files.len()),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(RecordingExec { table, columns, files, samples, limit, reading, properties: Arc::new(properties) })
    }

    /// The same scan of other files.
    #[cfg(feature = "cluster")]
    pub(crate) fn over(&self, files: Vec<Vec<PathBuf>>) -> Result<RecordingExec> {
        let RecordingExec { table, columns, samples, limit, reading, .. } = self.clone();
        RecordingExec::planned(reading, table, columns, files, samples, limit)
    }

    /// The recordings of its query.
    #[cfg(feature = "cluster")]
    pub(crate) fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Sends the rows of some files until there are enough or nobody takes them.
    fn send(&self, files: &[PathBuf], batch_rows: usize, to: &Sender<Result<RecordBatch>>) -> Result<()> {
        let mut left = self.limit.unwrap_or(usize::MAX);
        for file in files {
            let tables = self.reading.tables(file, self.table, &self.columns)?;
            let batches = tables.batches(self.table, Some(&self.columns), batch_rows).map_err(outside)?;
            for batch in batches {
                if left == 0 {
                    return Ok(());
                }
                let batch = batch?;
                let batch = batch.slice(0, left.min(batch.num_rows()));
                let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let batch =
                    RecordBatch::try_new_with_options(self.schema(), batch.columns().to_vec(), &rows)?;
                left = left.saturating_sub(batch.num_rows());
                if to.blocking_send(Ok(batch)).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// The columns alone: what is said of a table and its columns is not true of what a query makes of them, and DataFusion fails where the two
/// sides of a `UNION` say different things. `DESCRIBE` knows what columns mean from the tables themselves.
pub(crate) fn bare(schema: &Schema) -> SchemaRef {
    let plain = |field: &FieldRef| field.as_ref().clone().with_metadata(HashMap::new());
    Arc::new(Schema::new(schema.fields().iter().map(plain).collect::<Vec<_>>()))
}

fn outside(error: readperf_tables::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl DisplayAs for RecordingExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        let all = self.table.columns();
        let names: Vec<&str> = self.columns.iter().filter_map(|nr| Some(all.get(*nr)?.name)).collect();
        let files: usize = self.files.iter().map(Vec::len).sum();
        write!(f, "RecordingExec: table={}, columns=[{}], recordings={files}", self.table, names.join(", "))?;
        if !self.samples.is_open() {
            write!(f, ", samples={:?}", self.samples)?;
        }
        self.limit.map_or(Ok(()), |limit| write!(f, ", limit={limit}"))
    }
}

impl ExecutionPlan for RecordingExec {
    fn name(&self) -> &str {
        "RecordingExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        _: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let Some(files) = self.files.get(partition).cloned() else {
            return internal_err!("no partition {partition} of {} recordings", self.table);
        };
        let batch_rows = context.session_config().batch_size();
        let mut stream = RecordBatchReceiverStream::builder(self.schema(), AHEAD);
        let (to, scan) = (stream.tx(), self.clone());
        stream.spawn_blocking(move || scan.send(&files, batch_rows, &to));
        Ok(stream.build())
    }
}
