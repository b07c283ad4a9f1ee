//! Recordings that stay read between queries, so that whoever asks a second question does not wait for a second reading.

use crate::source::BoxError;
use readperf_profile::SampleFilter;
use readperf_tables::{Tables, Wanted};
use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Recordings that have been read, by what users call them.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<HashMap<PathBuf, Entry>>);

/// A recording with all of its samples.
#[derive(Debug)]
struct Entry {
    state: State,
    wanted: Wanted,
    tables: Arc<Tables>,
}

/// What tells that a file has not been written anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    bytes: u64,
    modified: SystemTime,
}

impl State {
    /// Nothing of a directory, which stays as it is when a file in it changes.
    pub(crate) fn of(metadata: &Metadata) -> Option<State> {
        let modified = metadata.modified().ok().filter(|_| metadata.is_file())?;
        Some(State { bytes: metadata.len(), modified })
    }
}

impl Kept {
    /// The tables of a recording in this state, in which all that is wanted is: those that are kept, or what `read` makes. Of all samples it is
    /// kept, and `read` is told what was wanted before, too, so that questions in turn do not read in turn.
    pub(crate) fn tables(
        &self,
        recording: &Path,
        state: State,
        wanted: Wanted,
        samples: &SampleFilter,
        read: impl FnOnce(Wanted) -> Result<Tables, BoxError>,
    ) -> Result<Arc<Tables>, BoxError> {
        if let Some(entry) = self.entries().get(recording)
            && entry.state == state
            && entry.wanted.has(&wanted)
        {
            return Ok(Arc::clone(&entry.tables));
        }
        if !samples.is_open() {
            return read(wanted).map(Arc::new);
        }
        // What is of no use any more goes before there is more.
        let before = self.entries().remove(recording).filter(|entry| entry.state == state);
        let wanted = match before {
            Some(Entry { wanted: before, .. }) => before.with(&wanted),
            None => wanted,
        };
        let tables = Arc::new(read(wanted.clone())?);
        let entry = Entry { state, wanted, tables: Arc::clone(&tables) };
        self.entries().insert(recording.to_owned(), entry);
        Ok(tables)
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<PathBuf, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_tables::{Options, Table};
    use std::cell::Cell;

    const RECORDING: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");

    #[test]
    fn a_recording_is_read_again_only_for_more_or_when_it_has_changed() -> Result<(), BoxError> {
        let path = Path::new(RECORDING);
        let now = State::of(&path.metadata()?).ok_or("a directory")?;
        let (kept, times) = (Kept::default(), Cell::new(0));
        let ask = |state, wanted: &Wanted, samples: &SampleFilter| {
            kept.tables(path, state, wanted.clone(), samples, |wanted| {
                times.set(times.get() + 1);
                let options = Options { wanted, samples: samples.clone(), ..Options::default() };
                Ok(Tables::open(path, &options)?)
            })
        };
        let (all, one) = (SampleFilter::default(), SampleFilter { pids: vec![1], ..SampleFilter::default() });
        let (samples, switches) =
            (Wanted::nothing().and(Table::Samples, Some(&[])), Wanted::nothing().and(Table::Switches, None));
        // What is asked: the state, what is wanted, the samples; how often it has been read then.
        let later = State { bytes: now.bytes + 1, ..now };
        let asked = [
            (now, &samples, &one, 1),
            (now, &samples, &all, 2),
            (now, &samples, &all, 2),
            (now, &samples, &one, 2),
            (now, &switches, &one, 3),
            (now, &switches, &all, 4),
            (now, &samples, &all, 4),
            (later, &samples, &all, 5),
            (later, &switches, &all, 6),
        ];
        for (nr, (state, wanted, filter, read)) in asked.into_iter().enumerate() {
            let tables = ask(state, wanted, filter)?;
            assert_eq!(times.get(), read, "question {nr}");
            let has_all = tables.row_count(Table::Samples) > 0 || !wanted.has(&samples);
            assert!(has_all || filter == &one, "question {nr}");
        }
        Ok(())
    }

    #[test]
    fn what_failed_is_tried_again() -> Result<(), BoxError> {
        let path = Path::new(RECORDING);
        let state = State::of(&path.metadata()?).ok_or("a directory")?;
        let (kept, wanted, all) = (Kept::default(), Wanted::nothing(), SampleFilter::default());
        assert!(kept.tables(path, state, wanted.clone(), &all, |_| Err("no".into())).is_err());
        let options = Options { wanted: wanted.clone(), ..Options::default() };
        assert!(kept.tables(path, state, wanted, &all, |_| Ok(Tables::open(path, &options)?)).is_ok());
        Ok(())
    }
}
