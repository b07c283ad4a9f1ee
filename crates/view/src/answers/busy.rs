//! Who has samples, whatever is chosen of them: processes, their threads, CPUs.

use super::Answers;
use readperf_profile::Weight;
use readperf_profile::view::flame_tree::Sum;
use readperf_session::ThreadId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

/// All who have samples of an event.
#[derive(Debug)]
pub(super) struct Busy {
    /// The busiest first.
    pub(super) processes: Vec<Process>,
    /// By number, with their weights.
    pub(super) cpus: Vec<(u32, u64)>,
}

/// A process with samples.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) weight: u64,
    /// Its threads with their weights, the busiest first.
    pub(super) threads: Threads,
}

type Threads = Vec<(ThreadId, u64)>;

/// Who has samples of the event, by the weight, that were asked about last: nearly every question asks again, and all samples are gone
/// over for it.
#[derive(Debug, Default)]
pub(super) struct Known(Option<(usize, Weight, Rc<Busy>)>);

/// Who has samples of the event that is looked at.
pub(super) fn busy(answers: &mut Answers<'_, '_>) -> Rc<Busy> {
    let (event, weight) = (answers.explorer.state().event, answers.explorer.state().weight);
    if let Some((of, by, known)) = &answers.busy.0
        && (*of, *by) == (event, weight)
    {
        return Rc::clone(known);
    }
    let made = Rc::new(made(answers, event, weight));
    answers.busy.0 = Some((event, weight, Rc::clone(&made)));
    made
}

fn made(answers: &Answers<'_, '_>, event: usize, weight: Weight) -> Busy {
    let mut threads: FxHashMap<ThreadId, Sum> = FxHashMap::default();
    let mut cpus: BTreeMap<u32, Sum> = BTreeMap::new();
    for row in answers.explorer.whole().rows_of(event) {
        let sum = Sum { period: row.period, samples: row.samples };
        if let Some(thread) = row.thread {
            threads.entry(thread).or_default().add(sum);
        }
        if let Some(cpu) = row.cpu {
            cpus.entry(cpu).or_default().add(sum);
        }
    }
    let threads = threads.into_iter().map(|(id, sum)| (id, weight.of_sum(&sum)));
    Busy {
        processes: processes(answers, threads),
        cpus: cpus.into_iter().map(|(cpu, sum)| (cpu, weight.of_sum(&sum))).collect(),
    }
}

fn processes(answers: &Answers<'_, '_>, all: impl Iterator<Item = (ThreadId, u64)>) -> Vec<Process> {
    let session = answers.explorer.session();
    let mut by_pid: FxHashMap<u32, Threads> = FxHashMap::default();
    for (id, weight) in all {
        let process = session.thread(id).and_then(|thread| session.process(thread.process));
        by_pid.entry(process.map_or(0, |process| process.pid)).or_default().push((id, weight));
    }
    let process = |(pid, mut threads): (u32, Threads)| {
        threads.sort_by_key(|(id, weight)| (Reverse(*weight), *id));
        let weight = threads.iter().map(|(_, weight)| *weight).fold(0, u64::wrapping_add);
        Process { pid, weight, threads }
    };
    let mut list: Vec<Process> = by_pid.into_iter().map(process).collect();
    list.sort_by_key(|process| (Reverse(process.weight), process.pid));
    list
}
