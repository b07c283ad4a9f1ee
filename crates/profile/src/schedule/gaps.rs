//! Times in which switches are missing: something was lost there, or a thread gives a CPU up that another one had.
//!
//! A loss can hide any number of switches. Where one thread follows another that has not left, one is missing (the kernel
//! leaves out a tracepoint within another): that speaks against what is told of that CPU, but not against all who waited.

use super::log::Switch;
use rustc_hash::FxHashMap;

/// Of a thread that exits: it is nobody any more when it is switched out.
pub(super) const GONE: Option<u32> = Some(u32::MAX);
/// What share of the switches of a CPU may be missing, in percent. Of a recording of some threads most are.
const MOST_MISSING: u64 = 25;

/// A time without the switches of a CPU, or of any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Gap {
    from_ns: u64,
    to_ns: u64,
    cpu: Option<u32>,
    lost: bool,
}

/// Times, ascending, none of which touch.
#[derive(Debug, Default)]
struct Times(Vec<(u64, u64)>);

impl Times {
    fn of(gaps: impl Iterator<Item = Gap>) -> Times {
        let mut all: Vec<(u64, u64)> = gaps.map(|gap| (gap.from_ns, gap.to_ns)).collect();
        all.sort_unstable();
        let mut times: Vec<(u64, u64)> = Vec::new();
        for (from, to) in all {
            match times.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => times.push((from, to)),
            }
        }
        Times(times)
    }

    /// Whether one of them has more than an end in common with a time.
    fn meets(&self, from_ns: u64, to_ns: u64) -> bool {
        let next = self.0.partition_point(|(_, to)| *to <= from_ns);
        self.0.get(next).is_some_and(|(from, _)| *from < to_ns)
    }
}

/// The gaps of a recording.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// Of every CPU that has any.
    by_cpu: FxHashMap<u32, Times>,
    of_no_cpu: Times,
    /// Those where something was lost, wherever.
    lost: Times,
    /// Whether there are so many that not all threads can have been recorded.
    pub(super) of_some_threads: bool,
}

impl Gaps {
    /// Finds them: `switches` and `lost` are in order of time.
    pub(super) fn find(switches: &[Switch], lost: &[(u64, Option<u32>)]) -> Gaps {
        let gaps = list(switches, lost);
        let mut cpus: FxHashMap<u32, Vec<Gap>> = FxHashMap::default();
        for gap in &gaps {
            if let Some(cpu) = gap.cpu {
                cpus.entry(cpu).or_default().push(*gap);
            }
        }
        Gaps {
            by_cpu: cpus.into_iter().map(|(cpu, gaps)| (cpu, Times::of(gaps.into_iter()))).collect(),
            of_no_cpu: Times::of(gaps.iter().copied().filter(|gap| gap.cpu.is_none())),
            of_some_threads: is_of_some_threads(&gaps, switches),
            lost: Times::of(gaps.into_iter().filter(|gap| gap.lost)),
        }
    }

    /// Whether a thread that seems to have had a CPU may have given it up in between.
    pub(super) fn on_cpu(&self, cpu: Option<u32>, from_ns: u64, to_ns: u64) -> bool {
        match cpu {
            None => self.lost.meets(from_ns, to_ns),
            Some(cpu) => {
                let of_cpu = self.by_cpu.get(&cpu).is_some_and(|times| times.meets(from_ns, to_ns));
                of_cpu || self.of_no_cpu.meets(from_ns, to_ns)
            }
        }
    }

    /// Whether a thread that seems to have had no CPU may have had one in between.
    pub(super) fn off_cpu(&self, from_ns: u64, to_ns: u64) -> bool {
        self.lost.meets(from_ns, to_ns)
    }
}

fn is_of_some_threads(gaps: &[Gap], switches: &[Switch]) -> bool {
    let missing = gaps.iter().filter(|gap| !gap.lost).count();
    let out = switches.iter().filter(|switch| switch.is_out()).count();
    u64::try_from(missing).unwrap_or(u64::MAX).saturating_mul(100)
        > u64::try_from(out).unwrap_or(u64::MAX).saturating_mul(MOST_MISSING)
}

/// What is known of a CPU: when it was switched last, and who has it since.
struct Cpu {
    since_ns: u64,
    tid: Option<u32>,
}

fn list(switches: &[Switch], lost: &[(u64, Option<u32>)]) -> Vec<Gap> {
    let mut gaps = Vec::new();
    let mut cpus: FxHashMap<u32, Cpu> = FxHashMap::default();
    let mut lost = lost.iter().peekable();
    let mut last_ns = 0;
    for switch in switches {
        let time_ns = switch.mark.time_ns;
        while let Some((lost_ns, cpu)) = lost.next_if(|(lost_ns, _)| *lost_ns <= time_ns) {
            gaps.push(gap_of_loss(*lost_ns, *cpu, last_ns, &mut cpus));
        }
        last_ns = time_ns;
        let Some(cpu) = switch.mark.cpu else { continue };
        if let Some(known) = cpus.get(&cpu) {
            // Who gives a CPU up has had it; and nobody gets one that another has.
            let fits = match switch.is_out() {
                true => known.tid == switch.tid || switch.tid == GONE,
                false => known.tid.is_none(),
            };
            if !fits {
                gaps.push(Gap { from_ns: known.since_ns, to_ns: time_ns, cpu: Some(cpu), lost: false });
            }
        }
        let tid = if switch.is_out() { None } else { switch.tid };
        cpus.insert(cpu, Cpu { since_ns: time_ns, tid });
    }
    gaps.extend(lost.map(|(lost_ns, cpu)| gap_of_loss(*lost_ns, *cpu, last_ns, &mut cpus)));
    gaps
}

/// What was lost came after the last switch that is known of the CPU. Who has it then is not known.
fn gap_of_loss(lost_ns: u64, cpu: Option<u32>, last_ns: u64, cpus: &mut FxHashMap<u32, Cpu>) -> Gap {
    let since = match cpu {
        Some(cpu) => cpus.remove(&cpu).map(|known| known.since_ns),
        None => {
            cpus.clear();
            Some(last_ns)
        }
    };
    Gap { from_ns: since.unwrap_or(0).min(lost_ns), to_ns: lost_ns, cpu, lost: true }
}
