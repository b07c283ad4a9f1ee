//! What an executor keeps of recordings. Tasks of one query come one after the other, each with its own copy of the plan: those of
//! one process share what was read.

use crate::reading::{Asked, Reading};
use crate::source::{BoxError, Opener, Place};
use crate::store::Fetcher;
use readperf_profile::SampleFilter;
use readperf_tables::{Tables, Wanted};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// Stack of the thread that reads a recording: reading nested names recurses.
const STACK_BYTES: usize = 16 << 20;

/// The recordings of the query that was asked last. Those of the one before go when its last task is done.
#[derive(Debug)]
pub(super) struct Readings {
    opener: Arc<dyn Opener>,
    fetcher: Arc<Fetcher>,
    last: Mutex<Option<Arc<Reading>>>,
}

impl Readings {
    pub(super) fn new(opener: Arc<dyn Opener>, fetcher: Arc<Fetcher>) -> Readings {
        Readings { opener: Arc::new(Deep(opener)), fetcher, last: Mutex::default() }
    }

    /// The recordings of a query, by its number.
    pub(super) fn of(&self, query: u64, asked: Asked, is_kept: bool) -> Arc<Reading> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some(reading) if reading.query() == query => Arc::clone(reading),
            _ => {
                let (opener, fetcher) = (Arc::clone(&self.opener), Arc::clone(&self.fetcher));
                let reading = Arc::new(Reading::planned(opener, fetcher, query, asked, is_kept));
                *last = Some(Arc::clone(&reading));
                reading
            }
        }
    }
}

/// Opens recordings in threads with a large stack: those of Ballista have a small one.
#[derive(Debug)]
struct Deep(Arc<dyn Opener>);

impl Opener for Deep {
    fn open(&self, recording: Place<'_>, wanted: Wanted, samples: SampleFilter) -> Result<Tables, BoxError> {
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            let opened = thread.spawn_scoped(scope, || self.0.open(recording, wanted, samples))?;
            opened.join().map_err(|_| io::Error::other("reading it failed for a reason that is not known"))?
        })
    }
}
