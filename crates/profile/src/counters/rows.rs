//! A round as a table: one row per event and place, in the order of the events.

use super::metric::{Divisors, Metric};
use super::place::CounterPlace;
use super::{Counters, Mode, Reading, Round};
use perffile::Schema;
use std::collections::BTreeMap;

/// One event at one place.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRow {
    /// Index of the event.
    pub event: usize,
    /// What it is about.
    pub place: CounterPlace,
    /// The sum of what was counted there.
    pub reading: Reading,
    /// The count as it is to be shown, in the kernel's unit; nothing if the event was not counted.
    pub count: Option<u64>,
    /// What follows from it and its neighbours.
    pub metric: Option<Metric>,
}

impl CounterRow {
    /// The count in the event's unit: by the scale that the recording tells.
    pub fn value(&self, schema: &Schema) -> Option<f64> {
        let scale = schema.event(self.event).and_then(|event| event.scale).filter(|scale| scale.is_finite());
        let scale = scale.unwrap_or(1.0);
        // Most scales are one part of a whole number: 1e-6, 2^-32. Dividing by that gives 0.617828 and not 0.6178279999999999.
        let parts = (1.0 / scale).round();
        let is_part = parts > 1.0 && (parts * scale - 1.0).abs() < 1e-12;
        self.count.map(|count| if is_part { count as f64 / parts } else { count as f64 * scale })
    }

    /// Which part of the time it was wanted the event was on the hardware, in percent.
    pub fn running_percent(&self) -> Option<f64> {
        let Reading { enabled_ns, running_ns, .. } = self.reading;
        (enabled_ns > 0).then(|| running_ns as f64 * 100.0 / enabled_ns as f64)
    }
}

impl Counters {
    /// The rows of a round. Threads are ordered by their count, the largest first; CPUs by number.
    pub fn rows(&self, round: &Round, mode: Mode, schema: &Schema) -> Vec<CounterRow> {
        let mut sums: BTreeMap<(usize, CounterPlace), Reading> = BTreeMap::new();
        for (owner, reading) in &round.readings {
            let place = match mode {
                Mode::Total => CounterPlace::All,
                Mode::Cpu | Mode::Topology(_) => CounterPlace::Cpu(owner.cpu),
                Mode::Thread => CounterPlace::Thread(owner.thread),
            };
            sums.entry((owner.event, place)).or_default().add(reading);
        }
        let mut divisors = Divisors::default();
        for (&(event, place), reading) in &sums {
            if let (Some(event), Some(count)) = (schema.event(event), self.count(reading)) {
                divisors.add(place, &event.attr, count);
            }
        }
        let row = |(&(event, place), &reading): (&(usize, CounterPlace), &Reading)| {
            let count = self.count(&reading);
            let attr = schema.event(event).map(|event| &event.attr);
            let metric = count
                .zip(attr)
                .and_then(|(count, attr)| divisors.metric(place, attr, count, round.length_ns));
            CounterRow { event, place, reading, count, metric }
        };
        let mut rows: Vec<CounterRow> = sums.iter().map(row).collect();
        if mode == Mode::Thread {
            rows.sort_by_key(|row| (row.event, std::cmp::Reverse(row.count), row.place));
        }
        rows
    }

    fn count(&self, reading: &Reading) -> Option<u64> {
        if self.scale { reading.projected() } else { reading.is_counted().then_some(reading.count) }
    }
}
