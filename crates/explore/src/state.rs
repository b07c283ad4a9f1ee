//! What is looked at: a plain value, with the steps that led there.

use crate::rows::RowOptions;
use readperf_profile::view::call_tree::Direction;
use readperf_profile::{NameFilter, Profile, SampleFilter, Selection, Transform, Weight};
use readperf_session::Session;
use std::ops::RangeInclusive;

/// What is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// The event, by its index in the recording.
    pub event: usize,
    /// What samples count for.
    pub weight: Weight,
    /// What has been chosen, step by step: each looks only at what the ones before have left. Taking the last one away leads back.
    pub steps: Vec<Step>,
    /// What makes rows, and how they are sorted.
    pub rows: RowOptions,
    /// Which calls are shown below a row.
    pub calls: Direction,
    /// Whether flame graphs go from where samples were taken to the callers.
    pub reversed: bool,
}

/// A step: something is chosen of what is there, or stacks are changed.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// By what was recorded of samples: threads, CPUs, times, events.
    Samples(SampleFilter),
    /// By names of binaries and functions.
    Names(NameFilter),
    /// How stacks are changed.
    Stacks(Transform),
}

impl Step {
    /// Samples of threads with a name.
    pub fn comm(name: &[u8]) -> Step {
        Step::Samples(SampleFilter { comms: vec![name.into()], ..SampleFilter::default() })
    }

    /// Samples of a process.
    pub fn process(pid: u32) -> Step {
        Step::Samples(SampleFilter { pids: vec![pid], ..SampleFilter::default() })
    }

    /// Samples of a thread.
    pub fn thread(tid: u32) -> Step {
        Step::Samples(SampleFilter { tids: vec![tid], ..SampleFilter::default() })
    }

    /// Samples on a CPU.
    pub fn cpu(cpu: u32) -> Step {
        Step::Samples(SampleFilter { cpus: vec![cpu..=cpu], ..SampleFilter::default() })
    }

    /// Samples of a time, ns of the recording's clock, both ends included.
    pub fn time(range_ns: RangeInclusive<u64>) -> Step {
        Step::Samples(SampleFilter { times_ns: vec![range_ns], ..SampleFilter::default() })
    }

    /// Samples in a binary, by short name or path.
    pub fn binary(name: &str) -> Step {
        Step::Names(NameFilter { dsos: vec![name.to_owned()], ..NameFilter::default() })
    }

    /// Samples with a function in their stack that a pattern matches.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub fn focus(pattern: &str) -> Result<Step, String> {
        Ok(Step::Names(NameFilter {
            focus: vec![readperf_profile::pattern(pattern)?],
            ..NameFilter::default()
        }))
    }

    /// Samples without such a function.
    ///
    /// # Errors
    /// What is wrong with the pattern.
    pub fn ignore(pattern: &str) -> Result<Step, String> {
        Ok(Step::Names(NameFilter {
            ignore: vec![readperf_profile::pattern(pattern)?],
            ..NameFilter::default()
        }))
    }

    /// Steps that choose what a selection does, in its order.
    pub fn of_selection(selection: Selection) -> Vec<Step> {
        let Selection { weight: _, samples, names, transforms } = selection;
        let samples = (!samples.is_open()).then_some(Step::Samples(samples));
        let names = (!names.is_open()).then_some(Step::Names(names));
        samples.into_iter().chain(names).chain(transforms.into_iter().map(Step::Stacks)).collect()
    }

    fn selection(&self, weight: Weight) -> Selection {
        let nothing = Selection { weight, ..Selection::default() };
        match self.clone() {
            Step::Samples(samples) => Selection { samples, ..nothing },
            Step::Names(names) => Selection { names, ..nothing },
            Step::Stacks(transform) => Selection { transforms: vec![transform], ..nothing },
        }
    }
}

/// What is left of a profile after some steps.
pub(crate) fn follow(profile: &Profile, session: &Session, steps: &[Step], weight: Weight) -> Profile {
    let start = profile.chosen(&Selection { weight, ..Selection::default() }, session);
    steps.iter().fold(start, |mut left, step| {
        left.choose(&step.selection(weight), session);
        left
    })
}
