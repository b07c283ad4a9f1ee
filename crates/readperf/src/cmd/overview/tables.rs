//! The four tables of 2011. They are of one recording: all are put in their places, or none.

use crate::blocks::InBlocks;
use crate::input::Input;
use crate::out::{create, publish};
use crate::outcome::{Outcome, say};
use anyhow::Context as _;
use perffile::Event;
use readperf::Analysis;
use readperf::output::csv;
use readperf::output::text::binary_size;
use readperf_files::WholeFile;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// The four tables, and where they go.
pub(super) struct Tables<'i> {
    directory: PathBuf,
    input: &'i Input,
    /// What is written while records pass.
    overview: Option<csv::overview::Overview<InBlocks<File>>>,
    /// Those that are complete, or on the way, in the order of their beginning.
    files: Vec<WholeFile>,
    /// What could not be written, and why.
    failed: Vec<(&'static str, anyhow::Error)>,
}

/// Files from this size on are announced with it.
const LARGE: u64 = 1 << 20;

impl<'i> Tables<'i> {
    const NAMES: [&'static str; 4] = ["stat.csv", OVERVIEW, "processes.csv", "results.csv"];

    /// Begins the table that grows with the records.
    pub(super) fn begin(directory: PathBuf, input: &'i Input) -> Self {
        let mut tables = Tables { directory, input, overview: None, files: Vec::new(), failed: Vec::new() };
        let begun = tables.create(OVERVIEW).and_then(|file| Ok(csv::overview::Overview::new(file)?));
        match begun {
            Ok(overview) => tables.overview = Some(overview),
            Err(error) => tables.failed.push((OVERVIEW, error)),
        }
        tables
    }

    /// Adds a record.
    pub(super) fn add(&mut self, event: &Event<'_>) {
        let added = self.overview.as_mut().map_or(Ok(()), |overview| overview.add(event));
        if let Err(error) = added {
            self.overview = None;
            self.failed.push((OVERVIEW, error.into()));
        }
    }

    /// Writes the others, now that all is known.
    pub(super) fn finish(&mut self, analysis: &Analysis) {
        let Analysis { profile, session, statistics, metadata, .. } = analysis;
        if let Some(overview) = self.overview.take() {
            let written = overview.finish();
            self.note(OVERVIEW, written.map_err(Into::into));
        }
        self.write("stat.csv", |file| csv::stat::write(file, statistics, &metadata.schema));
        self.write("processes.csv", |file| csv::processes::write(file, session));
        self.write("results.csv", |file| csv::results::write(file, profile, session));
    }

    fn write(&mut self, name: &'static str, write: impl FnOnce(InBlocks<File>) -> io::Result<()>) {
        let written = self.create(name).and_then(|file| Ok(write(file)?));
        self.note(name, written);
    }

    fn note(&mut self, name: &'static str, written: anyhow::Result<()>) {
        if let Err(error) = written {
            self.failed.push((name, error));
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn create(&mut self, name: &str) -> anyhow::Result<InBlocks<File>> {
        if self.directory != Path::new("") {
            std::fs::create_dir_all(&self.directory).with_context(|| self.directory.display().to_string())?;
        }
        let file = create(&self.path(name), &[self.input])?;
        let writer = file.writer()?;
        self.files.push(file);
        Ok(InBlocks::new(writer))
    }

    /// Puts the tables in their places, unless the run is a failure all the same. Says what was written and what was not;
    /// whether something was not.
    pub(super) fn publish(mut self, outcome: &Outcome) -> bool {
        if outcome.is_refused() {
            return false;
        }
        let failed = match self.failure() {
            Some(failed) => Some(failed),
            None => publish(std::mem::take(&mut self.files))
                .err()
                .map(|error| format!("error: not all tables could be put in their places: {error:#}")),
        };
        let wrote = || format!("wrote {}", Self::NAMES.map(|name| self.with_size(name)).join(", "));
        say(&failed.clone().unwrap_or_else(wrote));
        failed.is_some()
    }

    /// Which tables could not be written, and why. One folder, one reason: it is said once.
    fn failure(&self) -> Option<String> {
        let (_, error) = self.failed.first()?;
        let failed = Self::NAMES.iter().filter(|name| self.failed.iter().any(|(other, _)| other == *name));
        let failed: Vec<&str> = failed.copied().collect();
        Some(format!(
            "error: {} could not be written: {error:#}; so none of the tables was; --csv-dir DIR writes them elsewhere, \
             --no-csv writes none",
            failed.join(", ")
        ))
    }

    /// Where a table is, and how large, if it is.
    fn with_size(&self, name: &str) -> String {
        let path = self.path(name);
        let size = std::fs::metadata(&path).map_or(0, |file| file.len());
        match size >= LARGE {
            true => format!("{} ({})", path.display(), binary_size(size)),
            false => path.display().to_string(),
        }
    }
}

const OVERVIEW: &str = "overview.csv";
