//! The questions that a scheduler works on, and how they end.
//!
//! When an executor ends, the scheduler has others do again what it did. A stage that was begun may then be begun anew, while the stage
//! behind it keeps what the first attempt had handed on: rows would be there twice, or not at all, without an error. So an answer is
//! given only if every stage was begun once. Otherwise the question fails, with a text by which [`was_lost`] knows it, and who asked asks
//! again.

use async_trait::async_trait;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::JobStatus;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::{JobId, JobStatusSubscriber};
use ballista_scheduler::cluster::{JobState, JobStateEventStream};
use ballista_scheduler::state::execution_graph::ExecutionGraphBox;
use ballista_scheduler::state::execution_stage::ExecutionStage;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::collections::HashSet;
use std::sync::Arc;

/// Why a question has no answer although all of its work was done.
const LOST: &str = "an executor ended in the middle, and what it had worked out was needed again";

/// Whether an error is that of a question that may be asked again, since an executor was lost on the way.
pub(super) fn was_lost(error: &str) -> bool {
    error.contains(LOST)
}

/// Questions that fail instead of having an answer that may be wrong.
pub(super) struct OnceEach(pub(super) Arc<dyn JobState>);

/// Whether a stage was begun more than once.
fn began_again(graph: &ExecutionGraphBox) -> bool {
    graph.stages().values().any(|stage| match stage {
        ExecutionStage::UnResolved(stage) => stage.stage_attempt_num > 0,
        ExecutionStage::Resolved(stage) => stage.stage_attempt_num > 0,
        ExecutionStage::Running(stage) => stage.stage_attempt_num > 0,
        ExecutionStage::Successful(stage) => stage.stage_attempt_num > 0,
        ExecutionStage::Failed(stage) => stage.stage_attempt_num > 0,
    })
}

#[async_trait]
impl JobState for OnceEach {
    async fn save_job(&self, job_id: &JobId, graph: &ExecutionGraphBox) -> Result<()> {
        let is_done = matches!(graph.status().status, Some(Status::Successful(_)));
        if !is_done || !began_again(graph) {
            return self.0.save_job(job_id, graph).await;
        }
        let mut failed = graph.cloned();
        failed.fail_job(LOST.to_owned());
        self.0.save_job(job_id, &failed).await
    }

    fn accept_job(&self, job_id: &JobId, job_name: &str, queued_at: u64) -> Result<()> {
        self.0.accept_job(job_id, job_name, queued_at)
    }

    fn pending_job_number(&self) -> usize {
        self.0.pending_job_number()
    }

    async fn submit_job(
        &self,
        job_id: JobId,
        graph: &ExecutionGraphBox,
        subscriber: Option<JobStatusSubscriber>,
    ) -> Result<()> {
        self.0.submit_job(job_id, graph, subscriber).await
    }

    async fn get_jobs(&self) -> Result<HashSet<JobId>> {
        self.0.get_jobs().await
    }

    async fn get_all_jobs(&self) -> Result<HashSet<JobId>> {
        self.0.get_all_jobs().await
    }

    async fn get_job_status(&self, job_id: &JobId) -> Result<Option<JobStatus>> {
        self.0.get_job_status(job_id).await
    }

    async fn get_execution_graph(&self, job_id: &JobId) -> Result<Option<ExecutionGraphBox>> {
        self.0.get_execution_graph(job_id).await
    }

    async fn fail_unscheduled_job(&self, job_id: &JobId, reason: String) -> Result<()> {
        self.0.fail_unscheduled_job(job_id, reason).await
    }

    async fn remove_job(&self, job_id: &JobId) -> Result<()> {
        self.0.remove_job(job_id).await
    }

    async fn try_acquire_job(&self, job_id: &JobId) -> Result<Option<ExecutionGraphBox>> {
        self.0.try_acquire_job(job_id).await
    }

    async fn job_state_events(&self) -> Result<JobStateEventStream> {
        self.0.job_state_events().await
    }

    async fn create_or_update_session(
        &self,
        session_id: &str,
        config: &SessionConfig,
    ) -> Result<Arc<SessionContext>> {
        self.0.create_or_update_session(session_id, config).await
    }

    async fn remove_session(&self, session_id: &str) -> Result<()> {
        self.0.remove_session(session_id).await
    }

    fn produce_config(&self) -> SessionConfig {
        self.0.produce_config()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ballista_core::extension::SessionConfigExt as _;
    use ballista_core::serde::protobuf::SuccessfulJob;
    use ballista_core::utils::{default_config_producer, default_session_builder};
    use ballista_scheduler::cluster::BallistaCluster;
    use ballista_scheduler::planner::DefaultDistributedPlanner;
    use ballista_scheduler::state::execution_graph::StaticExecutionGraph;
    use datafusion::arrow::datatypes::{DataType, Field, Schema};
    use datafusion::physical_expr::expressions::col;
    use datafusion::physical_plan::Partitioning;
    use datafusion::physical_plan::empty::EmptyExec;
    use datafusion::physical_plan::repartition::RepartitionExec;

    /// A question with two stages, of which the first is being worked on.
    fn question(job: &JobId) -> ExecutionGraphBox {
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, false)]));
        let by = Partitioning::Hash(vec![col("a", &schema).unwrap()], 2);
        let plan = RepartitionExec::try_new(Arc::new(EmptyExec::new(schema)), by).unwrap();
        let (config, mut planner) =
            (Arc::new(SessionConfig::new_with_ballista()), DefaultDistributedPlanner::new());
        let plan = Arc::new(plan);
        let graph = StaticExecutionGraph::new("", job, "", "", plan, 0, config, &mut planner, None).unwrap();
        let mut graph: ExecutionGraphBox = Box::new(graph);
        graph.revive();
        graph
    }

    /// What is told of a question whose work was all done.
    fn told(graph: &mut ExecutionGraphBox, job: &JobId) -> Option<Status> {
        let memory = BallistaCluster::new_memory(
            "",
            Arc::new(default_session_builder),
            Arc::new(default_config_producer),
        );
        let jobs = OnceEach(memory.job_state());
        let done = Status::Successful(SuccessfulJob::default());
        graph.update_status(JobStatus { status: Some(done), ..graph.status().clone() });
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let status = runtime.block_on(async {
            jobs.accept_job(job, "", 0)?;
            jobs.submit_job(job.clone(), graph, None).await?;
            jobs.save_job(job, graph).await?;
            jobs.get_job_status(job).await
        });
        status.unwrap().and_then(|status| status.status)
    }

    #[test]
    fn what_was_begun_twice_has_no_answer() {
        let job = JobId::from("job".to_owned());
        let mut once = question(&job);
        assert!(matches!(told(&mut once, &job), Some(Status::Successful(_))));
        let mut again = question(&job);
        let begun = again.running_stages();
        assert_eq!(begun.len(), 1);
        for stage in begun {
            again.rollback_running_stage(stage, HashSet::new()).unwrap();
        }
        let Some(Status::Failed(failed)) = told(&mut again, &job) else { panic!("an answer") };
        assert!(was_lost(&failed.error), "{}", failed.error);
        assert!(!was_lost("the disk is full"));
    }
}
