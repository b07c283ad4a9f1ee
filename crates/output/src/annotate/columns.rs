//! Columns of numbers beside code.

use super::Annotation;
use crate::overview::share;
use crate::text::grouped;
use readperf_profile::view::flame_tree::Sum;
use readperf_profile::view::listing::{Listing, Numbers};

/// What a number says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The share, in percent.
    Share,
    /// How many samples.
    Samples,
    /// The sum of their periods.
    Period,
}

/// What 100 % is, and what shares are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareOf {
    /// All samples of the event that are chosen, instead of those of the function.
    pub global: bool,
    /// Numbers of samples instead of periods.
    pub hits: bool,
}

impl ShareOf {
    /// The share of some samples in percent.
    pub(super) fn share(self, sum: Sum, whole: Sum) -> f64 {
        if self.hits { share(sum.samples, whole.samples) } else { share(sum.period, whole.period) }
    }

    /// What 100 % is for an event of a listing.
    pub(super) fn whole(self, annotation: &Annotation<'_>, listing: &Listing, event: usize) -> Sum {
        if self.global {
            let total = annotation.profile.events().get(event);
            return total
                .map_or_else(Sum::default, |total| Sum { period: total.period, samples: total.samples });
        }
        listing.numbers.get(event).map_or_else(Sum::default, |numbers| numbers.own)
    }
}

/// A column.
#[derive(Clone, Copy, Debug)]
struct Column {
    event: usize,
    measure: Measure,
    /// Whether what is called or inlined counts, too.
    total: bool,
    whole: Sum,
    width: usize,
}

/// The columns of a listing.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    columns: Vec<Column>,
    share_of: ShareOf,
    /// The names of the events, if there are several.
    events: Vec<(String, usize)>,
}

impl Columns {
    pub(super) fn new(annotation: &Annotation<'_>, listing: &Listing) -> Columns {
        let mut columns: Vec<Column> = Vec::new();
        let events = annotation.events();
        let mut heads = Vec::new();
        for event in &events {
            let first = columns.len();
            let whole = annotation.share_of.whole(annotation, listing, *event);
            for measure in annotation.measures {
                for total in [false, true].into_iter().filter(|total| annotation.inclusive || !total) {
                    let most = listing.numbers.get(*event).copied().unwrap_or_default();
                    let most = if total { most.total } else { most.own };
                    let head = head(*measure, annotation.inclusive, total);
                    let widest = match measure {
                        Measure::Share => "100.00".len(),
                        Measure::Samples => grouped(most.samples).len(),
                        Measure::Period => grouped(most.period).len(),
                    };
                    let width = widest.max(head.len());
                    columns.push(Column { event: *event, measure: *measure, total, whole, width });
                }
            }
            let width = columns.iter().skip(first).map(|column| column.width + 2).sum::<usize>();
            let name = annotation.profile.events().get(*event).map_or("", |event| &event.name);
            heads.push((crate::text::shown(name).into_owned(), width));
        }
        // The name of an event fits over its columns.
        for (name, width) in heads.iter_mut().filter(|_| events.len() > 1) {
            *name = crate::short_name::without_middle(name, (*width).saturating_sub(1)).into_owned();
        }
        let events = if events.len() > 1 { heads } else { Vec::new() };
        Columns { columns, share_of: annotation.share_of, events }
    }

    /// The lines over the columns: the events, if there are several, and what the numbers are.
    pub(super) fn heads(&self, inclusive: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.events.is_empty() {
            lines.push(self.events.iter().map(|(name, width)| format!("{name:>width$}")).collect());
        }
        let heads = self.columns.iter().map(|column| {
            format!("  {:>width$}", head(column.measure, inclusive, column.total), width = column.width)
        });
        lines.push(heads.collect());
        lines
    }

    /// The numbers of a row; what is nothing is left blank.
    pub(super) fn cells(&self, numbers: &[Numbers]) -> String {
        let mut text = String::new();
        for (column, (cell, _)) in self.columns.iter().zip(self.list(numbers)) {
            text.push_str(&format!("  {cell:>width$}", width = column.width));
        }
        text
    }

    /// The numbers of a row, each with the share that it stands for; what is nothing is empty.
    pub(super) fn list(&self, numbers: &[Numbers]) -> Vec<(String, f64)> {
        let cells = self.columns.iter().map(|column| {
            let numbers = numbers.get(column.event).copied().unwrap_or_default();
            let sum = if column.total { numbers.total } else { numbers.own };
            let share = self.share_of.share(sum, column.whole);
            let cell = match column.measure {
                _ if sum == Sum::default() => String::new(),
                Measure::Share => format!("{share:.2}"),
                Measure::Samples => grouped(sum.samples),
                Measure::Period => grouped(sum.period),
            };
            (cell, share)
        });
        cells.collect()
    }

    /// What stands over each column: the event, if there are several, and what the numbers are.
    pub(super) fn titles(&self, annotation: &Annotation<'_>) -> Vec<(String, &'static str)> {
        let titles = self.columns.iter().map(|column| {
            let event = annotation.profile.events().get(column.event).filter(|_| !self.events.is_empty());
            let event = event.map_or_else(String::new, |event| event.name.clone());
            (event, head(column.measure, annotation.inclusive, column.total))
        });
        titles.collect()
    }

    /// The highest share of a row, by which it is coloured.
    pub(super) fn heat(&self, numbers: &[Numbers]) -> f64 {
        let shares = self.columns.iter().map(|column| {
            let numbers = numbers.get(column.event).copied().unwrap_or_default();
            self.share_of.share(numbers.own, column.whole)
        });
        shares.fold(0.0, f64::max)
    }
}

fn head(measure: Measure, inclusive: bool, total: bool) -> &'static str {
    match (measure, inclusive, total) {
        (Measure::Share, false, _) => "%",
        (Measure::Share, true, false) => "self %",
        (Measure::Share, true, true) => "total %",
        (Measure::Samples, false, _) => "samples",
        (Measure::Samples, true, false) => "self samples",
        (Measure::Samples, true, true) => "total samples",
        (Measure::Period, false, _) => "period",
        (Measure::Period, true, false) => "self period",
        (Measure::Period, true, true) => "total period",
    }
}
