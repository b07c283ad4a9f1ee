//! Questions in SQL and their answers.

#[cfg(feature = "cluster")]
use crate::cluster::Cluster;
use crate::error::{Error, Result};
use crate::folder::Folder;
use crate::kept::Kept;
use crate::provider::RecordedTable;
use crate::reading::Reading;
use crate::source::{NoRecordings, Opener, Sources};
use crate::store::{Fetcher, Sorted, Stores, sorted};
use crate::{describe, functions, lookups, order, views};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result as Planned;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::{DataFrame, SQLOptions, SessionConfig, SessionContext};
use datafusion::sql::parser::{DFParser, Statement};
use futures::StreamExt as _;
use readperf_tables::Table;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
#[cfg(feature = "cluster")]
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Runtime;

/// Part of the limit of memory that queries may take; the rest is for what cannot be counted.
const COUNTED: f64 = 0.9;

/// Stack of each thread: reading nested names recurses, as do nested expressions.
const STACK_BYTES: usize = 16 << 20;

/// How questions are answered.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Bytes that sorting, grouping and joining may take before they go to disk.
    pub memory: Option<usize>,
    /// The folder that they go to, and recordings that are fetched; nothing is that of the system.
    pub spill: Option<PathBuf>,
    /// How many threads work; nothing is one a processor.
    pub threads: Option<usize>,
    /// The scheduler of the cluster that is asked, as `df://HOST:PORT`; nothing is this process.
    #[cfg(feature = "cluster")]
    pub cluster: Option<String>,
}

/// The recordings of the query that is planned.
#[derive(Debug)]
pub(crate) struct Asking(pub(crate) Arc<Reading>);

/// What answers questions about some recordings and exported folders.
pub struct Engine {
    runtime: Runtime,
    context: SessionContext,
    pub(crate) sources: Arc<Sources>,
    opener: Arc<dyn Opener>,
    fetcher: Arc<Fetcher>,
    kept: Arc<Kept>,
    /// How long those recordings are together that lie in object stores, bytes.
    fetched_bytes: u64,
    /// Where the recordings of folders are, by their ids in hex.
    exported: Arc<BTreeMap<String, PathBuf>>,
    #[cfg(feature = "cluster")]
    cluster: Option<Cluster>,
    /// Whether the cluster was asked for rows of recordings or folders.
    #[cfg(feature = "cluster")]
    has_asked: AtomicBool,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("sources", &self.sources).finish_non_exhaustive()
    }
}

impl Engine {
    /// Makes the tables, views and functions known. No recording is opened before a query names a table.
    pub fn new(sources: Sources, opener: Arc<dyn Opener>, options: &EngineOptions) -> Result<Engine> {
        let mut threads = tokio::runtime::Builder::new_multi_thread();
        threads.thread_stack_size(STACK_BYTES);
        if let Some(count) = options.threads {
            threads.worker_threads(count.max(1));
        }
        let runtime = threads.enable_all().build();
        let runtime =
            runtime.map_err(|error| Error::said(format!("the system gives no threads: {error}")))?;
        let stores = Arc::new(Stores::default());
        let context = context(options, Arc::clone(&stores))?;
        #[cfg(feature = "cluster")]
        let cluster = options.cluster.as_deref().map(Cluster::at).transpose()?;
        #[cfg(feature = "cluster")]
        let sources = if cluster.is_some() { sources.absolute()? } else { sources };
        let found = runtime.block_on(sorted(&sources.addresses, &stores)).map_err(Error::from)?;
        let Sorted { recordings, folders, bytes: fetched_bytes } = found;
        let sources = Arc::new(sources.with(recordings, folders));
        let folders = sources.folders.iter().map(|path| runtime.block_on(Folder::open(path, &stores)));
        let folders = folders.collect::<Planned<Arc<[_]>>>()?;
        // Where the system has its temporary files.
        let folder = options.spill.clone().unwrap_or_else(std::env::temp_dir);
        let exported = Arc::new(exported(&folders)?);
        for table in Table::ALL {
            let provider = RecordedTable::new(*table, Arc::clone(&sources), Arc::clone(&folders))?;
            context.register_table(table.name(), Arc::new(provider))?;
        }
        functions::register(&context);
        lookups::register(&context);
        runtime.block_on(views::register(&context))?;
        Ok(Engine {
            runtime,
            context,
            sources,
            opener,
            fetcher: Arc::new(Fetcher::new(stores, folder)),
            kept: Arc::default(),
            fetched_bytes,
            exported,
            #[cfg(feature = "cluster")]
            cluster,
            #[cfg(feature = "cluster")]
            has_asked: AtomicBool::new(false),
        })
    }

    /// The same for exported folders alone.
    ///
    /// # Errors
    /// As of [`Engine::new`]; a place that is no folder of tables.
    pub fn of_folders(sources: Sources, options: &EngineOptions) -> Result<Engine> {
        let engine = Engine::new(sources, Arc::new(NoRecordings), options)?;
        match engine.sources.recordings.first() {
            None => Ok(engine),
            Some(other) => Err(Error::said(format!(
                "{}: no tables are here (export --format parquet makes them)",
                other.display()
            ))),
        }
    }

    /// The statements of a text.
    pub fn statements(&self, text: &str) -> Result<Vec<Question>> {
        let statements = DFParser::parse_sql(text).map_err(|error| self.error(error, text))?;
        Ok(statements.into_iter().map(|statement| Question { statement, text: text.to_owned() }).collect())
    }

    /// Asks.
    pub fn ask(&self, question: Question) -> Result<Answer<'_>> {
        let Question { statement, text } = question;
        self.runtime
            .block_on(self.answer(statement))
            .map_err(|error| error.within(&text, &self.table_names()))
    }

    async fn answer(&self, statement: Statement) -> Result<Answer<'_>> {
        if let Some(rows) = describe::answer(&self.context, &statement).await? {
            return Ok(Answer {
                runtime: &self.runtime,
                schema: rows.schema(),
                rest: Rest::Known(Some(rows)),
            });
        }
        let context = self.for_one_query();
        let plan = context.state().statement_to_plan(statement).await?;
        SQLOptions::new().with_allow_dml(false).verify_plan(&plan)?;
        if let LogicalPlan::Ddl(change) = &plan {
            allow(change)?;
        }
        if matches!(plan, LogicalPlan::Ddl(_) | LogicalPlan::Statement(_)) {
            // Views and settings are for the queries that follow.
            let done = self.context.execute_logical_plan(plan).await?;
            return self.run(done).await;
        }
        let plan = lookups::resolved(&context, plan).await?;
        if order::is_as_recorded(&plan)? {
            context.state_ref().write().config_mut().options_mut().execution.target_partitions = 1;
            return self.run(DataFrame::new(context.state(), plan)).await;
        }
        self.run(DataFrame::new(context.state(), order::settled(plan)?)).await
    }

    /// The rows of a query that is asked from here, in any order: sorting them is work that nobody asked for.
    pub(crate) fn in_any_order(&self, query: &str) -> Result<Answer<'_>> {
        let answer = async {
            let context = self.for_one_query();
            let plan = context.state().create_logical_plan(query).await?;
            SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).verify_plan(&plan)?;
            let plan = lookups::resolved(&context, plan).await?;
            self.run(DataFrame::new(context.state(), plan)).await
        };
        self.runtime.block_on(answer).map_err(|error| error.within(query, &self.table_names()))
    }

    /// Whether a query can be asked; if not, what is wrong with it.
    pub(crate) fn plans(&self, query: &str) -> Result<()> {
        let planned = self.runtime.block_on(self.for_one_query().state().create_logical_plan(query));
        planned.map(drop).map_err(|error| self.error(error, query))
    }

    async fn run(&self, query: DataFrame) -> Result<Answer<'_>> {
        let (state, plan) = query.into_parts();
        let plan = state.create_physical_plan(&plan).await?;
        #[cfg(feature = "cluster")]
        if let Some(cluster) = &self.cluster
            && Cluster::is_for(&plan)?
        {
            self.has_asked.store(true, Ordering::Relaxed);
            let stream = cluster.run(plan, &state).await?;
            return Ok(Answer { runtime: &self.runtime, schema: stream.schema(), rest: Rest::Made(stream) });
        }
        let stream = execute_stream(plan, state.task_ctx())?;
        Ok(Answer { runtime: &self.runtime, schema: stream.schema(), rest: Rest::Made(stream) })
    }

    #[cfg(feature = "cluster")]
    pub(crate) fn has_asked_cluster(&self) -> bool {
        self.has_asked.load(Ordering::Relaxed)
    }

    /// The tables as a query sees them: with recordings that it opens for itself, as far as they are not kept.
    fn for_one_query(&self) -> SessionContext {
        let lengths = self.sources.recordings.iter().filter_map(|path| Some(path.metadata().ok()?.len()));
        let bytes = lengths.sum::<u64>().saturating_add(self.fetched_bytes);
        let (opener, fetcher) = (Arc::clone(&self.opener), Arc::clone(&self.fetcher));
        let (kept, exported) = (Arc::clone(&self.kept), Arc::clone(&self.exported));
        let reading = Arc::new(Reading::new(opener, fetcher, kept, bytes, exported));
        let state = self.context.state();
        let config = state.config().clone().with_extension(Arc::new(Asking(reading)));
        // The catalog is that of all queries.
        let config = config.with_create_default_catalog_and_schema(false);
        SessionContext::new_with_state(
            SessionStateBuilder::new_from_existing(state).with_config(config).build(),
        )
    }

    /// The names of all tables and views, sorted.
    pub fn table_names(&self) -> Vec<String> {
        describe::names(&self.context)
    }

    /// The names of the columns of a table or view.
    pub fn column_names(&self, table: &str) -> Vec<String> {
        let provider = self.runtime.block_on(self.context.table_provider(table.to_owned()));
        let schema = provider.map(|provider| provider.schema());
        schema.iter().flat_map(|schema| schema.fields()).map(|field| field.name().clone()).collect()
    }

    /// The names of all functions.
    pub fn function_names(&self) -> Vec<String> {
        let state = self.context.state();
        let names = state.scalar_functions().keys().chain(state.aggregate_functions().keys());
        names.chain(state.window_functions().keys()).cloned().collect()
    }

    fn error(&self, error: datafusion::error::DataFusionError, text: &str) -> Error {
        Error::from(error).within(text, &self.table_names())
    }
}

/// Views and tables of the user's own can come and go; those of recordings stay.
fn allow(change: &DdlStatement) -> Result<()> {
    let name = match change {
        DdlStatement::CreateView(view) => &view.name,
        DdlStatement::CreateMemoryTable(table) => &table.name,
        DdlStatement::CreateExternalTable(table) => &table.name,
        DdlStatement::DropView(view) => &view.name,
        DdlStatement::DropTable(table) => &table.name,
        _ => return Err(Error::said(format!("{} is not supported here", change.name()))),
    };
    if describe::is_ours(name.table()) {
        return Err(Error::said(format!(
            "`{}` is what recordings are asked by, and stays as it is",
            name.table()
        )));
    }
    Ok(())
}

/// The recordings of folders. One that is in two of them would count twice.
fn exported(folders: &[Folder]) -> Result<BTreeMap<String, PathBuf>> {
    let mut known = BTreeMap::new();
    for folder in folders {
        for id in &folder.recordings {
            if let Some(other) = known.insert(id.clone(), folder.path.clone()) {
                let (path, other) = (folder.path.display(), other.display());
                return Err(Error::said(format!("{path}: the same recording as in {other} ({id})")));
            }
        }
    }
    Ok(known)
}

/// The session in which all queries run.
fn context(options: &EngineOptions, stores: Arc<Stores>) -> Planned<SessionContext> {
    let mut config = SessionConfig::new().with_information_schema(true);
    if let Some(threads) = options.threads {
        config = config.with_target_partitions(threads.max(1));
    }
    #[cfg(feature = "cluster")]
    if options.cluster.is_some() {
        config = Cluster::settings(config);
    }
    let settings = config.options_mut();
    settings.sql_parser.collect_spans = true;
    settings.execution.parquet.pushdown_filters = true;
    // Files of folders are taken in the order of their names.
    settings.optimizer.enable_round_robin_repartition = false;
    let mut runtime = RuntimeEnvBuilder::new().with_object_store_registry(stores);
    if let Some(memory) = options.memory {
        runtime = runtime.with_memory_limit(memory, COUNTED);
    }
    if let Some(folder) = &options.spill {
        runtime = runtime.with_temp_file_path(folder);
    }
    let context = SessionContext::new_with_config_rt(config, runtime.build_arc()?);
    #[cfg(feature = "cluster")]
    if options.cluster.is_some() {
        return Ok(SessionContext::new_with_state(Cluster::session(context.state())));
    }
    Ok(context)
}

/// A statement, with the text it stands in.
#[derive(Clone, Debug)]
pub struct Question {
    statement: Statement,
    text: String,
}

enum Rest {
    Made(SendableRecordBatchStream),
    Known(Option<RecordBatch>),
}

/// The rows of an answer, as they are made.
pub struct Answer<'e> {
    runtime: &'e Runtime,
    schema: SchemaRef,
    rest: Rest,
}

impl std::fmt::Debug for Answer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Answer<'_> {
    /// Its columns; none if there is nothing to show.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

impl Iterator for Answer<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.rest {
            Rest::Made(stream) => Some(self.runtime.block_on(stream.next())?.map_err(Error::from)),
            Rest::Known(rows) => rows.take().map(Ok),
        }
    }
}
