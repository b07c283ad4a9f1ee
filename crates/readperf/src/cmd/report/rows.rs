//! What makes rows: the options that `report` and `browse` share.

use super::arguments::{keys_help, quantum};
use crate::row_filters::RowFilters;
use clap::{Args, ValueEnum};
use readperf::output::heading::Whole;

/// What 100 % is.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Percentage {
    /// All samples of the event
    Absolute,
    /// The samples that are chosen
    #[default]
    Relative,
}

/// The options.
#[derive(Args, Debug)]
pub(crate) struct RowOptions {
    /// What makes a row: keys, separated by commas; with + before them, besides the usual ones. The keys are listed below
    #[arg(short, long, value_name = "KEYS", long_help = keys_help())]
    pub(crate) sort: Option<String>,

    /// The columns, from left to right: keys and overhead, overhead_children, overhead_sys, overhead_us, overhead_guest_sys,
    /// overhead_guest_us, sample, period; with + before them, besides the usual ones
    #[arg(short = 'F', long, value_name = "COLUMNS")]
    pub(crate) fields: Option<String>,

    /// Sum up what functions call, too [default if stacks are recorded]
    #[arg(long, overrides_with = "no_children")]
    pub(crate) children: bool,

    /// Only count samples where they were taken
    #[arg(long, overrides_with = "children")]
    pub(crate) no_children: bool,

    /// Show at most this many places of a stack, from the innermost
    #[arg(long, value_name = "N")]
    pub(crate) max_stack: Option<usize>,

    /// Do not show inlined functions as levels of stacks
    #[arg(long, overrides_with = "inline")]
    pub(crate) no_inline: bool,

    /// Show inlined functions as levels of stacks [default]
    #[arg(long, overrides_with = "no_inline")]
    pub(crate) inline: bool,

    /// Steps of the key time: 100ms, 1s, 10us
    #[arg(long, value_name = "TIME", default_value = "100ms", value_parser = quantum)]
    pub(crate) time_quantum: u64,

    /// Show fields of tracepoints as stored
    #[arg(long)]
    pub(crate) raw_trace: bool,

    /// Show memory accesses, weighted by their latency
    #[arg(long, conflicts_with = "branch_stack")]
    pub(crate) mem_mode: bool,

    /// Show branches, one sample each [default if branch stacks are recorded]
    #[arg(short, long, overrides_with = "no_branch_stack")]
    pub(crate) branch_stack: bool,

    /// Show where samples were taken, though branch stacks are recorded
    #[arg(long, overrides_with = "branch_stack")]
    pub(crate) no_branch_stack: bool,

    /// Sum up rows below this share, in percent [default: as text what would be shown as 0.00 %, else nothing]
    #[arg(long, value_name = "PERCENT")]
    pub(crate) percent_limit: Option<f64>,

    /// What 100 % is when only some samples are chosen, by whatever option; the head of the table says it
    #[arg(long, value_enum, default_value_t)]
    pub(crate) percentage: Percentage,

    #[command(flatten)]
    pub(crate) filters: RowFilters,
}

impl RowOptions {
    /// What 100 % is.
    pub(crate) fn whole(&self) -> Whole {
        match self.percentage {
            Percentage::Absolute => Whole::Recorded,
            Percentage::Relative => Whole::Chosen,
        }
    }
}
