//! The scan of recordings as it travels. The scheduler hands out the parts of a stage by the partitions of its inputs, and knows those of memory
//! and files; a leaf that it does not know would be read whole by every task. So the names of the recordings are the rows of an input.

use crate::recording_exec::RecordingExec;
use datafusion::arrow::array::{ArrayRef, AsArray as _, BinaryArray, RecordBatch};
use datafusion::common::internal_err;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _, TreeNodeRecursion};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, EmissionType, ExecutionPlanProperties as _, ReplaceChildrenOptions,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, common,
};
use futures::TryStreamExt as _;
use std::any::Any;
use std::ffi::OsStr;
use std::fmt::{self, Formatter};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

/// A scan of the recordings that its input names.
#[derive(Clone, Debug)]
pub(super) struct ListedExec {
    /// The scan, with no recordings of its own.
    pub(super) scan: RecordingExec,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
}

impl ListedExec {
    pub(super) fn new(scan: RecordingExec, input: Arc<dyn ExecutionPlan>) -> ListedExec {
        let partitions = input.output_partitioning().partition_count();
        let properties = PlanProperties::new(
            EquivalenceProperties::new(scan.schema()),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        ListedExec { scan, input, properties: Arc::new(properties) }
    }

    fn of(scan: &RecordingExec) -> Result<ListedExec> {
        let partitions = scan.files.iter().map(|files| Ok(vec![names(files)?]));
        let partitions = partitions.collect::<Result<Vec<_>>>()?;
        let source = MemorySourceConfig::try_new(&partitions, names(&[])?.schema(), None)?;
        Ok(ListedExec::new(scan.over(Vec::new())?, DataSourceExec::from_data_source(source)))
    }
}

/// A plan that can travel.
pub(super) fn listed(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|node| {
        let any: &dyn Any = node.as_ref();
        match any.downcast_ref::<RecordingExec>() {
            Some(scan) => Ok(Transformed::yes(Arc::new(ListedExec::of(scan)?) as _)),
            None => Ok(Transformed::no(node)),
        }
    })
    .data()
}

/// Paths as rows.
fn names(files: &[PathBuf]) -> Result<RecordBatch> {
    let names = files.iter().map(|file| file.as_os_str().as_bytes());
    let names: ArrayRef = Arc::new(BinaryArray::from_iter_values(names));
    Ok(RecordBatch::try_from_iter([("recording", names)])?)
}

/// Paths of rows.
fn paths(rows: &RecordBatch) -> Vec<PathBuf> {
    let names = rows.columns().first().and_then(|names| names.as_binary_opt::<i32>());
    let names = names.into_iter().flatten().flatten();
    names.map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

impl DisplayAs for ListedExec {
    fn fmt_as(&self, kind: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        self.scan.fmt_as(kind, f)
    }
}

impl ExecutionPlan for ListedExec {
    fn name(&self) -> &str {
        "ListedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    // To move names between tasks would not be worth it.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
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
            Ok([input]) => Ok(Arc::new(ListedExec::new(self.scan.clone(), input))),
            Err(children) => internal_err!("ListedExec has one input, not {}", children.len()),
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
        let input = self.input.execute(partition, Arc::clone(&context))?;
        let scan = self.scan.clone();
        let rows = async move {
            let files = common::collect(input).await?.iter().flat_map(paths).collect();
            scan.over(vec![files])?.execute(0, context)
        };
        let rows = futures::stream::once(rows).try_flatten();
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), rows)))
    }
}
