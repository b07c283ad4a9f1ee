//! What a recording is about, and so what is shown of it by default.

use perffile::Metadata;
use perffile::wire::attr::{BranchSampleType, EventAttr, SampleType};
use readperf::profile::Weighing;

/// What a report is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Where the CPUs were.
    #[default]
    Code,
    /// Which branches were taken.
    Branches,
    /// Which memory was accessed.
    Memory,
    /// What tracepoints told.
    Trace,
}

/// Whether samples may say what memory was accessed. A recording in pipe mode tells its events on the way.
pub(super) fn has_memory(metadata: &Metadata) -> bool {
    let says = |attr: &EventAttr| {
        attr.sample_type.has(SampleType::DATA_SRC) || attr.sample_type.has(SampleType::ADDR)
    };
    let events = metadata.schema.events();
    events.is_empty() || events.iter().any(|event| says(&event.attr))
}

impl Mode {
    /// What a recording is about, as perf decides it: by its events.
    pub(super) fn of(metadata: &Metadata) -> Mode {
        let events = metadata.schema.events();
        let branches = |attr: &EventAttr| {
            attr.sample_type.has(SampleType::BRANCH_STACK)
                && !attr.branch_sample_type.has(BranchSampleType::CALL_STACK)
        };
        if events.iter().any(|event| branches(&event.attr)) {
            return Mode::Branches;
        }
        match !events.is_empty() && events.iter().all(|event| event.attr.tracepoint().is_some()) {
            true => Mode::Trace,
            false => Mode::Code,
        }
    }

    /// The sort keys, if none are given.
    pub(super) fn default_keys(self) -> &'static str {
        match self {
            Mode::Code => "comm,dso,symbol",
            Mode::Branches => "comm,dso_from,symbol_from,symbol_to,cycles",
            Mode::Memory => {
                "local_weight,mem,symbol,dso,symbol_daddr,dso_daddr,snoop,tlb,locked,blocked,local_ins_lat"
            }
            Mode::Trace => "trace",
        }
    }

    /// What a sample counts for.
    pub(super) fn weighing(self) -> Weighing {
        match self {
            Mode::Code | Mode::Trace => Weighing::Period,
            Mode::Branches => Weighing::Branches,
            Mode::Memory => Weighing::Latency,
        }
    }
}

/// Whether samples have call chains.
pub(crate) fn has_chains(metadata: &Metadata) -> bool {
    let events = metadata.schema.events();
    events.iter().any(|event| {
        event.attr.sample_type.has(SampleType::CALLCHAIN)
            || event.attr.branch_sample_type.has(BranchSampleType::CALL_STACK)
    })
}
