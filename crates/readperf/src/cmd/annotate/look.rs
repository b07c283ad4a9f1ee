//! What listings look like.

use clap::{Args, ValueEnum};
use readperf::output::annotate::{Measure, ShareOf, Show};
use readperf_code::Syntax;

/// How assembly is written.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Style {
    /// As objdump writes it: mov %rsp,%rbp
    #[default]
    Att,
    /// As the manuals of the processor: mov rbp,rsp
    Intel,
}

/// What shares are of: 100 % are the samples of the function or all of them, as periods or as numbers of samples.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum PercentType {
    /// Periods, of the function
    LocalPeriod,
    /// Samples, of the function
    LocalHits,
    /// Periods, of all samples
    GlobalPeriod,
    /// Samples, of all samples
    GlobalHits,
}

/// The options.
#[derive(Args, Debug)]
pub(super) struct Look {
    /// Show no lines of source
    #[arg(long)]
    no_source: bool,

    /// Show no instructions: the lines of each function
    #[arg(long, conflicts_with = "no_source")]
    no_asm: bool,

    /// Show whole source files, and no instructions
    #[arg(long, conflicts_with_all = ["no_source", "no_asm"])]
    source_only: bool,

    /// How assembly is written (of x86)
    #[arg(short = 'M', long, value_enum, default_value_t, value_name = "STYLE")]
    disassembler_style: Style,

    /// Show the bytes of instructions
    #[arg(long)]
    pub(super) asm_raw: bool,

    /// Show numbers of samples instead of shares
    #[arg(short = 'n', long)]
    show_nr_samples: bool,

    /// Show sums of periods instead of shares
    #[arg(long)]
    show_total_period: bool,

    /// Show shares, besides numbers of samples and periods
    #[arg(long)]
    show_share: bool,

    /// What shares are of [default: local-period; with --inclusive global-period]
    #[arg(long, value_enum, value_name = "TYPE")]
    percent_type: Option<PercentType>,

    /// Use no pager
    #[arg(long)]
    pub(super) no_pager: bool,

    /// Say nothing of damage, and show no progress; the exit status tells
    #[arg(short, long)]
    pub(super) quiet: bool,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,

    /// Write a page for browsers, one file; so does -o NAME.html
    #[arg(long, conflicts_with = "json")]
    pub(super) html: bool,
}

impl Look {
    pub(super) fn syntax(&self) -> Syntax {
        match self.disassembler_style {
            Style::Att => Syntax::Att,
            Style::Intel => Syntax::Intel,
        }
    }

    pub(super) fn show(&self) -> Show {
        match (self.source_only, self.no_asm, self.no_source) {
            (true, ..) => Show::Files,
            (_, true, _) => Show::Lines,
            (.., true) => Show::Code,
            _ => Show::Both,
        }
    }

    /// The columns of numbers.
    pub(super) fn measures(&self) -> Vec<Measure> {
        let (samples, period) = (self.show_nr_samples, self.show_total_period);
        let measures = [
            (self.show_share || !samples && !period, Measure::Share),
            (samples, Measure::Samples),
            (period, Measure::Period),
        ];
        measures.into_iter().filter(|(wanted, _)| *wanted).map(|(_, measure)| measure).collect()
    }

    /// What shares are of.
    pub(super) fn share_of(&self, inclusive: bool) -> ShareOf {
        let (global, hits) = match self.percent_type {
            // What is called may be more than the function itself.
            None => (inclusive, false),
            Some(PercentType::LocalPeriod) => (false, false),
            Some(PercentType::LocalHits) => (false, true),
            Some(PercentType::GlobalPeriod) => (true, false),
            Some(PercentType::GlobalHits) => (true, true),
        };
        ShareOf { global, hits }
    }
}
