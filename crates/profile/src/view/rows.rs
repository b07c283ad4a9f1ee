//! The rows of a histogram and what they add up to.

use super::facts::Facts;
use super::graph::{Graph, least};
use crate::profile::EventTotal;
use crate::value::Value;
use perffile::wire::head::CpuMode;
use rustc_hash::FxHashMap;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// How many samples were taken there.
    pub samples: u64,
    /// Sum of their periods.
    pub self_period: u64,
    /// Sum of the periods of all samples with this row in their stack; without children the same as `self_period`.
    pub total_period: u64,
    /// `self_period` by mode.
    pub by_mode: ByMode,
}

impl Numbers {
    /// Adds those of other samples.
    pub fn add(&mut self, other: &Numbers) {
        self.combine(other, u64::wrapping_add);
    }

    /// Puts something of both in the place of each number.
    pub fn combine(&mut self, other: &Numbers, of_both: impl Fn(u64, u64) -> u64) {
        let ByMode { kernel, user, guest_kernel, guest_user } = other.by_mode;
        let pairs = [
            (&mut self.samples, other.samples),
            (&mut self.self_period, other.self_period),
            (&mut self.total_period, other.total_period),
            (&mut self.by_mode.kernel, kernel),
            (&mut self.by_mode.user, user),
            (&mut self.by_mode.guest_kernel, guest_kernel),
            (&mut self.by_mode.guest_user, guest_user),
        ];
        for (sum, more) in pairs {
            *sum = of_both(*sum, more);
        }
    }
}

/// A row of a histogram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramRow {
    /// What the keys say, in their order.
    pub values: Box<[Value]>,
    /// What its samples add up to.
    pub numbers: Numbers,
    /// The same for the other events of a group, in their order.
    pub others: Box<[Numbers]>,
    /// Its call graph, if asked for.
    pub graph: Graph,
}

/// The numbers of a row for all events of a group, and the call graph of the first.
type AllNumbers = (Vec<Numbers>, Graph);

/// The histogram of one event, or of a group.
#[derive(Clone, Debug)]
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
    /// What is not among them.
    pub left_out: LeftOut,
}

impl Histogram {
    /// Histograms of several events side by side; the first one leads, and call graphs are those of its rows. `None` if
    /// there is none.
    pub fn side_by_side(histograms: Vec<Histogram>) -> Option<Histogram> {
        let count = histograms.len();
        let mut rows: FxHashMap<Box<[Value]>, AllNumbers> = FxHashMap::default();
        let mut totals = Vec::new();
        let other_events = histograms.iter().skip(1).map(|histogram| histogram.event).collect();
        let event = histograms.first()?.event;
        for (nr, histogram) in histograms.into_iter().enumerate() {
            totals.push(histogram.total);
            for row in histogram.rows {
                let (all, graph) = rows
                    .entry(row.values)
                    .or_insert_with(|| (vec![Numbers::default(); count], Graph::default()));
                if let Some(numbers) = all.get_mut(nr) {
                    *numbers = row.numbers;
                }
                if nr == 0 {
                    *graph = row.graph;
                }
            }
        }
        let row = |(values, (mut all, graph)): (_, (Vec<Numbers>, _))| {
            let others = all.split_off(1.min(all.len()));
            HistogramRow { values, numbers: all.pop().unwrap_or_default(), others: others.into(), graph }
        };
        let rows = rows.into_iter().map(row).collect();
        let others = totals.split_off(1);
        let left_out = LeftOut::default();
        Some(Histogram { event, total: totals.pop()?, others, other_events, rows, left_out })
    }
}

impl Histogram {
    /// Takes away rows of functions without a name; nothing is said of them.
    pub fn retain_named(&mut self, facts: &Facts<'_>) {
        let named = |value: &Value| match value {
            Value::Function { function, .. } => {
                facts.profile.names().function(*function).is_some_and(|function| function.name().is_some())
            }
            _ => true,
        };
        self.rows.retain(|row| row.values.iter().all(named));
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
