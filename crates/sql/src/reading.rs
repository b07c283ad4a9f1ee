//! The recordings of one query. Each is read once, and of it is made what all scans of the query together ask for.

use crate::kept::{Kept, State};
use crate::source::{BoxError, Opener, Place, shown};
use crate::store::{Address, Fetched, Fetcher};
use datafusion::error::{DataFusionError, Result};
use readperf_profile::SampleFilter;
use readperf_tables::{Id, Table, Tables, Wanted};
use std::collections::{BTreeMap, HashMap};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Most bytes of recordings that are kept open between scans, and between queries. Of more, every scan reads its own.
const MOST_KEPT: u64 = 1 << 30;

/// A recording that is being opened, or has been.
type Opened = Arc<OnceLock<std::result::Result<Arc<Tables>, Arc<BoxError>>>>;

/// What the scans of a query ask for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    /// The columns of each scan, by their numbers.
    pub(crate) scans: Vec<(Table, Vec<usize>)>,
    /// Which samples: nothing before the first scan.
    pub(crate) samples: Option<SampleFilter>,
}

impl Asked {
    fn wanted(&self) -> Wanted {
        self.scans
            .iter()
            .fold(Wanted::nothing(), |wanted, (table, columns)| wanted.and(*table, Some(columns)))
    }
}

/// The recordings of one query.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Tells queries apart, also those of different processes.
    #[cfg(feature = "cluster")]
    query: u64,
    opener: Arc<dyn Opener>,
    asked: Mutex<Asked>,
    opened: Mutex<HashMap<PathBuf, Opened>>,
    fetched: Fetched,
    kept: Arc<Kept>,
    /// Where recordings that were opened lie, by their ids.
    known: Mutex<HashMap<Id, PathBuf>>,
    exported: Arc<BTreeMap<String, PathBuf>>,
    /// Whether recordings stay open between scans.
    is_kept: bool,
}

impl Reading {
    /// Nothing is opened yet. `kept` has what queries before have read; `bytes` is how long all recordings are together; `exported` says which
    /// are in folders, by their ids in hex.
    pub(crate) fn new(
        opener: Arc<dyn Opener>,
        fetcher: Arc<Fetcher>,
        kept: Arc<Kept>,
        bytes: u64,
        exported: Arc<BTreeMap<String, PathBuf>>,
    ) -> Reading {
        let is_kept = bytes <= MOST_KEPT;
        Reading {
            #[cfg(feature = "cluster")]
            query: std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0),
            opener,
            asked: Mutex::default(),
            opened: Mutex::default(),
            kept,
            known: Mutex::default(),
            exported,
            // What stays open is fetched once anyway.
            fetched: Fetched::new(fetcher, !is_kept),
            is_kept,
        }
    }

    /// The recordings of a query that another process planned, which knows what all its scans take.
    #[cfg(feature = "cluster")]
    pub(crate) fn planned(
        opener: Arc<dyn Opener>,
        fetcher: Arc<Fetcher>,
        query: u64,
        asked: Asked,
        is_kept: bool,
    ) -> Reading {
        let fetched = Fetched::new(Arc::clone(&fetcher), !is_kept);
        let asked = Mutex::new(asked);
        Reading {
            query,
            asked,
            fetched,
            is_kept,
            ..Reading::new(opener, fetcher, Arc::default(), 0, Arc::default())
        }
    }

    /// Whether recordings stay open between scans.
    #[cfg(feature = "cluster")]
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// The number of the query.
    #[cfg(feature = "cluster")]
    pub(crate) fn query(&self) -> u64 {
        self.query
    }

    /// What the scans that have been planned ask for.
    #[cfg(feature = "cluster")]
    pub(crate) fn asked(&self) -> Asked {
        lock(&self.asked).clone()
    }

    /// Says what a scan will take. All scans are planned before the first one runs.
    pub(crate) fn ask(&self, table: Table, columns: &[usize], samples: &SampleFilter) {
        let mut asked = lock(&self.asked);
        asked.scans.push((table, columns.to_vec()));
        // Samples are left out only if every scan can do without them.
        match &mut asked.samples {
            None => asked.samples = Some(samples.clone()),
            Some(others) if others != samples => *others = SampleFilter::default(),
            Some(_) => (),
        }
    }

    /// The tables of a recording, in which at least these columns are. Blocks while it is read.
    pub(crate) fn tables(&self, path: &Path, table: Table, columns: &[usize]) -> Result<Arc<Tables>> {
        let samples = lock(&self.asked).samples.clone().unwrap_or_default();
        if !self.is_kept {
            let wanted = Wanted::nothing().and(table, Some(columns));
            return self.open(path, wanted, samples).map_err(|error| failed(path, &error));
        }
        let opened = Arc::clone(lock(&self.opened).entry(path.to_owned()).or_default());
        let tables = opened.get_or_init(|| {
            let wanted = lock(&self.asked).wanted();
            self.open(path, wanted, samples).map_err(Arc::new)
        });
        tables.clone().map_err(|error| failed(path, &error))
    }

    /// Opens a recording. The same one under two names would count twice.
    fn open(
        &self,
        path: &Path,
        wanted: Wanted,
        samples: SampleFilter,
    ) -> std::result::Result<Arc<Tables>, BoxError> {
        // It has no name, so its path is that of the descriptor, which stays open until it is read.
        let fetched = self.fetched.at(path)?;
        let there = fetched.as_ref().map(|file| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())));
        let recording = Place { name: path, path: there.as_deref().unwrap_or(path) };
        let read = |wanted| self.opener.open(recording, wanted, samples.clone());
        // What object stores have is fetched for each query, so it would never be found again.
        let is_kept = self.is_kept && !Address::is(path);
        let state = recording.path.metadata().ok().as_ref().and_then(State::of).filter(|_| is_kept);
        let tables = match state {
            Some(state) => self.kept.tables(path, state, wanted, &samples, read)?,
            None => Arc::new(read(wanted)?),
        };
        if let Some(folder) = self.exported.get(&tables.profile_id().hex()) {
            return Err(format!("the same recording is in {}", folder.display()).into());
        }
        let mut known = lock(&self.known);
        let first = known.entry(tables.profile_id()).or_insert_with(|| path.to_owned());
        if first != path {
            return Err(format!("the same recording as {}", shown(first)).into());
        }
        Ok(tables)
    }
}

/// What is wrong with a recording, which mostly names it.
fn failed(path: &Path, error: &BoxError) -> DataFusionError {
    let (said, named) = (error.to_string(), format!("{}: ", shown(path)));
    DataFusionError::Execution(if said.starts_with(&named) { said } else { named + &said })
}

/// What a thread that panicked left behind is whole: nothing is changed in more than one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
