//! How queries get recordings: opened as other commands open them, and what was wrong with them is kept.

use crate::input::{Input, Reading};
use crate::outcome::{Outcome, in_words, say};
use crate::progress::Progress;
use crate::symbol_options::SymbolOptions;
use perffile::Issues;
use readperf::profile::SampleFilter;
use readperf_sql::{BoxError, Opener, Place};
use readperf_tables::{Options, Source, Tables, Wanted};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The recordings that queries name.
#[derive(Debug)]
pub(in crate::cmd) struct Recordings {
    reading: Reading,
    symbols: SymbolOptions,
    /// Whether it is shown how far reading is: of several at once it would be a muddle.
    shows_progress: bool,
    /// What was wrong, by the name of the recording.
    wrong: Mutex<BTreeMap<String, Issues>>,
}

impl Recordings {
    pub(in crate::cmd) fn new(reading: &Reading, symbols: &SymbolOptions, count: usize) -> Recordings {
        Recordings {
            reading: reading.clone(),
            symbols: symbols.clone(),
            shows_progress: count == 1 && !reading.no_progress,
            wrong: Mutex::default(),
        }
    }

    /// What was wrong with those that were read.
    pub(super) fn outcome(&self) -> Outcome {
        let wrong = std::mem::take(&mut *self.wrong.lock().unwrap_or_else(PoisonError::into_inner));
        Outcome { others: wrong.into_iter().collect(), strict: self.reading.strict, ..Outcome::default() }
    }

    fn read(&self, place: Place<'_>, wanted: Wanted, samples: SampleFilter) -> anyhow::Result<Tables> {
        let path = place.path;
        let input = match place.name == path {
            true => Input::of(path.to_owned(), &self.reading),
            false => Input::fetched(path.to_owned(), place.shown(), &self.reading),
        };
        let recording = input.open()?;
        let symbols = self.symbols.options(&input)?;
        let options = Options { wanted, samples, symbols, ..Options::default() };
        let source = Source { name: input.name(), ..Source::at(path)? };
        let mut progress = Progress::new("reading", self.shows_progress);
        let tables = Tables::watched(&recording, source, &options, |chunk| progress.bytes(chunk.progress()))?;
        drop(progress);
        self.keep(&input, &tables);
        Ok(tables)
    }

    /// Keeps what was wrong with a recording, and says, once, how far its names are to be trusted.
    fn keep(&self, input: &Input, tables: &Tables) {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.insert(input.name(), tables.issues().clone()).is_some() {
            return;
        }
        for told in tables.analysis().told() {
            say(&format!("{}: {told}", input.name()));
        }
    }
}

impl Opener for Recordings {
    fn open(&self, recording: Place<'_>, wanted: Wanted, samples: SampleFilter) -> Result<Tables, BoxError> {
        self.read(recording, wanted, samples).map_err(|error| in_words(&error).into())
    }
}
