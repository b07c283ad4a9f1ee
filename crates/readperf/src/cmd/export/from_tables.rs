//! Exports of folders of tables instead of a recording: the stacks of a whole fleet, added up.

use super::ExportCommand;
use crate::outcome::{Outcome, wrong_usage};
use clap::{Args, ValueEnum};
use readperf::output::export::{FORMATS, Flag, Format, Needs, Writing};

/// What is exported.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum From {
    /// A recording
    #[default]
    Recording,
    /// Folders of tables that --format parquet wrote
    Tables,
}

/// Which samples of tables.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "From tables")]
pub(super) struct FromTablesArguments {
    /// What FILE is, and MORE. With tables, folders that `export --format parquet` wrote: the samples of all recordings in them are added up
    /// by stack, for formats that show nothing but stacks: folded, flamegraph, flamegraph-html, dot
    #[arg(long, value_enum, value_name = "WHAT", default_value_t)]
    from: From,

    /// Only samples for which this condition holds: SQL on the columns of the table samples, of labels and date, and of profiles, as
    /// "service = 'web' AND host LIKE 'db%'"
    #[arg(long = "where", value_name = "CONDITION", requires = "from")]
    condition: Option<String>,
}

impl FromTablesArguments {
    /// Whether it is about tables.
    pub(super) fn is_wanted(&self) -> bool {
        if self.from == From::Recording && self.condition.is_some() {
            wrong_usage("--where is about tables: --from tables says that FILE is a folder of them");
        }
        self.from == From::Tables
    }
}

/// Whether a format shows nothing but stacks and their names.
fn is_of_stacks(format: &Format) -> bool {
    let needs = Needs { lines: false, ..format.needs };
    needs == Needs::STACKS && matches!(format.write, Writing::Profile(_))
}

impl ExportCommand {
    /// Refuses what stacks that were added up cannot show.
    fn refuse_what_sums_lack(&self, format: &Format) {
        if !is_of_stacks(format) {
            let able: Vec<&str> =
                FORMATS.iter().filter(|format| is_of_stacks(format)).map(|format| format.name).collect();
            wrong_usage(&format!(
                "{} shows more than stacks; --from tables has {}",
                format.name,
                able.join(", ")
            ));
        }
        if self.flame.base.is_some() {
            wrong_usage("--from tables shows no differences to a --base");
        }
        if let Some(flag) = self.tables.of_writing().next() {
            wrong_usage(&format!("{} has no place for {flag}: that is for parquet and arrow", format.name));
        }
        if let Some(flag) = self.profile.symbols.of_names().next() {
            wrong_usage(&format!(
                "--from tables has no place for {flag}: tables have the names that were found for them"
            ));
        }
        let ids = [Flag::WithPid, Flag::WithTid, Flag::WithCpu];
        let ids = ids.into_iter().flat_map(|flag| self.given(flag));
        let samples = self.profile.samples.given().filter(|flag| *flag != "--event");
        if let Some(flag) = ids.chain(samples).next() {
            wrong_usage(&format!("--from tables has no place for {flag}: --where chooses samples"));
        }
    }

    /// Adds up the stacks of folders of tables, and writes them.
    #[cfg(feature = "sql")]
    pub(super) fn write_stacks(&self, format: &Format) -> anyhow::Result<Outcome> {
        use crate::outcome::{quote, say};
        use readperf::output::export::Export;
        use readperf::profile::{Marks, Selection};
        use readperf_sql::{Engine, EngineOptions, Sources, StackQuestion};

        self.refuse_what_sums_lack(format);
        self.tell_unheeded(format.name, format.no_place_for, true, true);
        let Writing::Profile(write) = format.write else { return Ok(Outcome::default()) };
        let first =
            self.input.path().unwrap_or_else(|| wrong_usage("tables are folders, and not standard input"));
        let sources = Sources::of(std::iter::once(first).chain(self.tables.more().iter().cloned()));
        let threads = Some(self.profile.symbols.thread_count());
        let options = EngineOptions { threads, ..EngineOptions::default() };
        let engine = Engine::of_folders(sources, &options)?;
        let question = StackQuestion {
            condition: self.from_tables.condition.clone(),
            events: self.profile.samples.events().to_vec(),
            no_inlines: self.no_inline,
        };
        let mut stacks = engine.summed_stacks(&question).inspect_err(|error| {
            if let Some(place) = error.place() {
                quote(place);
            }
        })?;
        let selection = Selection { weight: self.weight.into(), ..self.profile.selection(&self.stacks) };
        stacks.profile.choose(&selection, &stacks.session);
        let shown = stacks.profile.events().iter().find(|event| event.samples > 0);
        let mut options = self.options();
        let event = shown.map(|event| event.name.as_str());
        options.title.get_or_insert_with(|| title(&question, &stacks, event));
        let marks = Marks::default();
        let export = Export {
            profile: &stacks.profile,
            session: &stacks.session,
            metadata: &stacks.metadata,
            marks: &marks,
            linked_addresses: &[],
            options: &options,
        };
        if shown.is_none() {
            say("no samples are chosen");
        }
        if stacks.incomplete > 0 {
            say(&format!("{} samples: the tables do not have all of their stacks", stacks.incomplete));
        }
        super::tell_left_out(&self.input, format, &export);
        let mut out = self.profile.output.open_bytes(&[])?;
        write(&export, &mut out)?;
        Outcome::default().publishing(out.complete()?)
    }

    /// Adding up is the work of the engine.
    #[cfg(not(feature = "sql"))]
    pub(super) fn write_stacks(&self, format: &Format) -> anyhow::Result<Outcome> {
        self.refuse_what_sums_lack(format);
        anyhow::bail!(
            "this program was built without SQL, which adds up tables: cargo install --path crates/readperf --features sql builds it (about \
             twenty minutes more on two cores)"
        )
    }
}

/// What to call the stacks of many recordings.
#[cfg(feature = "sql")]
fn title(
    question: &readperf_sql::StackQuestion,
    stacks: &readperf_sql::SummedStacks,
    event: Option<&str>,
) -> String {
    let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut title = many(stacks.recordings, "recording");
    if stacks.hosts > 0 {
        title.push_str(&format!(" of {}", many(stacks.hosts, "host")));
    }
    let condition = question.condition.as_deref().map(|condition| format!("where {condition}"));
    for part in condition.as_deref().into_iter().chain(event.filter(|name| !name.is_empty())) {
        title.push_str(", ");
        title.push_str(part);
    }
    title
}
