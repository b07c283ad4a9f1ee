//! `readperf export`: the profile in the form of another tool.

mod flame;
mod from_tables;
mod tables;
mod unheeded;

use super::Cmd;
use crate::elsewhere::format_hint;
use crate::held_places::HeldPlaces;
use crate::input::Input;
use crate::outcome::{Outcome, say, wrong_usage};
use crate::profile_options::{ProfileOptions, Wanted};
use crate::sample_options::Weight;
use crate::source_files::SourceOptions;
use crate::stack_options::StackOptions;
use clap::Args;
use flame::FlameArguments;
use from_tables::FromTablesArguments;
use readperf::Analysis;
use readperf::output::export::flamegraph::FlameOptions;
use readperf::output::export::{self, Export, ExportOptions, FORMATS, Format, WriteDifference, Writing};
use readperf::profile::matching::{Matching, Side};
use readperf::profile::{DetailOptions, Keep, Selection, Times};
use tables::{TABLE_FORMATS, TableFormat, TablesArguments};

/// Writes the profile in the form of another tool.
#[derive(Args, Debug)]
pub(crate) struct ExportCommand {
    #[command(flatten)]
    input: Input,

    /// The format; without it, what the name of the output file ends with says
    #[arg(short, long, value_name = "FORMAT", value_parser = chosen, long_help = formats_help())]
    format: Option<Chosen>,

    /// What a sample counts for
    #[arg(long, value_enum, default_value_t = Weight::Period)]
    weight: Weight,

    /// Tell processes apart by their ids
    #[arg(long)]
    with_pid: bool,

    /// Tell threads apart by their ids
    #[arg(long)]
    with_tid: bool,

    /// Tell CPUs apart
    #[arg(long)]
    with_cpu: bool,

    /// Mark frames of the kernel with _[k], inlined ones with _[i], those of generated code with _[j]
    #[arg(long)]
    annotate: bool,

    /// The title that viewers show
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Do not show inlined functions as frames
    #[arg(long)]
    no_inline: bool,

    #[command(flatten)]
    held: HeldPlaces,

    #[command(flatten)]
    tables: TablesArguments,

    #[command(flatten)]
    from_tables: FromTablesArguments,

    #[command(flatten)]
    flame: FlameArguments,

    #[command(flatten)]
    source: SourceOptions,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    profile: ProfileOptions,
}

/// A format that was chosen.
#[derive(Clone, Copy, Debug)]
enum Chosen {
    /// One file.
    File(&'static Format),
    /// A folder of tables.
    Tables(TableFormat),
}

/// What can be chosen.
fn names() -> impl Iterator<Item = &'static str> {
    FORMATS.iter().map(|format| format.name).chain(TABLE_FORMATS.map(|format| format.name))
}

fn chosen(name: &str) -> Result<Chosen, String> {
    let table = TABLE_FORMATS.into_iter().find(|format| format.name == name).map(Chosen::Tables);
    export::by_name(name).map(Chosen::File).or(table).ok_or_else(|| {
        let known: Vec<&str> = names().collect();
        format!("no format is called that{}; there are {}", format_hint(name, names()), known.join(", "))
    })
}

fn formats_help() -> String {
    let line = |(name, help): (&str, &str)| format!("\n  {name:<16} {help}");
    let formats = FORMATS.iter().map(|format| (format.name, format.help));
    let tables = TABLE_FORMATS.iter().map(|format| (format.name, format.help));
    let lines: String = formats.chain(tables).map(line).collect();
    format!("The format; without it, what the name of the output file ends with says:{lines}")
}

impl Cmd for ExportCommand {
    const NAME: &'static str = "export";
    const ABOUT: &'static str = "Write the profile in the form of another tool";
    const EXAMPLES: &'static str = "\
Examples:
  readperf export --format folded perf.data > stacks.folded
  readperf export perf.data -o stacks.folded
  readperf export perf.data -o flames.svg
  readperf export perf.data -o profile.pb.gz && go tool pprof -top profile.pb.gz
  readperf export perf.data -o profile.json.gz      # for profiler.firefox.com
  readperf export new.data --base old.data -o change.html
  readperf export perf.data -o profile.page.html    # the page of `readperf view`, for a ticket or a mail
  readperf export --format parquet -o tables *.data --label service=web && duckdb -c \
    \"SELECT function, sum(period) FROM 'tables/samples/**/*.parquet' GROUP BY 1 ORDER BY 2 DESC LIMIT 10\"
  readperf export --format flamegraph --from tables fleet --where \"service = 'web'\" -o web.svg";

    fn run(&self) -> anyhow::Result<Outcome> {
        let format = match self.chosen_format() {
            Chosen::File(format) if self.from_tables.is_wanted() => return self.write_stacks(format),
            Chosen::File(format) => format,
            Chosen::Tables(format) if self.from_tables.is_wanted() => wrong_usage(&format!(
                "{} is made of recordings; --from tables has folders of it",
                format.name
            )),
            Chosen::Tables(format) => return self.write_tables(format),
        };
        if let Some(flag) = self.tables.given().next() {
            wrong_usage(&format!("{} has no place for {flag}: that is for parquet and arrow", format.name));
        }
        if format.binary && self.profile.output.is_terminal() {
            wrong_usage(&format!(
                "{} is binary: it goes to a file (-o FILE) or a pipe, not to a terminal",
                format.name
            ));
        }
        let is_without_code = matches!(format.write, Writing::Profile(_));
        self.tell_unheeded(format.name, format.no_place_for, is_without_code, format.needs.addresses);
        let Writing::Profile(write) = format.write else { return self.write_page() };
        let difference = self.difference(format);
        let analysis = self.analyse(format, &self.input)?;
        let base = match &difference {
            Some((_, input)) => Some(self.analyse(format, input)?),
            None => None,
        };
        let inputs = std::iter::once(&self.input).chain(difference.as_ref().map(|(_, base)| base));
        let mut out = self.profile.output.open_bytes(&inputs.collect::<Vec<_>>())?;
        let matching = base.as_ref().map(|base| matching(base, &analysis));
        let options =
            ExportOptions { matching: matching.as_ref().map(|_| Matching::default()), ..self.options() };
        let base_options = ExportOptions { matching, ..self.options() };
        let new = export(&analysis, &options);
        if new.event().is_none() {
            say(&format!("{}: no samples", self.input.name()));
        }
        tell_left_out(&self.input, format, &new);
        match (&difference, &base) {
            (Some((write_difference, _)), Some(base)) => {
                write_difference(format, &new, &export(base, &base_options), &mut out)?;
            }
            _ => write(&new, &mut out)?,
        }
        let base = difference.zip(base).map(|((_, input), base)| (input.name(), base.issues));
        Outcome { others: base.into_iter().collect(), ..Outcome::of(&self.input, analysis.issues) }
            .publishing(out.complete()?)
    }
}

impl ExportCommand {
    /// Writes the page of `readperf view`, with the profile inside.
    #[cfg(feature = "view")]
    fn write_page(&self) -> anyhow::Result<Outcome> {
        let base = self.flame.base.as_ref().map(|base| self.input.instead(base.clone()));
        let inputs: Vec<&Input> = std::iter::once(&self.input).chain(&base).collect();
        let mut out = self.profile.output.open_bytes(&inputs)?;
        let page = super::view::PageFile {
            input: &self.input,
            base: self.flame.base.clone(),
            weight: self.weight.into(),
            title: self.title.clone(),
            profile: &self.profile,
            stacks: &self.stacks,
            source: &self.source,
        };
        let mut issues = page.write(&mut out)?.into_iter();
        let (_, own) = issues.next().unwrap_or_default();
        Outcome { others: issues.collect(), ..Outcome::of(&self.input, own) }.publishing(out.complete()?)
    }

    /// The page is a part of the program that can be left out.
    #[cfg(not(feature = "view"))]
    fn write_page(&self) -> anyhow::Result<Outcome> {
        let SourceOptions { .. } = &self.source;
        anyhow::bail!("this readperf was built without its page (feature `view`)")
    }

    /// Reads a recording for a format, with the filters that are asked for.
    fn analyse(&self, format: &Format, input: &Input) -> anyhow::Result<Analysis> {
        let recording = input.open()?;
        let most_places = (!format.needs.addresses).then(|| self.held.most());
        let mut wanted = Wanted { inlines: !self.no_inline, most_places, ..wanted_by(format) };
        wanted.keep.threads |= self.with_pid || self.with_tid;
        wanted.keep.cpus |= self.with_cpu;
        let selection = Selection { weight: self.weight.into(), ..self.profile.selection(&self.stacks) };
        self.profile.analyse(input, &recording, &wanted, &selection)
    }

    /// How the format compares two recordings, and what to compare with, if that is asked for.
    fn difference(&self, format: &Format) -> Option<(WriteDifference, Input)> {
        let base = self.flame.base.clone()?;
        let write = format.difference.unwrap_or_else(|| {
            wrong_usage(&format!("{} shows no differences to a --base; flamegraph does", format.name))
        });
        Some((write, self.input.instead(base)))
    }

    /// The format that was named, or that the output's name stands for.
    fn chosen_format(&self) -> Chosen {
        let by_file = || self.profile.output.file_name().and_then(|name| export::by_file_name(&name));
        self.format.or_else(|| by_file().map(Chosen::File)).unwrap_or_else(|| {
            let known: Vec<&str> = names().collect();
            wrong_usage(&format!("which format? --format is one of {}", known.join(", ")))
        })
    }

    /// Whether the name of the output says that what is in it is not compressed.
    fn wants_it_plain(&self) -> bool {
        self.profile
            .output
            .file_name()
            .is_some_and(|name| [".json", ".pb"].iter().any(|end| name.ends_with(end)))
    }

    fn options(&self) -> ExportOptions {
        let flame = self.flame.options();
        ExportOptions {
            with_pid: self.with_pid,
            with_tid: self.with_tid,
            with_cpu: self.with_cpu,
            annotate: self.annotate,
            event: None,
            plain: self.wants_it_plain(),
            title: self.title.clone(),
            matching: None,
            flame: FlameOptions { comm: flame.comm || self.with_pid || self.with_tid, ..flame },
        }
    }
}

/// What a format needs of a recording, with inlined functions.
pub(super) fn wanted_by(format: &Format) -> Wanted {
    Wanted {
        keep: Keep {
            stacks: true,
            threads: format.needs.threads,
            cpus: format.needs.cpus,
            times: Times::each(format.needs.times),
        },
        lines: format.needs.lines,
        inlines: true,
        marks: format.needs.marks,
        linked_addresses: format.needs.linked_addresses,
        details: DetailOptions { fields: format.needs.details.to_vec(), ..DetailOptions::default() },
        ..Wanted::default()
    }
}

/// Says what a format does not show of what there is.
pub(super) fn tell_left_out(input: &Input, format: &Format, export: &Export<'_>) {
    tell_other_events(input, format, export);
    tell_timeless(input, format, export);
    if let Some(note) = export.schedule_note() {
        say(&format!("{}: {note}", input.name()));
    }
}

/// A format that shows one event leaves the others out, and says so.
fn tell_other_events(input: &Input, format: &Format, export: &Export<'_>) {
    let Some(shown) = export.event().filter(|_| format.one_event) else { return };
    let events = export.profile.events().iter().enumerate();
    let others = events.filter(|(nr, event)| *nr != shown && event.samples > 0);
    let others: Vec<&str> = others.map(|(_, event)| event.name.as_str()).collect();
    if let (Some(event), false) = (export.profile.events().get(shown), others.is_empty()) {
        let others = others.join(", ");
        say(&format!(
            "{}: only {} is shown; --event chooses among it and {others}",
            input.name(),
            event.name
        ));
    }
}

/// A format that is a picture of time has no place for samples without one, and says so.
fn tell_timeless(input: &Input, format: &Format, export: &Export<'_>) {
    let rows = export.profile.rows().iter().filter(|row| row.time_ns == 0 && format.pictures_time);
    let samples: u64 = rows.map(|row| row.samples).sum();
    if samples > 0 {
        say(&format!("{}: {samples} samples have no time: they are shown at 0", input.name()));
    }
}

/// What the names of the recording that is compared with are in the other one; said if they differ.
fn matching(base: &Analysis, new: &Analysis) -> Matching {
    let side = |analysis: &Analysis| Side::of(&analysis.profile, &analysis.session);
    let matching = Matching::of(&side(base), &side(new));
    if let Some(told) = matching.told() {
        say(&format!("names differ: {told}"));
    }
    matching
}

/// An analysis on its way out.
pub(super) fn export<'x>(analysis: &'x Analysis, options: &'x ExportOptions) -> Export<'x> {
    let Analysis { profile, session, metadata, marks, linked_addresses, .. } = analysis;
    Export { profile, session, metadata, marks, linked_addresses, options }
}
