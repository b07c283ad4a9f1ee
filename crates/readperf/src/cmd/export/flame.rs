//! How flame graphs are drawn: their flags.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use readperf::output::export::flamegraph::{self, FlameOptions, Least, LeastShare, Siblings};

/// What colours mean.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Colors {
    /// The kind of code: program, kernel, generated, inlined
    #[default]
    Kind,
    /// The function's name
    Name,
}

/// How siblings are ordered.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Order {
    /// By name
    #[default]
    Name,
    /// The widest first
    Weight,
}

/// How flame graphs are drawn.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Flame graphs")]
pub(super) struct FlameArguments {
    /// Roots at the top: an icicle graph
    #[arg(long)]
    inverted: bool,

    /// From the functions that samples were taken in to their callers
    #[arg(long)]
    reverse: bool,

    /// What colours mean
    #[arg(long, value_enum, default_value_t)]
    colors: Colors,

    /// How functions with one caller are ordered
    #[arg(long, value_enum, default_value_t)]
    order: Order,

    /// Show the differences to this recording: widths are those of FILE, colours what has changed since this one; a page has them of functions
    /// and calls, too
    #[arg(long, value_name = "RECORDING")]
    pub(super) base: Option<PathBuf>,

    /// Leave out the row of process names below all functions; --base does
    #[arg(long, conflicts_with_all = ["with_comm", "with_pid", "with_tid"])]
    no_comm: bool,

    /// Keep the row of process names with --base, too
    #[arg(long)]
    with_comm: bool,

    /// Frames below this share are not drawn, in percent. Without it, a share with which 95 % of the weight is shown in full; 0.05
    /// at most
    #[arg(long, value_name = "PERCENT", value_parser = least_share)]
    min_share: Option<LeastShare>,
}

impl FlameArguments {
    /// The flags that were given, but for `--base`.
    pub(super) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let default = FlameOptions::default();
        let options = self.options();
        let all = [
            ("--inverted", options.inverted),
            ("--reverse", options.reverse),
            ("--colors", options.colors != default.colors),
            ("--order", options.siblings != default.siblings),
            ("--no-comm", self.no_comm),
            ("--with-comm", self.with_comm),
            ("--min-share", options.least != default.least),
        ];
        all.into_iter().filter_map(|(name, given)| given.then_some(name))
    }

    /// The options of the format.
    pub(super) fn options(&self) -> FlameOptions {
        FlameOptions {
            inverted: self.inverted,
            reverse: self.reverse,
            colors: match self.colors {
                Colors::Kind => flamegraph::Colors::Kind,
                Colors::Name => flamegraph::Colors::Name,
            },
            siblings: match self.order {
                Order::Name => Siblings::ByName,
                Order::Weight => Siblings::ByWeight,
            },
            comm: self.with_comm || !self.no_comm && self.base.is_none(),
            least: self.min_share.map_or(Least::ByWeight, Least::Below),
        }
    }
}

fn least_share(text: &str) -> Result<LeastShare, String> {
    let percent =
        text.trim_end_matches('%').parse::<f64>().ok().filter(|percent| (0.0..=100.0).contains(percent));
    let percent = percent.ok_or_else(|| format!("{text} is no percentage from 0 to 100"))?;
    // At most a million.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let millionths = (percent * 10_000.0).round() as u32;
    Ok(LeastShare(millionths))
}
