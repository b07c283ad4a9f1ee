//! The rows of a histogram and what they add up to.

use super::facts::Facts;
use super::graph::{Graph, least};
use super::histogram::HistogramOptions;
use super::key::{KeyUse, Part};
use super::packed_graphs::PackedGraphs;
use super::place_rows::PlaceRows;
use crate::profile::EventTotal;
use crate::tuples::Tuples;
use crate::value::Value;
use perffile::wire::head::CpuMode;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rows that are below the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// How many.
    pub rows: u64,
    /// Sum of their own periods.
    pub self_period: u64,
}

/// Sums by mode of the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByMode {
    /// Kernel.
    pub kernel: u64,
    /// User.
    pub user: u64,
    /// Kernel of a guest.
    pub guest_kernel: u64,
    /// User of a guest.
    pub guest_user: u64,
}

impl ByMode {
    pub(super) fn add(&mut self, mode: CpuMode, period: u64) {
        let sum = match mode {
            CpuMode::Kernel => &mut self.kernel,
            CpuMode::User => &mut self.user,
            CpuMode::GuestKernel => &mut self.guest_kernel,
            CpuMode::GuestUser => &mut self.guest_user,
            CpuMode::Unknown | CpuMode::Hypervisor => return,
        };
        *sum = sum.wrapping_add(period);
    }
}

/// What the samples of a row add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// How many samples were taken there.
    pub samples: u64,
    /// Sum of their periods.
    pub self_period: u64,
    /// Sum of the periods of all samples with this row in their stack; without children the same as `self_period`.
    pub total_period: u64,
    /// `self_period` by mode, if that was asked for and it is not 0. There may be a million rows, and hardly anybody asks.
    pub by_mode: Option<Box<ByMode>>,
}

impl Numbers {
    /// Adds those of other samples.
    pub fn add(&mut self, other: &Numbers) {
        self.combine(other, u64::wrapping_add);
    }

    /// Puts something of both in the place of each number.
    pub fn combine(&mut self, other: &Numbers, of_both: impl Fn(u64, u64) -> u64) {
        self.samples = of_both(self.samples, other.samples);
        self.self_period = of_both(self.self_period, other.self_period);
        self.total_period = of_both(self.total_period, other.total_period);
        if let Some(ByMode { kernel, user, guest_kernel, guest_user }) = other.by_mode.as_deref().copied() {
            let by_mode = self.by_mode.get_or_insert_default();
            by_mode.kernel = of_both(by_mode.kernel, kernel);
            by_mode.user = of_both(by_mode.user, user);
            by_mode.guest_kernel = of_both(by_mode.guest_kernel, guest_kernel);
            by_mode.guest_user = of_both(by_mode.guest_user, guest_user);
        }
    }
}

/// What a row is: numbers of what its keys say, see [`RowValues`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowKey {
    /// That of what the keys of the sample say.
    pub sample: u32,
    /// That of what the keys of the place say.
    pub place: u32,
}

/// What the keys of all rows say. There may be as many rows as there are places: they hold numbers, and values are looked up.
#[derive(Clone, Debug, Default)]
pub struct RowValues {
    /// Of keys that say something of the sample.
    pub(super) samples: Tuples,
    /// Of keys that say something of the place.
    pub(super) places: Arc<PlaceRows>,
    /// For each key, whether it is one of the place, and which of them.
    keys: Vec<(bool, usize)>,
}

impl RowValues {
    /// No values of samples yet.
    pub(super) fn new(keys: &[KeyUse], places: Arc<PlaceRows>) -> RowValues {
        let mut counts = [0; 2];
        let keys = keys.iter().map(|key| {
            let is_of_place = matches!(key.key.part, Part::Function(_) | Part::Place(_));
            let [of_sample, of_place] = &mut counts;
            let count = if is_of_place { of_place } else { of_sample };
            *count += 1;
            (is_of_place, *count - 1)
        });
        RowValues { keys: keys.collect(), samples: Tuples::default(), places }
    }

    /// The same with the rows of other places, which begin with those of these.
    pub(super) fn with_places(&self, places: Arc<PlaceRows>) -> RowValues {
        RowValues { samples: self.samples.clone(), places, keys: self.keys.clone() }
    }

    /// Which rows the places are in.
    pub fn places(&self) -> &Arc<PlaceRows> {
        &self.places
    }

    /// Works out which rows levels are in, if that is not known. Rows and their numbers stay the same.
    pub(super) fn learn_levels(&mut self, facts: &mut Facts<'_>, options: &HistogramOptions) {
        if !self.places.has_levels() {
            let options = HistogramOptions { children: true, graph: None, ..options.clone() };
            self.places = Arc::new(PlaceRows::new(facts, &options));
        }
    }

    /// What the key with this index says of a row.
    pub fn value(&self, row: RowKey, key: usize) -> Value {
        let Some((is_of_place, index)) = self.keys.get(key) else { return Value::Unknown };
        let value = match is_of_place {
            true => self.places.values(row.place).nth(*index),
            false => self.samples.values(row.sample).nth(*index),
        };
        value.unwrap_or_default()
    }

    /// How many keys there are.
    pub(super) fn count(&self) -> usize {
        self.keys.len()
    }

    /// Whether the key with this index says something of places.
    pub(super) fn is_of_place(&self, key: usize) -> bool {
        self.keys.get(key).is_some_and(|(is_of_place, _)| *is_of_place)
    }

    /// How many numbers of places there are in rows, or of samples.
    pub(super) fn numbers(&self, of_places: bool) -> usize {
        if of_places { self.places.len() } else { self.samples.len() }
    }

    /// Whether the ranks of what a key says of all places are known.
    pub(super) fn has_ranks(&self, key: usize) -> bool {
        self.keys.get(key).is_some_and(|(is_of_place, index)| *is_of_place && self.places.has_ranks(*index))
    }

    /// The ranks of what a key says of all places.
    pub(super) fn ranks_of_places(&self, key: usize, facts: &Facts<'_>) -> &[u32] {
        self.keys.get(key).map_or(&[], |(_, index)| self.places.ranks(*index, facts))
    }

    /// What all keys say of a row, in their order.
    pub fn values(&self, row: RowKey) -> impl Iterator<Item = Value> + '_ {
        (0..self.keys.len()).map(move |key| self.value(row, key))
    }
}

/// A row of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// What its keys say.
    pub key: RowKey,
    /// Where its call graph is, see [`Histogram::graph`].
    pub(super) graph: u64,
    /// What its samples add up to.
    pub numbers: Numbers,
    /// What the samples of the other events of a group add up to, in their order.
    pub others: Box<[Numbers]>,
}

impl HistogramRow {
    /// A row of one event, without a call graph.
    pub fn new(key: RowKey, numbers: Numbers) -> HistogramRow {
        HistogramRow { key, graph: NO_GRAPH, numbers, others: Box::default() }
    }
}

/// Where no call graph is.
pub(super) const NO_GRAPH: u64 = u64::MAX;

/// The numbers of a row for all events of a group, and the call graph of the first.
type AllNumbers = (Vec<Numbers>, u64);

/// The histogram of one event, or of a group.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// Index of the event in [`crate::Profile::events`].
    pub event: usize,
    /// The event and its totals.
    pub total: EventTotal,
    /// The other events of a group.
    pub others: Vec<EventTotal>,
    /// Their indices, as `event`.
    pub other_events: Vec<usize>,
    /// The rows, in no order yet.
    pub rows: Vec<HistogramRow>,
    /// The call graphs of rows, if they were asked for.
    pub(super) graphs: PackedGraphs,
    /// What is not among them.
    pub left_out: LeftOut,
}

impl Histogram {
    /// The call graph of a row, if it was asked for. It is unpacked here, to be let go soon.
    pub fn graph(&self, row: &HistogramRow) -> Option<Graph> {
        self.graphs.get(row.graph)
    }

    /// Histograms of several events side by side; the first one leads, and call graphs are those of its rows. `None` if
    /// there is none.
    pub fn side_by_side(histograms: Vec<Histogram>) -> Option<Histogram> {
        let count = histograms.len();
        let mut rows: FxHashMap<RowKey, AllNumbers> = FxHashMap::default();
        let (mut totals, mut graphs) = (Vec::new(), PackedGraphs::default());
        let other_events = histograms.iter().skip(1).map(|histogram| histogram.event).collect();
        let event = histograms.first()?.event;
        for (nr, histogram) in histograms.into_iter().enumerate() {
            totals.push(histogram.total);
            if nr == 0 {
                graphs = histogram.graphs;
            }
            for row in histogram.rows {
                let (all, graph) =
                    rows.entry(row.key).or_insert_with(|| (vec![Numbers::default(); count], NO_GRAPH));
                if let Some(numbers) = all.get_mut(nr) {
                    *numbers = row.numbers;
                }
                if nr == 0 {
                    *graph = row.graph;
                }
            }
        }
        let row = |(key, (mut all, graph)): (_, AllNumbers)| {
            let others = all.split_off(1.min(all.len()));
            HistogramRow { key, graph, numbers: all.pop().unwrap_or_default(), others: others.into() }
        };
        let rows = rows.into_iter().map(row).collect();
        let others = totals.split_off(1);
        let left_out = LeftOut::default();
        Some(Histogram { event, total: totals.pop()?, others, other_events, rows, graphs, left_out })
    }

    /// Takes away rows of functions without a name; nothing is said of them.
    pub fn retain_named(&mut self, facts: &Facts<'_>, values: &RowValues) {
        let named = |value: Value| match value {
            Value::Function { function, .. } => {
                facts.profile.names().function(function).is_some_and(|function| function.has_name())
            }
            _ => true,
        };
        self.rows.retain(|row| values.values(row.key).all(named));
    }

    /// Takes away rows that are below a share, in percent, of each of their events; `whole` has the periods that are 100 %.
    pub fn cut(&mut self, percent: f64, whole: &[u64]) {
        let events = std::iter::once(&self.event).chain(&self.other_events);
        let least: Vec<u64> =
            events.map(|event| least(percent, whole.get(*event).copied().unwrap_or(0))).collect();
        let left_out = &mut self.left_out;
        self.rows.retain(|row| {
            let numbers = std::iter::once(&row.numbers).chain(&row.others);
            let shown = numbers.zip(&least).any(|(numbers, least)| numbers.total_period >= *least);
            if !shown {
                left_out.rows += 1;
                left_out.self_period = left_out.self_period.wrapping_add(row.numbers.self_period);
            }
            shown
        });
    }
}
