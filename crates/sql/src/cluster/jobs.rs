//! The questions that a scheduler works on, and how they end.
//!
//! When an executor ends, the scheduler has others do again what it did. A stage that was begun may then be begun anew, while the stage
//! behind it keeps what the first attempt had handed on: rows would be there twice, or not at all, without an error. So an answer is
//! given only if every stage was begun once. Otherwise the question fails, with a text by which [`was_lost`] knows it, and who asked asks
//! again: as soon as that is seen ([`end_lost`]), or when its work is done, if it was not seen before.

use async_trait::async_trait;
use ballista_core::error::Result;
use ballista_core::serde::protobuf::JobStatus;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::{JobId, JobStatusSubscriber};
use ballista_scheduler::cluster::{JobState, JobStateEventStream};
use ballista_scheduler::scheduler_server::SchedulerServer;
use ballista_scheduler::state::execution_graph::ExecutionGraphBox;
use ballista_scheduler::state::execution_stage::ExecutionStage;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

/// Why a question has no answer although nothing of its work failed.
const LOST: &str = "an executor ended in the middle, and what it had worked out was needed again";

/// What a scheduler says of a question that was ended before its work was done.
const CANCELLED: &str = "Cancelled";

/// How often is looked for questions that will have no answer.
const LOOK: Duration = Duration::from_secs(1);

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

/// Ends questions that will have no answer: else executors would go on with their work, while those who asked wait to ask again.
pub(super) async fn end_lost(scheduler: SchedulerServer<LogicalPlanNode, PhysicalPlanNode>) {
    loop {
        tokio::time::sleep(LOOK).await;
        for (job_id, job) in scheduler.state.task_manager.get_running_job_cache().iter() {
            if began_again(&*job.execution_graph.read().await) {
                // If it cannot be ended, it is failed when its work is done.
                let _ = scheduler.cancel_job(job_id.clone()).await;
            }
        }
    }
}

#[async_trait]
impl JobState for OnceEach {
    async fn save_job(&self, job_id: &JobId, graph: &ExecutionGraphBox) -> Result<()> {
        let is_lost = match &graph.status().status {
            Some(Status::Successful(_)) => true,
            // By `end_lost`: nobody else cancels. What failed by itself keeps its error, and is not asked again.
            Some(Status::Failed(failed)) => failed.error == CANCELLED,
            _ => false,
        };
        if !is_lost || !began_again(graph) {
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

    /// A question whose first stage was begun twice.
    fn question_begun_twice(job: &JobId) -> ExecutionGraphBox {
        let mut graph = question(job);
        let begun = graph.running_stages();
        assert_eq!(begun.len(), 1);
        for stage in begun {
            graph.rollback_running_stage(stage, HashSet::new()).unwrap();
        }
        graph
    }

    /// The error that is told of a question; nothing if it has an answer.
    fn told(graph: &ExecutionGraphBox, job: &JobId) -> Option<String> {
        let memory = BallistaCluster::new_memory(
            "",
            Arc::new(default_session_builder),
            Arc::new(default_config_producer),
        );
        let jobs = OnceEach(memory.job_state());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let status = runtime.block_on(async {
            jobs.accept_job(job, "", 0)?;
            jobs.submit_job(job.clone(), graph, None).await?;
            jobs.save_job(job, graph).await?;
            jobs.get_job_status(job).await
        });
        match status.unwrap().unwrap().status.unwrap() {
            Status::Successful(_) => None,
            Status::Failed(failed) => Some(failed.error),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_was_begun_twice_has_no_answer() {
        let job = JobId::from("job".to_owned());
        let [once, twice] = [question(&job), question_begun_twice(&job)].map(|mut graph| {
            let done = Status::Successful(SuccessfulJob::default());
            graph.update_status(JobStatus { status: Some(done), ..graph.status().clone() });
            told(&graph, &job)
        });
        assert_eq!(once, None);
        assert!(was_lost(&twice.unwrap()));
    }

    #[test]
    fn what_is_ended_is_asked_again_only_if_it_was_begun_twice() {
        let job = JobId::from("job".to_owned());
        let failed = |mut graph: ExecutionGraphBox, error: &str| {
            graph.abort_running(error.to_owned());
            told(&graph, &job).unwrap()
        };
        assert_eq!(failed(question(&job), CANCELLED), CANCELLED);
        assert!(was_lost(&failed(question_begun_twice(&job), CANCELLED)));
        assert_eq!(failed(question_begun_twice(&job), "the disk is full"), "the disk is full");
    }
}
