//! The side that asks.

use super::codec::Codec;
use super::jobs::was_lost;
use super::listed_exec::listed;
use super::{MESSAGE_BYTES, SCHEDULER_PORT};
use crate::error::{Error, Result as Asked};
use ballista_core::config::BALLISTA_CLIENT_PULL;
use ballista_core::execution_plans::execute_physical_plan;
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::optimizer::with_ballista_optimizer_rules;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{TreeNode as _, TreeNodeRecursion};
use datafusion::error::{DataFusionError, Result as Planned};
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::StreamExt as _;
use std::sync::Arc;
use std::time::Duration;

/// How long a scheduler may take to say that it is there.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// How often a question is asked again if executors end in the middle of it.
const AGAIN: usize = 3;

/// How many parts a stage has, unless a query sets `datafusion.execution.target_partitions`.
const PARTS: usize = 16;

/// A cluster that is asked.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// Host and port of its scheduler.
    scheduler: String,
}

impl Cluster {
    /// The cluster of the scheduler at a URL, which is there and has executors.
    pub(crate) fn at(url: &str) -> Asked<Cluster> {
        let address = ["df://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme)).unwrap_or(url);
        let address = address.trim_end_matches('/');
        if address.is_empty() || address.contains('/') {
            return Err(Error::said(format!("{url}: the cluster is wanted as df://HOST:PORT")));
        }
        let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let scheduler = if has_port { address.to_owned() } else { format!("{address}:{SCHEDULER_PORT}") };
        let cluster = Cluster { scheduler };
        cluster.check()?;
        Ok(cluster)
    }

    /// Without executors a query would wait for them for ever.
    fn check(&self) -> Asked<()> {
        let Cluster { scheduler } = self;
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(ANSWER_TIME))
            .build();
        let answer = ureq::Agent::new_with_config(config).get(format!("http://{scheduler}/readyz")).call();
        match answer {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) if answer.status() == 503 => Err(Error::said(format!(
                "the cluster at {scheduler} has no executors yet: readperf cluster executor --scheduler {scheduler} starts one"
            ))),
            Ok(answer) => Err(Error::said(format!(
                "{scheduler} is no scheduler of a cluster: it answers {}",
                answer.status()
            ))),
            Err(error) => Err(Error::said(format!(
                "no scheduler answers at {scheduler} ({error}): readperf cluster scheduler starts one"
            ))),
        }
    }

    /// Settings with which plans can be cut into stages.
    pub(crate) fn settings(config: SessionConfig) -> SessionConfig {
        let bytes = usize::try_from(MESSAGE_BYTES).unwrap_or(usize::MAX);
        let config = config.upgrade_for_ballista().with_target_partitions(PARTS);
        config.with_ballista_grpc_client_max_message_size(bytes)
    }

    /// A session that plans for it.
    pub(crate) fn session(state: SessionState) -> SessionState {
        let rules = with_ballista_optimizer_rules(state.optimizers());
        SessionStateBuilder::new_from_existing(state).with_optimizer_rules(rules).build()
    }

    /// Whether a plan reads anything: what does not is answered here.
    pub(crate) fn is_for(plan: &Arc<dyn ExecutionPlan>) -> Planned<bool> {
        let mut reads = false;
        plan.apply(|node| {
            reads |= matches!(node.name(), "RecordingExec" | "DataSourceExec");
            Ok(if node.name() == "ExplainExec" {
                TreeNodeRecursion::Stop
            } else {
                TreeNodeRecursion::Continue
            })
        })?;
        Ok(reads)
    }

    /// Has a plan carried out; from its start again, if executors end in the middle.
    pub(crate) async fn run(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        state: &SessionState,
    ) -> Planned<SendableRecordBatchStream> {
        let schema = plan.schema();
        let plan = listed(plan)?;
        let mut rows = self.carry_out(&plan, state).await;
        let mut again = 0..AGAIN;
        while rows.as_ref().is_err_and(|error| was_lost(&error.to_string())) && again.next().is_some() {
            rows = self.carry_out(&plan, state).await;
        }
        let rows = rows.map_err(as_told)?;
        let columns = Arc::clone(&schema);
        let rows = rows.map(move |rows| as_planned(&rows.map_err(as_told)?, &columns));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// Has a plan carried out once. Errors of its work come here, before there are rows.
    async fn carry_out(
        &self,
        plan: &Arc<dyn ExecutionPlan>,
        state: &SessionState,
    ) -> Planned<SendableRecordBatchStream> {
        // Who looks how far a question is, instead of being told, may see an answer before it is refused for work that was begun twice.
        let config = state.config().clone().set_bool(BALLISTA_CLIENT_PULL, false);
        let session = state.session_id().to_owned();
        let (url, settings) = (format!("http://{}", self.scheduler), config.ballista_config());
        let (plan, codec) = (Arc::clone(plan), Codec::of_plans());
        execute_physical_plan::<PhysicalPlanNode>(url, &settings, plan, &codec, session, config).await
    }
}

/// An error of an executor as it told it, without the names of the stages that it came through.
fn as_told(error: DataFusionError) -> DataFusionError {
    let text = error.strip_backtrace();
    match in_words(&text) {
        Some(told) => DataFusionError::Execution(told),
        None => error,
    }
}

/// What stands innermost, in quotes: `… Task failed due to … External(DataFusionError(Execution("a: b")))`.
fn in_words(text: &str) -> Option<String> {
    let (_, told) = text.split_once("Task failed due to")?;
    let (_, told) = told.rsplit_once("(\"")?;
    let (told, _) = told.rsplit_once("\")")?;
    Some(told.replace("\\\"", "\"").replace("\\\\", "\\"))
}

/// Rows with the types of the plan: on their way dictionaries become texts.
fn as_planned(rows: &RecordBatch, schema: &SchemaRef) -> Planned<RecordBatch> {
    let columns = rows.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type())).collect::<Result<_, _>>()?;
    let count = RecordBatchOptions::new().with_row_count(Some(rows.num_rows()));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &count)?)
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn errors_of_executors_are_told_without_their_way() {
        let text = r#"Job a failed: Job failed due to stage 1 failed: Task failed due to runtime execution error: DataFusionError(Shared(External(DataFusionError(Execution("/a\\b \"c\": No such file")))))"#;
        assert_eq!(in_words(text).as_deref(), Some(r#"/a\b "c": No such file"#));
        assert_eq!(in_words("Job a failed: all executors were lost"), None);
    }
}
