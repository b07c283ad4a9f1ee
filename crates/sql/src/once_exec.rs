//! Rows that several recordings have, once: a stack, a place or a function has one id everywhere. Two different things under one id
//! would be mixed up silently, so that is an error.

use datafusion::arrow::array::{ArrayRef, AsArray as _, BooleanArray, RecordBatch};
use datafusion::arrow::compute::{cast, filter_record_batch};
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{exec_err, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ExecutionPlanProperties as _, ReplaceChildrenOptions,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, Distribution, ExecutionPlan, PlanProperties};
use futures::StreamExt as _;
use std::collections::HashMap;
use std::fmt::{self, Formatter};
use std::sync::Arc;

/// Which columns of the input say what a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RowKey {
    /// The id.
    pub(crate) id: usize,
    /// What else tells rows of one id apart: the level.
    pub(crate) part: Option<usize>,
    /// The other half of the hash.
    pub(crate) rest: Option<usize>,
}

/// Takes the first row of each key.
#[derive(Clone, Debug)]
pub(crate) struct OnceExec {
    pub(crate) input: Arc<dyn ExecutionPlan>,
    pub(crate) key: RowKey,
    properties: Arc<PlanProperties>,
}

impl OnceExec {
    pub(crate) fn new(input: Arc<dyn ExecutionPlan>, key: RowKey) -> OnceExec {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(input.schema()),
            input.output_partitioning().clone(),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        OnceExec { input, key, properties: Arc::new(properties) }
    }
}

impl DisplayAs for OnceExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        let schema = self.input.schema();
        let id = schema.fields().get(self.key.id).map_or("", |field| field.name());
        write!(f, "OnceExec: id={id}")
    }
}

impl ExecutionPlan for OnceExec {
    fn name(&self) -> &str {
        "OnceExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    // Rows of one id have to meet.
    fn required_input_distribution(&self) -> Vec<Distribution> {
        let schema = self.input.schema();
        let name = schema.fields().get(self.key.id).map_or("", |field| field.name());
        vec![Distribution::KeyPartitioned(vec![Arc::new(Column::new(name, self.key.id))])]
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => Ok(Arc::new(OnceExec::new(input, self.key))),
            Err(children) => internal_err!("OnceExec has one input, not {}", children.len()),
        }
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode::Recompute;
        self.replace_children(children, ReplaceChildrenOptions::new(Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let input = self.input.execute(partition, context)?;
        let mut seen = Seen { key: self.key, rests: HashMap::new() };
        let rows = input.map(move |rows| seen.first(&rows?));
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}

/// The keys that have come by, with the other halves of their hashes.
struct Seen {
    key: RowKey,
    rests: HashMap<(i64, i64), i64>,
}

impl Seen {
    /// Those of the rows whose keys have not come before.
    fn first(&mut self, rows: &RecordBatch) -> Result<RecordBatch> {
        let RowKey { id, part, rest } = self.key;
        let ids = numbers(rows, id)?;
        let parts = part.map(|part| numbers(rows, part)).transpose()?;
        let rests = rest.map(|rest| numbers(rows, rest)).transpose()?;
        let value = |column: &ArrayRef, row| column.as_primitive::<Int64Type>().value(row);
        let mut is_first = Vec::with_capacity(rows.num_rows());
        for row in 0..rows.num_rows() {
            let id = value(&ids, row);
            let part = parts.as_ref().map_or(0, |parts| value(parts, row));
            let rest = rests.as_ref().map_or(0, |rests| value(rests, row));
            match self.rests.insert((id, part), rest) {
                Some(other) if other != rest => {
                    return exec_err!(
                        "two different things have the id {id}: their recordings cannot be asked together"
                    );
                }
                known => is_first.push(known.is_none()),
            }
        }
        Ok(filter_record_batch(rows, &BooleanArray::from(is_first))?)
    }
}

fn numbers(rows: &RecordBatch, column: usize) -> Result<ArrayRef> {
    match rows.columns().get(column) {
        Some(column) => Ok(cast(column, &DataType::Int64)?),
        None => internal_err!("no column {column} with ids"),
    }
}
