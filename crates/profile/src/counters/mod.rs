//! The counts of `perf stat record`: one value per event, CPU and thread, at the end of the run or of every interval.
//!
//! A recording tells its settings (STAT_CONFIG), its threads (THREAD_MAP), the values (STAT), and after each set of them
//! that it is complete (STAT_ROUND). With intervals the values go on growing; a round here holds what was added.

mod metric;
mod mode;
mod place;
mod rows;

pub use metric::Metric;
pub use mode::Mode;
pub use place::CounterPlace;
pub use rows::CounterRow;

use perffile::wire::feature::bit;
use perffile::wire::record::stat::Stat;
use perffile::wire::record::stat_config::{StatConfig, StatConfigTag};
use perffile::wire::record::stat_round::{StatRound, StatRoundType};
use perffile::wire::record::thread_map::ThreadMap;
use perffile::wire::text::decoded;
use perffile::wire::text::until_nul;
use perffile::{Event, Features, Issues, record_handlers};
use std::collections::BTreeMap;

/// Whose value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Owner {
    /// Index of the event.
    pub event: usize,
    /// The CPU; nothing when counted wherever the task ran.
    pub cpu: Option<u32>,
    /// Index of the thread in [`Counters::threads`].
    pub thread: u32,
}

/// A count and how long it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// As the kernel counted it, in the event's own unit.
    pub count: u64,
    /// How long the event was wanted, ns.
    pub enabled_ns: u64,
    /// How long it was on the hardware, ns: less than that where events had to take turns.
    pub running_ns: u64,
}

/// Why a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoundKind {
    /// An interval was over.
    Interval,
    /// The run was over.
    Final,
    /// What was counted behind the last interval, or a run whose recording ends without telling so. `perf stat report` leaves
    /// it out.
    Rest,
}

/// The values of one interval, or of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// Why it ended.
    pub kind: RoundKind,
    /// When it ended, ns since the start; 0 where the recording does not tell.
    pub time_ns: u64,
    /// How long it was, ns.
    pub length_ns: u64,
    /// What was counted in it.
    pub readings: BTreeMap<Owner, Reading>,
}

/// A thread that was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its id; nothing where that is "any".
    pub tid: Option<u64>,
    /// Its name at the start; empty for a command that perf itself started.
    pub comm: String,
}

/// The counts of a recording.
#[derive(Debug, Default)]
pub struct Counters {
    /// The number of the aggregation mode; its meaning depends on perf's version, see [`Counters::mode`].
    pub aggr_mode: Option<u64>,
    /// Length of the intervals in ms; 0 without.
    pub interval_ms: u64,
    /// Whether values are projected to the whole time they were enabled.
    pub scale: bool,
    /// The threads counted, in the order of their index.
    pub threads: Vec<Thread>,
    /// The values, in order of time.
    pub rounds: Vec<Round>,
    /// STAT records met.
    pub values: u64,
    /// What was wrong with records here.
    pub issues: Issues,
    /// What has been told since the last round ended.
    open: BTreeMap<Owner, Reading>,
    /// What had been counted by the end of the last round, if there are intervals.
    before: BTreeMap<Owner, Reading>,
}

record_handlers! {
    /// Whether records of this type belong to perf stat.
    fn is_of_stat;
    /// Takes in one of them.
    fn take(counters: &mut Counters, event: &Event<'_>) -> () {
        ThreadMap(map) => counters.thread_map(&map),
        StatConfig(config) => counters.config(&config),
        Stat(stat) => counters.stat(event, &stat),
        StatRound(round) => counters.end_round(&round),
    }
}

impl Counters {
    /// Counters without a count.
    pub fn new() -> Self {
        Counters { scale: true, ..Counters::default() }
    }

    /// Takes a record; those that have no part in it are passed over.
    #[inline]
    pub fn add(&mut self, event: &Event<'_>) {
        if is_of_stat(event.head().kind) {
            self.take_in(event);
        }
    }

    #[cold]
    fn take_in(&mut self, event: &Event<'_>) {
        match event.record() {
            // Others have no part in it.
            Ok((record, _)) => _ = take(record, self, event),
            Err(error) => event.tell_undecodable(&error, &mut self.issues),
        }
    }

    /// Says that all records have been seen. Values behind the last round are a round of their own; with intervals perf
    /// repeats the last values at the end, which is nothing new.
    pub fn finish(&mut self) {
        let repeated =
            self.interval_ms > 0 && self.open.iter().all(|(owner, now)| self.before.get(owner) == Some(now));
        if !repeated {
            self.close(RoundKind::Rest, 0);
        }
    }

    /// How the values were to be shown, as far as this reader knows it.
    pub fn mode(&self, features: &Features) -> Mode {
        let version = features.version();
        Mode::of_number(self.aggr_mode, version.as_deref())
    }

    /// Whether the recording is one of perf stat.
    pub fn is_stat(&self, features: &Features) -> bool {
        self.values > 0 || self.aggr_mode.is_some() || features.has(bit::STAT)
    }

    /// When the last round ended, ns since the start; 0 where the recording does not tell.
    pub fn elapsed_ns(&self) -> u64 {
        self.rounds.iter().map(|round| round.time_ns).max().unwrap_or(0)
    }

    /// All rounds as one: what was counted in the whole run.
    pub fn sum(&self) -> Round {
        let mut readings: BTreeMap<Owner, Reading> = BTreeMap::new();
        for (owner, reading) in self.rounds.iter().flat_map(|round| &round.readings) {
            readings.entry(*owner).or_default().add(reading);
        }
        let time_ns = self.elapsed_ns();
        Round { kind: RoundKind::Final, time_ns, length_ns: time_ns, readings }
    }

    fn thread_map(&mut self, map: &ThreadMap<'_>) {
        let thread = |pid: u64, comm: &[u8]| Thread {
            tid: (pid != u64::MAX && pid != u64::from(u32::MAX)).then_some(pid),
            comm: decoded(until_nul(comm)).into_owned(),
        };
        self.threads = map.threads.iter().map(|mapped| thread(mapped.pid, &mapped.comm)).collect();
    }

    fn config(&mut self, config: &StatConfig<'_>) {
        for setting in config.settings.iter() {
            match setting.tag {
                StatConfigTag::AGGR_MODE => self.aggr_mode = Some(setting.val),
                StatConfigTag::INTERVAL => self.interval_ms = setting.val,
                StatConfigTag::SCALE => self.scale = setting.val != 0,
                _ => {}
            }
        }
    }

    fn stat(&mut self, event: &Event<'_>, stat: &Stat) {
        self.values += 1;
        let Some(index) = event.event_of_count(stat, &mut self.issues) else { return };
        let owner = Owner { event: index, cpu: u32::try_from(stat.cpu).ok(), thread: stat.thread };
        let reading = Reading { count: stat.val, enabled_ns: stat.ena, running_ns: stat.run };
        // The last of two with one owner holds, as in perf.
        self.open.insert(owner, reading);
    }

    fn end_round(&mut self, round: &StatRound) {
        let kind =
            if round.round_type == StatRoundType::INTERVAL { RoundKind::Interval } else { RoundKind::Final };
        self.close(kind, round.round_time);
    }

    fn close(&mut self, kind: RoundKind, time_ns: u64) {
        let mut readings = std::mem::take(&mut self.open);
        if readings.is_empty() {
            return;
        }
        let mut length_ns = time_ns;
        if self.interval_ms > 0 {
            length_ns = time_ns.saturating_sub(self.rounds.last().map_or(0, |last| last.time_ns));
            for (owner, reading) in &mut readings {
                let now = *reading;
                if let Some(before) = self.before.insert(*owner, now) {
                    *reading = now.since(&before);
                }
            }
        }
        self.rounds.push(Round { kind, time_ns, length_ns, readings });
    }
}

impl Reading {
    fn add(&mut self, other: &Reading) {
        self.count = self.count.saturating_add(other.count);
        self.enabled_ns = self.enabled_ns.saturating_add(other.enabled_ns);
        self.running_ns = self.running_ns.saturating_add(other.running_ns);
    }

    /// What was added since an earlier reading. Counters do not run backwards; one that does has added nothing.
    fn since(&self, before: &Reading) -> Reading {
        Reading {
            count: self.count.saturating_sub(before.count),
            enabled_ns: self.enabled_ns.saturating_sub(before.enabled_ns),
            running_ns: self.running_ns.saturating_sub(before.running_ns),
        }
    }

    /// Whether the event was on the hardware at all: without that its count says nothing.
    pub fn is_counted(&self) -> bool {
        self.enabled_ns > 0 && self.running_ns > 0
    }

    /// The count, projected to the whole time the event was enabled where it had to take turns with others.
    pub fn projected(&self) -> Option<u64> {
        if !self.is_counted() {
            return None;
        }
        if self.running_ns >= self.enabled_ns {
            return Some(self.count);
        }
        let wide = u128::from(self.count) * u128::from(self.enabled_ns) / u128::from(self.running_ns);
        Some(u64::try_from(wide).unwrap_or(u64::MAX))
    }
}
