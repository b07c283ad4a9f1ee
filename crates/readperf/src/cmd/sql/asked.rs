//! What is asked, and where answers go.

use super::recordings::Recordings;
use super::{Format, SqlCommand};
use crate::input::{Input, is_address};
use crate::outcome::{Outcome, failure, quote};
use anyhow::Context as _;
use readperf::symbols::cache_dir;
use readperf_files::ScratchFolder;
use readperf_sql::prompt::{Prompt, Typed};
use readperf_sql::{Answer, Engine, EngineOptions, Sources, Writer};
use std::io::{IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where queries come from.
enum Queries {
    Text(String),
    Prompt,
}

impl SqlCommand {
    /// Answers what is asked.
    pub(super) fn answer(&self) -> anyhow::Result<Outcome> {
        let (queries, places) = self.asked()?;
        let sources = Sources::of(places);
        let count = sources.recordings.len() + sources.addresses.len();
        let recordings = Arc::new(Recordings::new(&self.reading, &self.symbols, count));
        // It goes on every end of the program.
        let spill = self
            .memory
            .map(|_| ScratchFolder::create())
            .transpose()
            .context("a folder for what is too large")?;
        let options = EngineOptions {
            memory: self.memory,
            spill: spill.as_ref().map(|folder| folder.path().to_owned()),
            threads: Some(self.symbols.thread_count()),
            #[cfg(feature = "cluster")]
            cluster: self.cluster.clone(),
        };
        let inputs: Vec<Input> =
            sources.recordings.iter().map(|path| Input::of(path.clone(), &self.reading)).collect();
        let engine = Engine::new(sources, Arc::clone(&recordings) as _, &options)?;
        let out = match queries {
            Queries::Text(text) => {
                let mut out = self.output.open_bytes(&inputs.iter().collect::<Vec<_>>())?;
                self.answer_all(&engine, &text, &mut out).inspect_err(show_place)?;
                out.complete()?
            }
            Queries::Prompt => {
                self.talk(&engine)?;
                None
            }
        };
        #[cfg_attr(not(feature = "cluster"), expect(unused_mut, reason = "nobody else reads recordings"))]
        let mut outcome = recordings.outcome();
        #[cfg(feature = "cluster")]
        outcome
            .elsewhere
            .extend(engine.damaged()?.into_iter().map(|damaged| (damaged.recording, damaged.issues)));
        outcome.publishing(out)
    }

    /// The queries, and what they are about. The first word is a recording if there is one of this name, or it is an address, or -.
    fn asked(&self) -> anyhow::Result<(Queries, Vec<PathBuf>)> {
        let first = self.query.as_ref().filter(|word| self.file.is_some() || is_place(word.as_ref()));
        let mut places: Vec<PathBuf> =
            first.into_iter().map(PathBuf::from).chain(self.places.clone()).collect();
        let is_standard_input = places.iter().any(|place| place.as_os_str() == "-");
        if is_standard_input && self.cluster.is_some() {
            anyhow::bail!(
                "executors of a cluster do not see the standard input of this process: write the recording to a file"
            );
        }
        if places.is_empty() {
            places.push("perf.data".into());
        }
        let queries = match (&self.file, &self.query) {
            (Some(file), _) if file.as_os_str() != "-" => Queries::Text(read(file)?),
            (None, Some(query)) if first.is_none() => Queries::Text(query.clone()),
            _ if is_standard_input => anyhow::bail!(
                "standard input is the recording (-): the queries have to come as an argument or from a file"
            ),
            (None, _) if std::io::stdin().is_terminal() => Queries::Prompt,
            _ => Queries::Text(read(&PathBuf::from("-"))?),
        };
        Ok((queries, places))
    }

    fn answer_all(&self, engine: &Engine, text: &str, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
        let questions = engine.statements(text)?;
        let format = self.format();
        if questions.len() > 1 && matches!(format, Format::Json | Format::Parquet) {
            anyhow::bail!("{} queries, and a file of this format holds one answer", questions.len());
        }
        let mut is_first = true;
        for question in questions {
            let answer = engine.ask(question)?;
            if answer.schema().fields().is_empty() {
                continue;
            }
            if !is_first {
                writeln!(out)?;
            }
            is_first = false;
            write(answer, format, None, out)?;
        }
        Ok(())
    }

    /// Answers what is typed, until there is no more. A query that is wrong is told, and the next one is asked for.
    fn talk(&self, engine: &Engine) -> anyhow::Result<()> {
        let history = cache_dir().map(|folder| folder.join("sql_history"));
        let mut prompt = Prompt::new(engine, history.as_deref())?;
        let mut out = std::io::stdout();
        writeln!(
            out,
            "SHOW TABLES; lists the tables, DESCRIBE TABLE; says what their columns mean. Ctrl-D ends."
        )?;
        loop {
            let text = match prompt.ask()? {
                Typed::Queries(text) => text,
                Typed::Nothing => continue,
                Typed::End => return Ok(()),
            };
            if let Err(error) = self.answer_typed(engine, &text, &mut out) {
                // Told as at the end of the program; the prompt goes on.
                show_place(&error);
                let _ = failure(&error);
            }
            prompt.learn(engine);
        }
    }

    fn answer_typed(&self, engine: &Engine, text: &str, out: &mut (dyn Write + Send)) -> anyhow::Result<()> {
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        for question in engine.statements(text)? {
            let answer = engine.ask(question)?;
            if !answer.schema().fields().is_empty() {
                write(answer, self.format(), width, out)?;
            }
        }
        Ok(())
    }

    /// How answers are written: as asked for, else as the output is called.
    fn format(&self) -> Format {
        let name = self.output.file_name();
        let ending = name.as_deref().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending);
        let named = match ending {
            Some("csv") => Format::Csv,
            Some("json") => Format::Json,
            Some("parquet") => Format::Parquet,
            _ => Format::Table,
        };
        self.format.unwrap_or(named)
    }
}

/// Whether a word that may be a query is what is asked.
fn is_place(word: &Path) -> bool {
    is_address(word) || word.as_os_str() == "-" || word.exists()
}

/// Shows where a query is wrong.
fn show_place(error: &anyhow::Error) {
    if let Some(place) = error.downcast_ref().and_then(readperf_sql::Error::place) {
        quote(place);
    }
}

/// Writes the rows of an answer as they come.
fn write(
    answer: Answer<'_>,
    format: Format,
    width: Option<usize>,
    out: &mut (dyn Write + Send),
) -> anyhow::Result<()> {
    let format = match format {
        Format::Table => readperf_sql::Format::Table,
        Format::Csv => readperf_sql::Format::Csv,
        Format::Json => readperf_sql::Format::Json,
        Format::Parquet => readperf_sql::Format::Parquet,
    };
    let mut writer = Writer::new(format, &answer.schema(), width, out)?;
    for rows in answer {
        writer.rows(&rows?)?;
    }
    writer.end()?;
    out.flush()?;
    Ok(())
}

fn read(file: &PathBuf) -> anyhow::Result<String> {
    let mut text = String::new();
    if file.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text).context("standard input")?;
    } else {
        text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    }
    Ok(text)
}
