//! `readperf diff`: what changed between recordings.

use super::Cmd;
use crate::input::{Input, Reading};
use crate::out::NameWidth;
use crate::outcome::{Outcome, say};
use crate::profile_options::{ProfileOptions, Wanted};
use crate::stack_options::StackOptions;
use clap::{Args, ValueEnum};
use perffile::Issues;
use readperf::output::diff::{self as output, DiffOptions, DiffOrder};
use readperf::profile::Keep;
use readperf::profile::diff::{self, Comparison, DiffKey, EventDiff, Normalize, Presence, Tally};
use readperf::session::{Moment, SampleMoment};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// What makes two rows the same.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Function
    #[value(alias = "symbol", alias = "sym")]
    Function,
    /// Binary
    Dso,
    /// Thread name
    Comm,
    /// Source file and line
    Srcline,
}

/// What values are compared.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Scale {
    /// Shares of the period
    #[default]
    Total,
    /// Shares of the samples
    Samples,
    /// Period for each second recorded
    Time,
    /// Periods as they are
    None,
}

/// What rows are ordered by.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Sort {
    /// The change
    #[default]
    Delta,
    /// New by old
    Ratio,
    /// New and old, each by its weight
    Weighted,
}

/// Compares recordings.
#[derive(Args, Debug)]
pub(crate) struct Diff {
    /// The recording before
    #[arg(value_name = "BASE")]
    first: PathBuf,

    /// The recordings after
    #[arg(value_name = "NEW", required = true)]
    new: Vec<PathBuf>,

    /// Another recording from before the change: several on both sides tell change from chance
    #[arg(long, value_name = "FILE")]
    base: Vec<PathBuf>,

    /// What makes two rows the same
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["dso", "function"])]
    by: Vec<By>,

    /// What is compared
    #[arg(long, value_enum, default_value_t)]
    normalize: Scale,

    /// What rows are ordered by, the greatest first
    #[arg(long, value_enum, default_value_t)]
    sort: Sort,

    /// Weights of new and old in the weighted difference, NEW:OLD
    #[arg(long, value_name = "W1:W2", value_parser = weights, default_value = "1:1")]
    weights: (f64, f64),

    /// A change with at least this probability is taken for chance
    #[arg(long, value_name = "P", value_parser = probability, default_value_t = 0.05)]
    level: f64,

    /// Leave out of the text what changes by less than this percentage of the total
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value_t = 0.01)]
    percent_limit: f64,

    /// End with exit status 4 if a row has grown by more than this percentage of the total before, beyond chance; or if no event is in
    /// the recordings of both sides
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_over: Option<f64>,

    /// With --fail-over: fail on what one recording a side shows, too, though it does not tell how much runs differ
    #[arg(long, requires = "fail_over")]
    fail_on_single: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    name_width: NameWidth,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    profile: ProfileOptions,
}

fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let parsed = number.parse::<f64>().ok().filter(|percent| percent.is_finite() && *percent >= 0.0);
    parsed.ok_or_else(|| format!("{text} is no percentage: expected 5 or 5%"))
}

fn probability(text: &str) -> Result<f64, String> {
    let parsed = text.parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
    parsed.ok_or_else(|| format!("{text} is no probability: expected a number from 0 to 1"))
}

/// Weights of old and new; they are written the other way round.
fn weights(text: &str) -> Result<(f64, f64), String> {
    let weight = |text: &str| text.trim().parse::<f64>().ok().filter(|weight| weight.is_finite());
    let pair = text.split_once(':').and_then(|(new, old)| Some((weight(old)?, weight(new)?)));
    pair.ok_or_else(|| "expected two numbers, as 1:2".to_owned())
}

impl Cmd for Diff {
    const NAME: &'static str = "diff";
    const ABOUT: &'static str = "Show what changed between recordings";
    const EXAMPLES: &'static str = "\
Examples:
  readperf diff before.data after.data
  readperf diff --by comm,dso,function --normalize time before.data after.data
  readperf diff --base b1.data --base b2.data b3.data a1.data a2.data a3.data   # three a side
  readperf diff --fail-over 5% --normalize none --base m1.data m2.data b1.data b2.data || echo slower

Chance is the probability that a change like this is noise, adjusted for the number of rows. It
takes several recordings a side (shown as mean ± deviation); where only one side has several, a
change has to be beyond what they differ by and beyond what so few samples tell. With one recording
a side it is not known how much runs differ: then the numbers of samples only tell where nothing
can be said to have changed, and --fail-over fails on nothing without --fail-on-single.

Binaries are matched by name, generated code of all processes is one. What has other names before
and after is matched by its functions, and that is said.";

    fn run(&self) -> anyhow::Result<Outcome> {
        let mut issues = Vec::new();
        let old = std::iter::once(&self.first).chain(&self.base);
        let base: Vec<Tally> =
            old.map(|file| self.tally(file, &mut issues)).collect::<anyhow::Result<_>>()?;
        let new: Vec<Tally> =
            self.new.iter().map(|file| self.tally(file, &mut issues)).collect::<anyhow::Result<_>>()?;
        let compared = diff::compare(&base, &new, self.normalize());
        if let Some(told) = compared.matching.told() {
            say(&format!("names differ: {told}"));
        }
        let options = self.diff_options();
        let inputs: Vec<Input> = [&self.first]
            .into_iter()
            .chain(&self.base)
            .chain(&self.new)
            .map(|file| self.input(file))
            .collect();
        let mut out = self.profile.output.open(&inputs.iter().collect::<Vec<_>>())?;
        if self.json {
            output::write_json(&mut out, &compared, &options)?;
        } else if self.csv {
            output::write_csv(&mut out, &compared, &options)?;
        } else {
            output::write(&mut out, &compared, &options)?;
        }
        let regressed = self.fail_over.is_some_and(|limit| self.regressed(&compared, limit));
        Outcome { others: issues, strict: self.reading.strict, regressed, ..Outcome::default() }
            .publishing(out.complete()?)
    }
}

/// How long was recorded: from the first sample to the last, whatever thread and event, in each range of time that counts.
/// What does not count otherwise is no reason to take the time for shorter.
#[derive(Debug)]
struct Recorded {
    /// Ranges of times in ns.
    ranges: Vec<(RangeInclusive<u64>, Met)>,
}

/// The first and the last time met in a range, which no range before it has.
type Met = Option<(u64, u64)>;

impl Recorded {
    fn new(ranges: &[RangeInclusive<u64>]) -> Self {
        let all = ranges.is_empty().then_some(0..=u64::MAX);
        Recorded { ranges: ranges.iter().cloned().chain(all).map(|range| (range, None)).collect() }
    }

    fn add(&mut self, moment: &Moment<'_>) {
        let Moment::Sample(SampleMoment { time_ns, .. }) = *moment else { return };
        let found = self.ranges.iter_mut().find(|(range, _)| time_ns > 0 && range.contains(&time_ns));
        if let Some((_, met)) = found {
            let (first, last) = met.unwrap_or((time_ns, time_ns));
            *met = Some((first.min(time_ns), last.max(time_ns)));
        }
    }

    fn seconds(&self) -> f64 {
        let lengths = self.ranges.iter().filter_map(|(_, met)| *met);
        let ns = lengths.fold(0u64, |sum, (first, last)| sum.saturating_add(last - first));
        // Counts of ns in a recording do not reach 2^53: that is 104 days.
        #[allow(clippy::cast_precision_loss)]
        let ns = ns as f64;
        ns / 1e9
    }
}

impl Diff {
    /// One of the recordings.
    fn input(&self, file: &Path) -> Input {
        Input::of(file.to_owned(), &self.reading)
    }

    /// The numbers of one recording.
    fn tally(&self, file: &Path, issues: &mut Vec<(String, Issues)>) -> anyhow::Result<Tally> {
        let input = self.input(file);
        let recording = input.open()?;
        let lines = self.by.contains(&By::Srcline);
        let stacks = self.profile.names.needs_stacks() || self.stacks.needs_stacks();
        let keep = Keep { stacks, ..Keep::default() };
        let wanted = Wanted { keep, lines, inlines: lines, samples: true, ..Wanted::default() };
        let filter = self.profile.samples.filter(&recording)?;
        let mut recorded = Recorded::new(&filter.times_ns);
        let mut analysis = self.profile.read(&input, &recording, filter, &wanted, |_, chunk| {
            chunk.entries().iter().for_each(|entry| recorded.add(&entry.moment));
        })?;
        analysis.profile.choose(&self.profile.selection(&self.stacks), &analysis.session);
        let seconds = recorded.seconds();
        if analysis.profile.rows().is_empty() {
            say(&format!("{}: no samples", input.name()));
        } else if seconds == 0.0 && matches!(self.normalize, Scale::Time) {
            say(&format!("{}: no two samples have different times: periods are not divided", input.name()));
        }
        let tally = Tally::of(&analysis.profile, &analysis.session, &self.keys(), seconds);
        issues.push((input.name(), analysis.issues));
        Ok(tally)
    }

    fn keys(&self) -> Vec<DiffKey> {
        let key = |by: &By| match by {
            By::Function => DiffKey::Function,
            By::Dso => DiffKey::Dso,
            By::Comm => DiffKey::Comm,
            By::Srcline => DiffKey::SourceLine,
        };
        self.by.iter().map(key).collect()
    }

    fn normalize(&self) -> Normalize {
        match self.normalize {
            Scale::Total => Normalize::Total,
            Scale::Samples => Normalize::Samples,
            Scale::Time => Normalize::Time,
            Scale::None => Normalize::Nothing,
        }
    }

    fn diff_options(&self) -> DiffOptions {
        DiffOptions {
            keys: self.keys(),
            normalize: self.normalize(),
            order: match self.sort {
                Sort::Delta => DiffOrder::Delta,
                Sort::Ratio => DiffOrder::Ratio,
                Sort::Weighted => DiffOrder::Weighted,
            },
            weights: self.weights,
            level: self.level,
            least: self.percent_limit,
            some_chosen: {
                let given = self.profile.samples.given().chain(self.profile.names.given());
                given.chain(self.stacks.given()).next().is_some()
            },
            width: self.name_width.columns(&self.profile.output),
        }
    }

    /// Whether a row has grown too much; says which. One recording a side does not tell how much runs differ.
    fn regressed(&self, compared: &Comparison, limit: f64) -> bool {
        let fails = compared.spread_known() || self.fail_on_single;
        let but = match fails {
            true => "",
            false => {
                "; with one recording a side it is not known how much runs differ (--fail-on-single fails all the same)"
            }
        };
        let (both_sided, one_sided): (Vec<&EventDiff>, Vec<&EventDiff>) =
            compared.events.iter().partition(|event| event.presence() == Presence::Both);
        for event in &one_sided {
            let side = output::only_side(event.presence()).unwrap_or_default();
            say(&format!(
                "{}: this event is only in the {side} recordings: nothing is compared",
                event.event
            ));
        }
        // Nobody may take it for a comparison without regressions.
        if both_sided.is_empty() && !one_sided.is_empty() {
            return true;
        }
        let mut any = false;
        for event in both_sided {
            for row in &event.rows {
                let grown = event.percent_of_base(row.delta());
                if grown > limit && row.p.is_some_and(|p| p < self.level) {
                    any = true;
                    let row = row.key.join(" ");
                    say(&format!("{}: {row} has grown by {grown:.2} % of the total{but}", event.event));
                }
            }
        }
        any && fails
    }
}
