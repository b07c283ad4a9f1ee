//! The rows: what samples add up to by sort keys, as `report` has them.

use readperf_profile::profile::EventTotal;
use readperf_profile::view::column::Column;
use readperf_profile::view::facts::Facts;
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::histogram::{Histogram, HistogramOptions, HistogramTables, RowValues};
use readperf_profile::view::key::{KeyUse, by_name};
use readperf_profile::view::row_paths::{Room, RowPaths};
use readperf_profile::{Profile, Whole};

/// What makes rows, and how they are sorted.
#[derive(Clone, Debug, PartialEq)]
pub struct RowOptions {
    /// What makes a row.
    pub keys: Vec<KeyUse>,
    /// By which columns rows are sorted, the first first.
    pub order: Vec<Column>,
    /// Whether rows have sums over their stacks.
    pub children: bool,
    /// Whether inlined functions are levels of a stack.
    pub inline: bool,
    /// Whether rows have sums by mode of the CPU.
    pub by_mode: bool,
    /// Whether only rows of functions with a name are shown.
    pub named: bool,
    /// What 100 % is.
    pub whole: Whole,
    /// Rows below this share, in percent, are only counted; so are branches of calls.
    pub least_percent: f64,
    /// How many threads may add up; one if 0. The result is the same.
    pub threads: usize,
}

/// The keys of rows if nobody says: thread name, binary, function.
pub fn default_keys() -> Vec<KeyUse> {
    ["comm", "dso", "symbol"].into_iter().filter_map(by_name).map(KeyUse::from).collect()
}

impl Default for RowOptions {
    fn default() -> Self {
        RowOptions {
            keys: default_keys(),
            order: vec![Column::Children],
            children: true,
            inline: true,
            by_mode: false,
            named: false,
            whole: Whole::default(),
            least_percent: 0.0,
            threads: 0,
        }
    }
}

impl RowOptions {
    /// Whether rows by other options are the same but for their order.
    pub(crate) fn only_order_differs(&self, other: &RowOptions) -> bool {
        RowOptions { order: other.order.clone(), ..self.clone() } == *other
    }

    /// How histograms are made for this.
    pub(crate) fn histogram(&self, profile: &Profile) -> HistogramOptions {
        HistogramOptions {
            keys: self.keys.clone(),
            children: self.children,
            inline: self.inline,
            by_mode: self.by_mode,
            graph: None,
            whole: self.whole.totals(profile).iter().map(|total| total.period).collect(),
            percent_limit: self.least_percent,
            threads: self.threads,
        }
    }
}

/// The rows of the event that is looked at, sorted.
#[derive(Debug)]
pub struct Rows<'e> {
    /// The rows.
    pub histogram: &'e Histogram,
    /// Names.
    pub facts: Facts<'e>,
    /// What the keys of rows say.
    pub values: &'e RowValues,
    /// The period that is 100 %.
    pub whole: u64,
}

/// Rows as they are kept.
#[derive(Debug, Default)]
pub(crate) struct KeptRows {
    pub(crate) histogram: Option<Histogram>,
    pub(crate) tables: HistogramTables,
}

impl KeptRows {
    /// The rows by some options, which choose the paths, too.
    pub(crate) fn histogram(
        facts: &Facts<'_>,
        options: &RowOptions,
        made_with: &HistogramOptions,
        paths: &RowPaths,
        samples: (&[Sum], EventTotal),
        room: &mut Room,
    ) -> Option<Histogram> {
        let mut histogram = paths.histogram(facts, made_with, &options.order, samples, room)?;
        if options.named {
            histogram.retain_named(facts, paths.values());
        }
        Some(histogram)
    }
}
