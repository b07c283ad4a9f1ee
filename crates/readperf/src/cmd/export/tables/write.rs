//! Several recordings at a time into one folder of tables.

use super::super::ExportCommand;
use super::TableFormat;
use crate::input::Input;
use crate::outcome::{Outcome, say, wrong_usage};
use crate::progress::Progress;
use anyhow::Context as _;
use perffile::Issues;
use readperf::PassOptions;
use readperf::output::export::Flag;
use readperf::profile::Selection;
use readperf::symbols;
use readperf::tables::store::{FileFormat, Partition, Store};
use readperf::tables::{Options, Source, Tables, Wanted};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Flags that are about pictures of samples; tables have all that is known of each.
const NO_PLACE_FOR: &[Flag] =
    &[Flag::Weight, Flag::WithPid, Flag::WithTid, Flag::WithCpu, Flag::Annotate, Flag::Title, Flag::Drawing];

/// As the first thread has.
const STACK_BYTES: usize = 8 << 20;

/// What came of a recording.
enum Done {
    /// It is in the folder now.
    Added(Issues),
    /// The folder had it.
    WasThere,
    /// It is damaged, and that is a failure.
    Refused(Issues),
}

impl ExportCommand {
    /// Writes the tables of all recordings.
    pub(in super::super) fn write_tables(&self, format: TableFormat) -> anyhow::Result<Outcome> {
        self.refuse_wrong_flags(format);
        let format = FileFormat::by_name(format.name).context("no such format")?;
        let folder = self.profile.output.path().unwrap_or_else(|| {
            wrong_usage(&format!("{} is a folder of tables: -o DIR says which", format.name()))
        });
        let store = Store::open(folder, format)?;
        store.accept(&self.partition(None))?;
        let more = self.tables.more.iter().map(|file| self.input.instead(file.clone()));
        let inputs: Vec<Input> = std::iter::once(self.input.clone()).chain(more).collect();
        let workers = self.profile.symbols.thread_count().min(inputs.len());
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            while let Some(input) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = self.add(&store, input, workers == 1).with_context(|| input.name());
                done.lock().unwrap_or_else(PoisonError::into_inner).push((input.name(), result));
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..workers {
                let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
                // Where the system has no more threads, those that there are do it all.
                if thread.spawn_scoped(scope, work).is_err() {
                    break;
                }
            }
            work();
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.outcome(done)
    }

    /// The tables of a recording into the folder.
    fn add(&self, store: &Store, input: &Input, is_alone: bool) -> anyhow::Result<Done> {
        let path = input
            .path()
            .context("tables are made of files and directories, not of what arrives as a stream")?;
        let source = Source::at(&path)?;
        if !self.tables.replace && store.has(source.profile_id) {
            return Ok(Done::WasThere);
        }
        let recording = input.open()?;
        let options = self.tables_options(input, &recording, is_alone)?;
        let mut progress = Progress::new("reading", is_alone && !input.reading.no_progress);
        let tables = Tables::watched(&recording, source, &options, |chunk| progress.bytes(chunk.progress()))?;
        drop(progress);
        self.profile.tell(input, tables.analysis());
        let issues = tables.issues().clone();
        if input.reading.strict && issues.damaged() {
            return Ok(Done::Refused(issues));
        }
        store.add(&tables, &self.partition(tables.date().map(|day| day.to_string())))?;
        Ok(Done::Added(issues))
    }

    fn tables_options(
        &self,
        input: &Input,
        recording: &perffile::Recording,
        is_alone: bool,
    ) -> anyhow::Result<Options> {
        let symbols = self.profile.symbols.options(input)?;
        // Several recordings at a time have a thread each.
        let threads = if is_alone { symbols.threads } else { Some(NonZeroUsize::MIN) };
        Ok(Options {
            wanted: Wanted::everything(),
            samples: self.profile.samples.filter(recording)?,
            selection: Selection { weight: self.weight.into(), ..self.profile.selection(&self.stacks) },
            symbols: symbols::Options { threads, ..symbols },
            no_inlines: self.no_inline,
            pass: PassOptions::default(),
            labels: self.tables.labels.clone(),
            ..Options::default()
        })
    }

    /// Where the parts of a recording lie.
    fn partition(&self, day: Option<String>) -> Partition {
        let of_day = |given: &String| ("date".to_owned(), day.unwrap_or_else(|| given.clone()));
        let date = self.tables.date.as_ref().map(of_day);
        Partition::new(date.into_iter().chain(self.tables.labels.iter().cloned()))
    }

    fn refuse_wrong_flags(&self, format: TableFormat) {
        if self.flame.base.is_some() {
            wrong_usage(&format!("{} shows no differences to a --base; flamegraph does", format.name));
        }
        let keys = self.tables.labels.iter().map(|(key, _)| key);
        if let Some(twice) =
            keys.clone().enumerate().find(|(nr, key)| keys.clone().take(*nr).any(|before| before == *key))
        {
            wrong_usage(&format!("--label {} is given twice", twice.1));
        }
        self.tell_unheeded(format.name, NO_PLACE_FOR, true, true);
    }

    /// What to tell in the end. What cannot be read at all keeps the others from nothing.
    fn outcome(&self, mut done: Vec<(String, anyhow::Result<Done>)>) -> anyhow::Result<Outcome> {
        done.sort_by(|(a, _), (b, _)| a.cmp(b));
        if done.len() == 1 && done.iter().all(|(_, result)| result.is_err()) {
            return Err(done
                .into_iter()
                .find_map(|(_, result)| result.err())
                .unwrap_or_else(|| anyhow::anyhow!("nothing was read")));
        }
        let (mut added, mut were_there) = (0, 0);
        let mut outcome = Outcome { strict: self.input.reading.strict, ..Outcome::default() };
        for (name, result) in done {
            match result {
                Ok(Done::Added(issues)) => {
                    added += 1;
                    outcome.others.push((name, issues));
                }
                Ok(Done::Refused(issues)) => outcome.others.push((name, issues)),
                Ok(Done::WasThere) => were_there += 1,
                Err(error) => {
                    crate::outcome::failure(&error);
                    outcome.failed = true;
                }
            }
        }
        if were_there > 0 {
            say(&format!(
                "added: {added}; there already, and left as before: {were_there} (--replace writes them anew)"
            ));
        }
        Ok(outcome)
    }
}
