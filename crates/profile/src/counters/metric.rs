//! What follows from a count and those beside it: rates and ratios.

use super::place::CounterPlace;
use perffile::wire::attr::{AttrFlags, EventAttr};
use perffile::wire::event_type::{EventType, HardwareEvent, SoftwareEvent};
use std::collections::BTreeMap;

/// A figure made of two counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    /// Time on CPUs by time that went by.
    CpusUtilized(f64),
    /// Events by second of CPU time.
    PerSecond(f64),
    /// Cycles by nanosecond of CPU time.
    Gigahertz(f64),
    /// Instructions by cycle.
    InstructionsPerCycle(f64),
    /// Percent of the branches.
    PercentOfBranches(f64),
    /// Percent of the cache references.
    PercentOfCacheReferences(f64),
}

impl Metric {
    /// The figure.
    pub fn value(self) -> f64 {
        match self {
            Metric::CpusUtilized(value)
            | Metric::PerSecond(value)
            | Metric::Gigahertz(value)
            | Metric::InstructionsPerCycle(value)
            | Metric::PercentOfBranches(value)
            | Metric::PercentOfCacheReferences(value) => value,
        }
    }

    /// What it counts.
    pub fn unit(self) -> &'static str {
        match self {
            Metric::CpusUtilized(_) => "CPUs utilized",
            Metric::PerSecond(_) => "per second",
            Metric::Gigahertz(_) => "GHz",
            Metric::InstructionsPerCycle(_) => "insn per cycle",
            Metric::PercentOfBranches(_) => "% of all branches",
            Metric::PercentOfCacheReferences(_) => "% of all cache references",
        }
    }
}

/// Type and `config` of an event.
type Identity = (EventType, u64);

const CYCLES: Identity = hardware(HardwareEvent::CYCLES);
const INSTRUCTIONS: Identity = hardware(HardwareEvent::INSTRUCTIONS);
const CACHE_REFERENCES: Identity = hardware(HardwareEvent::CACHE_REFERENCES);
const CACHE_MISSES: Identity = hardware(HardwareEvent::CACHE_MISSES);
const BRANCHES: Identity = hardware(HardwareEvent::BRANCHES);
const BRANCH_MISSES: Identity = hardware(HardwareEvent::BRANCH_MISSES);
const CPU_CLOCK: Identity = (EventType::SOFTWARE, SoftwareEvent::CPU_CLOCK.0);
const TASK_CLOCK: Identity = (EventType::SOFTWARE, SoftwareEvent::TASK_CLOCK.0);

const fn hardware(event: HardwareEvent) -> Identity {
    (EventType::HARDWARE, event.0)
}

/// The modes in which an event counts: a ratio makes sense between events that count in the same ones only.
const MODES: u64 = AttrFlags::exclude_user.0
    | AttrFlags::exclude_kernel.0
    | AttrFlags::exclude_hv.0
    | AttrFlags::exclude_idle.0
    | AttrFlags::exclude_host.0;

/// What the metrics of a round divide by, at each place.
#[derive(Debug, Default)]
pub(super) struct Divisors {
    counts: BTreeMap<(CounterPlace, Identity, u64), u64>,
    clocks_ns: BTreeMap<CounterPlace, u64>,
}

impl Divisors {
    /// Notes a count, if it is one to divide by. The first of several of a kind stays.
    pub(super) fn add(&mut self, place: CounterPlace, attr: &EventAttr, count: u64) {
        if count == 0 {
            return;
        }
        match identity(attr) {
            CPU_CLOCK | TASK_CLOCK => {
                self.clocks_ns.entry(place).or_insert(count);
            }
            event @ (CYCLES | BRANCHES | CACHE_REFERENCES) => {
                self.counts.entry((place, event, modes(attr))).or_insert(count);
            }
            _ => {}
        }
    }

    /// The metric of a count that took `length_ns` by the clock on the wall.
    pub(super) fn metric(
        &self,
        place: CounterPlace,
        attr: &EventAttr,
        count: u64,
        length_ns: u64,
    ) -> Option<Metric> {
        let value = count as f64;
        let by = |event| self.counts.get(&(place, event, modes(attr))).map(|count| *count as f64);
        let ratio = match identity(attr) {
            CPU_CLOCK | TASK_CLOCK => {
                return (length_ns > 0).then(|| Metric::CpusUtilized(value / length_ns as f64));
            }
            INSTRUCTIONS => by(CYCLES).map(|cycles| Metric::InstructionsPerCycle(value / cycles)),
            BRANCH_MISSES => by(BRANCHES).map(|all| Metric::PercentOfBranches(value * 100.0 / all)),
            CACHE_MISSES => {
                by(CACHE_REFERENCES).map(|all| Metric::PercentOfCacheReferences(value * 100.0 / all))
            }
            _ => None,
        };
        ratio.or_else(|| {
            let clock_ns = *self.clocks_ns.get(&place)? as f64;
            Some(match identity(attr) {
                CYCLES => Metric::Gigahertz(value / clock_ns),
                _ => Metric::PerSecond(value * 1e9 / clock_ns),
            })
        })
    }
}

fn identity(attr: &EventAttr) -> Identity {
    (attr.kind, attr.config)
}

fn modes(attr: &EventAttr) -> u64 {
    attr.flags.0 & MODES
}
