//! The four tables of 2011. Where one cannot be written, that costs only this one.

use crate::input::Input;
use crate::out::create;
use crate::outcome::say;
use anyhow::Context as _;
use perffile::Event;
use readperf::Analysis;
use readperf::output::csv;
use readperf::output::text::binary_size;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// The four tables, and where they go.
pub(super) struct Tables<'i> {
    directory: PathBuf,
    input: &'i Input,
    /// What is written while records pass.
    overview: Option<csv::overview::Overview<BufWriter<File>>>,
    written: Vec<&'static str>,
    /// What could not be written, and why.
    failed: Vec<(&'static str, anyhow::Error)>,
}

/// Files from this size on are announced with it.
const LARGE: u64 = 1 << 20;

impl<'i> Tables<'i> {
    const NAMES: [&'static str; 4] = ["stat.csv", OVERVIEW, "processes.csv", "results.csv"];

    /// Begins the table that grows with the records.
    pub(super) fn begin(directory: PathBuf, input: &'i Input) -> Self {
        let mut tables = Tables { directory, input, overview: None, written: Vec::new(), failed: Vec::new() };
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
            self.note(OVERVIEW, overview.finish().map_err(Into::into));
        }
        self.write("stat.csv", |file| csv::stat::write(file, statistics, &metadata.schema));
        self.write("processes.csv", |file| csv::processes::write(file, session));
        self.write("results.csv", |file| csv::results::write(file, profile, session));
    }

    fn write(&mut self, name: &'static str, write: impl FnOnce(BufWriter<File>) -> Result<(), ::csv::Error>) {
        let written = self.create(name).and_then(|file| Ok(write(file)?));
        self.note(name, written);
    }

    fn note(&mut self, name: &'static str, written: anyhow::Result<()>) {
        match written {
            Ok(()) => self.written.push(name),
            Err(error) => self.failed.push((name, error)),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn create(&self, name: &str) -> anyhow::Result<BufWriter<File>> {
        if self.directory != Path::new("") {
            std::fs::create_dir_all(&self.directory).with_context(|| self.directory.display().to_string())?;
        }
        Ok(BufWriter::with_capacity(1 << 16, create(&self.path(name), self.input)?))
    }

    /// Says what was written, and what was not; whether something was not.
    pub(super) fn tell(self) -> bool {
        let written = Self::NAMES.iter().filter(|name| self.written.contains(name));
        let written: Vec<String> = written.map(|name| self.with_size(name)).collect();
        if !written.is_empty() {
            say(&format!("wrote {}", written.join(", ")));
        }
        if let Some((_, error)) = self.failed.first() {
            // One folder, one reason: it is said once.
            let failed =
                Self::NAMES.iter().filter(|name| self.failed.iter().any(|(other, _)| other == *name));
            let failed: Vec<&str> = failed.copied().collect();
            say(&format!(
                "error: {} could not be written: {error:#}; --csv-dir DIR writes the tables elsewhere, --no-csv writes none",
                failed.join(", ")
            ));
        }
        !self.failed.is_empty()
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
