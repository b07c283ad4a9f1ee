//! `readperf annotate`: functions as code, with what samples say of each line and instruction.

mod from_perf;
mod look;
mod words;

use super::Cmd;
use crate::from_perf::FromPerf;
use crate::input::Input;
use crate::out::{NameWidth, Out};
use crate::outcome::{Outcome, say, wrong_usage};
use crate::pager::Pager;
use crate::profile_options::{ProfileOptions, Wanted};
use crate::source_files::{SourceFiles, SourceOptions};
use crate::stack_options::StackOptions;
use crate::suggestion::closest;
use clap::Args;
use from_perf::OfAnnotate;
use look::Look;
use perffile::wire::attr::BranchSampleType;
use readperf::analysis::{CodeReader, ListingRequest};
use readperf::output::annotate::{Annotation, Show, Sources, write_html, write_json, write_text};
use readperf::output::text::{grouped, shown};
use readperf::profile::view::listing::{BranchLog, Choice, Listing, ListingOptions, Pattern, Targets};
use readperf::profile::{AddressId, Keep};
use readperf::symbols::{Files, Options};
use readperf::{Analysis, Chunk, Sample, State};
use rustc_hash::FxHashMap;
use words::Words;

/// How many functions are listed if nothing else is said.
const TOP: usize = 10;
/// Most names that are told if there is none as given.
const MOST_NAMES: usize = 5;

/// Shows functions as code.
#[derive(Args, Debug)]
pub(crate) struct Annotate {
    #[command(flatten)]
    words: Words,

    /// How many functions [default: 10, or all that SYMBOL means]
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Only functions with at least this share of an event, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0)]
    percent_limit: f64,

    /// Count what is called, too, in columns of its own: each line and call with all samples below it
    #[arg(long)]
    inclusive: bool,

    #[command(flatten)]
    look: Look,

    #[command(flatten)]
    name_width: NameWidth,

    #[command(flatten)]
    source: SourceOptions,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    profile: ProfileOptions,

    #[command(flatten)]
    foreign: FromPerf<OfAnnotate>,
}

impl Cmd for Annotate {
    const NAME: &'static str = "annotate";
    const ABOUT: &'static str =
        "Show functions as code: each line of source and each instruction with its share";
    const EXAMPLES: &'static str = "\
SYMBOL is the name of a function, with or without parameters; 0xADDRESS in it; FILE:LINE; BINARY:NAME; or /REGEX/.
Without it the hottest functions are shown.
Samples of functions that --hide and the like leave out stand where their caller called them.

Examples:
  readperf annotate                            the ten hottest functions of ./perf.data
  readperf annotate perf.data shop::Cat::speak
  readperf annotate perf.data cat.cc:34        the functions that this line is in
  readperf annotate perf.data libc.so.6:malloc
  readperf annotate --no-asm --inclusive perf.data '/^parse_/'
  readperf annotate --source-prefix /build/src=. --source ~/src perf.data main
  readperf annotate perf.data -o code.html     a page for browsers
  readperf annotate --json perf.data main | jq '.functions[0].parts[0].instructions[]'";

    fn run(&self) -> anyhow::Result<Outcome> {
        self.foreign.check();
        let (mut input, symbol) = self.words.input_and_symbol(self.source.word());
        input.quiet = self.look.quiet;
        input.reading.no_progress |= self.look.quiet;
        let meanings = symbol.as_deref().map(Pattern::meanings).transpose();
        let meanings = meanings.unwrap_or_else(|message| wrong_usage(&message));
        let opened = if self.look.json { input.open_for_program() } else { input.open() };
        let recording = opened.map_err(|error| match words::meant(&input, symbol.as_deref()) {
            Some(sentence) => anyhow::Error::msg(sentence),
            None => error,
        })?;
        let lines = meanings.iter().flatten().any(Pattern::needs_lines);
        let by_stack = self.profile.names.needs_stacks() || self.stacks.needs_stacks();
        let stacks = self.inclusive || by_stack;
        let wanted = Wanted {
            keep: Keep { stacks, ..Keep::default() },
            lines,
            // A function may be meant where it is inlined.
            inlines: meanings.is_some() || by_stack,
            linked_addresses: meanings.iter().flatten().any(|meaning| matches!(meaning, Pattern::Address(_))),
            branches: true,
            samples: true,
            ..Wanted::default()
        };
        let mut log = BranchLog::default();
        let see = |state: &State, chunk: &Chunk<'_>| {
            chunk
                .samples(state)
                .filter(|sample| !is_call_stack(sample))
                .for_each(|sample| log.add(sample.branches));
        };
        let files = Files::new();
        let (mut analysis, names) =
            self.profile.read_keeping_names(&files, &input, &recording, &wanted, see)?;
        analysis.profile.choose(&self.profile.selection(&self.stacks), &analysis.session);
        let symbols = self.profile.symbols.options(&input)?;
        let request = ListingRequest {
            symbols: symbols.clone(),
            syntax: self.look.syntax(),
            options: ListingOptions { calls: self.inclusive },
        };
        let mut reader = CodeReader::new(&files, &analysis.metadata, names, request);
        let targets = reader.targets(&analysis.profile, &analysis.session);
        let choice = match (&symbol, &meanings) {
            (Some(symbol), Some(meanings)) => {
                self.meant(&input, &analysis, &mut reader, &targets, symbol, meanings)?
            }
            _ => targets.hottest(self.percent_limit, self.top.unwrap_or(TOP)),
        };
        let mut listings = reader.list(&targets, &choice.targets);
        if !log.is_empty() {
            listings.iter_mut().for_each(|listing| listing.add_blocks(&analysis.profile, &log));
        }
        let nothing = nothing_known(&listings);
        if let Some(reason) = nothing {
            say(&format!("error: neither code nor source is known: {reason}"));
        }
        let out = self.write(&input, &analysis, &symbols, &listings, &choice)?;
        drop(reader);
        let outcome = Outcome {
            quiet: self.look.quiet,
            failed: nothing.is_some(),
            ..Outcome::of(&input, analysis.issues)
        };
        outcome.publishing(out.complete()?)
    }
}

impl Annotate {
    /// The functions that are meant.
    fn meant(
        &self,
        input: &Input,
        analysis: &Analysis,
        reader: &mut CodeReader<'_>,
        targets: &Targets<'_>,
        symbol: &str,
        meanings: &[Pattern],
    ) -> anyhow::Result<Choice> {
        let is_address = meanings.iter().any(|meaning| matches!(meaning, Pattern::Address(_)));
        let kernels = if is_address {
            reader.kernel_biases(&analysis.profile, &analysis.session)
        } else {
            FxHashMap::default()
        };
        let bias = |place: AddressId| {
            let binary = analysis.profile.addresses().get(place).and_then(|code| code.binary);
            let kernel = binary.and_then(|binary| kernels.get(&binary));
            let linked = || analysis.linked_addresses.get(place.index()).map_or(0, |linked| linked.bias);
            kernel.copied().unwrap_or_else(linked)
        };
        let most = self.top.unwrap_or(usize::MAX);
        for meaning in meanings {
            let choice = targets.matching(meaning, bias, self.percent_limit, most);
            let found = choice.targets.len() + choice.others;
            if found > 1 && !input.quiet {
                say(&format!("{} functions are meant by {}", grouped(found as u64), shown(symbol)));
            }
            if found > 0 {
                return Ok(choice);
            }
        }
        let names = targets.names();
        let like: Vec<&str> =
            names.iter().copied().filter(|name| name.contains(symbol)).take(MOST_NAMES).collect();
        let hint = match closest(symbol, names.iter().copied()) {
            _ if !like.is_empty() => format!("; names with it: {}", like.join(", ")),
            Some(name) => format!(" (did you mean {name}?)"),
            None => String::new(),
        };
        anyhow::bail!("no sample was taken in {symbol}{hint}{}", without_names(analysis));
    }

    fn write(
        &self,
        input: &Input,
        analysis: &Analysis,
        symbols: &Options,
        listings: &[Listing],
        choice: &Choice,
    ) -> anyhow::Result<Out> {
        let Analysis { profile, session, .. } = analysis;
        let show = self.look.show();
        let sources = match show {
            Show::Code if !self.look.json => Sources::default(),
            _ => SourceFiles::new(&self.source, input, symbols).of(listings, session),
        };
        let annotation = Annotation {
            listings,
            profile,
            session,
            recorded: profile.recorded(),
            sources: &sources,
            show,
            measures: &self.look.measures(),
            share_of: self.look.share_of(self.inclusive),
            inclusive: self.inclusive,
            bytes: self.look.asm_raw,
            others: choice.others,
            width: self.name_width.columns(&self.profile.output),
        };
        if self.look.json {
            let mut out = self.profile.output.open_bytes(&[input])?;
            write_json(&mut out, &annotation, analysis.issues.iter())?;
            return Ok(out);
        }
        let named = self.profile.output.file_name();
        if self.look.html || named.is_some_and(|name| name.ends_with(".html")) {
            let mut out = self.profile.output.open_bytes(&[input])?;
            write_html(&mut out, &annotation)?;
            return Ok(out);
        }
        let pager = if self.look.no_pager { None } else { Pager::start(&self.profile.output) };
        let mut out = match pager {
            Some(pager) => Out::paged(pager),
            None => self.profile.output.open(&[input])?,
        };
        write_text(&mut out, &annotation)?;
        Ok(out)
    }
}

/// How many samples have no name, which may be those that are looked for, and why most of them have none.
fn without_names(analysis: &Analysis) -> String {
    let missing = analysis.profile.missing_names(false);
    let samples: u64 = missing.iter().map(|missing| missing.samples).sum();
    let Some(most) = missing.into_iter().next().filter(|_| samples > 0) else {
        return String::new();
    };
    let remedy = most.remedy.map_or_else(String::new, |remedy| format!(": {remedy}"));
    format!("; {} samples have no name, most of them: {}{remedy}", grouped(samples), most.reason)
}

/// Whether the branches of a sample as the hardware keeps it: they do not follow each other.
fn is_call_stack(sample: &Sample<'_, '_>) -> bool {
    let shape = sample.moment.sample.layout().shape();
    shape.branch_sample_type.has(BranchSampleType::CALL_STACK)
}

/// Why there is neither code nor a line of any function; nothing if there is.
fn nothing_known(listings: &[Listing]) -> Option<&str> {
    let has_any = |listing: &Listing| {
        let has_code = listing.parts.iter().any(|part| !part.instructions.is_empty());
        has_code || listing.lines.iter().any(|line| line.file.is_some())
    };
    if listings.is_empty() || listings.iter().any(has_any) {
        return None;
    }
    let reason = listings.iter().flat_map(|listing| &listing.parts).find_map(|part| part.no_code.as_deref());
    Some(reason.unwrap_or("no binary was found"))
}
