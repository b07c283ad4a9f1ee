//! The processes of a cluster: a scheduler, and executors that ask it for work.

use super::MESSAGE_BYTES;
use super::codec::Codec;
use super::jobs::{OnceEach, end_lost};
use crate::error::{Error, Result};
use crate::source::Opener;
use crate::store::{Fetcher, Stores};
use crate::{functions, lookups};
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt as _;
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// After so many seconds without a word from an executor its work is given to others.
const EXECUTOR_SILENT_S: u64 = 15;

/// How often is looked for silent executors, in seconds.
const LOOK_S: u64 = 3;

/// So many seconds an executor waits for a scheduler that is just being started.
const CONNECT_S: u16 = 20;

/// A scheduler.
#[derive(Clone, Debug)]
pub struct SchedulerOptions {
    /// Where it listens.
    pub listen: SocketAddr,
}

/// An executor.
#[derive(Clone, Debug)]
pub struct ExecutorOptions {
    /// Host and port of the scheduler.
    pub scheduler: (String, u16),
    /// Where others fetch from it what it worked out.
    pub listen: SocketAddr,
    /// The name that others reach it by; nothing is its address.
    pub host: Option<String>,
    /// How many tasks it does at once.
    pub threads: usize,
    /// Bytes that all of them together may take for sorting and grouping before they go to disk; nothing is 70 % of the memory.
    pub memory: Option<usize>,
    /// The folder for what is handed on and what is too large.
    pub work: PathBuf,
}

/// Schedules, until the process ends.
pub fn schedule(options: &SchedulerOptions) -> Result<()> {
    let SchedulerOptions { listen } = *options;
    is_free(listen)?;
    let config = SchedulerConfig {
        external_host: listen.ip().to_string(),
        bind_host: listen.ip().to_string(),
        bind_port: listen.port(),
        scheduling_policy: TaskSchedulingPolicy::PullStaged,
        executor_timeout_seconds: EXECUTOR_SILENT_S,
        expire_dead_executor_interval_seconds: LOOK_S,
        no_executors_grace_period_seconds: EXECUTOR_SILENT_S,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES,
        grpc_client_max_message_size: MESSAGE_BYTES,
        override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
        override_session_builder: Some(Arc::new(session)),
        override_physical_codec: Some(Arc::new(Codec::of_plans())),
        ..SchedulerConfig::default()
    };
    let done: std::result::Result<(), BallistaError> = runtime()?.block_on(async {
        let cluster = BallistaCluster::new_from_config(&config).await?;
        let cluster = BallistaCluster::new(cluster.cluster_state(), Arc::new(OnceEach(cluster.job_state())));
        config.validate()?;
        let scheduler = create_scheduler(cluster, Arc::new(config)).await?;
        tokio::spawn(end_lost(scheduler.clone()));
        start_grpc_service(listen, scheduler).await
    });
    done.map_err(|error| Error::said(format!("the scheduler at {listen}: {error}")))
}

/// Does the work of a scheduler, until the process ends.
pub fn execute(options: &ExecutorOptions, opener: Arc<dyn Opener>) -> Result<()> {
    let ExecutorOptions { scheduler, listen, host, threads, memory, work } = options.clone();
    is_free(listen)?;
    let state = session(SessionConfig::new_with_ballista())?;
    let (stores, folder) = (Arc::new(Stores::default()), work.clone());
    let fetcher = Arc::new(Fetcher::new(Arc::clone(&stores), work.clone()));
    let config = ExecutorProcessConfig {
        bind_host: listen.ip().to_string(),
        external_host: Some(host.unwrap_or_else(|| listen.ip().to_string())),
        port: listen.port(),
        scheduler_host: scheduler.0.clone(),
        scheduler_port: scheduler.1,
        scheduler_connect_timeout_seconds: CONNECT_S,
        vcores: threads.max(1),
        task_scheduling_policy: TaskSchedulingPolicy::PullStaged,
        work_dir: work.to_str().map(str::to_owned),
        grpc_max_decoding_message_size: MESSAGE_BYTES,
        grpc_max_encoding_message_size: MESSAGE_BYTES,
        memory_pool_size: memory.and_then(|memory| u64::try_from(memory).ok()),
        override_function_registry: Some(Arc::new(BallistaFunctionRegistry::from(&state))),
        override_config_producer: Some(Arc::new(SessionConfig::new_with_ballista)),
        override_runtime_producer: Some(Arc::new(move |_| {
            let runtime = RuntimeEnvBuilder::new().with_temp_file_path(folder.clone());
            runtime.with_object_store_registry(Arc::clone(&stores) as _).build_arc()
        })),
        override_physical_codec: Some(Arc::new(Codec::new(opener, fetcher))),
        ..ExecutorProcessConfig::default()
    };
    let done = runtime()?.block_on(start_executor_process(Arc::new(config)));
    done.map_err(|error| {
        Error::said(format!("an executor for the scheduler at {}:{}: {error}", scheduler.0, scheduler.1))
    })
}

/// A session with the functions of this program. Plans name object stores, also where nobody asks them.
fn session(config: SessionConfig) -> datafusion::error::Result<SessionState> {
    let runtime = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
    let state = SessionStateBuilder::new_from_existing(default_session_builder(config)?)
        .with_runtime_env(runtime.build_arc()?)
        .build();
    let context = SessionContext::new_with_state(state);
    functions::register(&context);
    lookups::register(&context);
    Ok(context.state())
}

fn runtime() -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| Error::said(format!("the system gives no threads: {error}")))
}

/// Whether an address can be listened at: said before anything is started.
fn is_free(listen: SocketAddr) -> Result<()> {
    let listened = TcpListener::bind(listen);
    listened.map(drop).map_err(|error| Error::said(format!("{listen} cannot be listened at: {error}")))
}
