//! The concerns: one file each, one line each in [`CONCERNS`].

mod aux;
mod binaries;
mod chains;
mod clocks;
mod container;
mod contents;
mod cpus;
mod dumps;
mod kernel;
mod losses;
mod mappings;
mod multiplexing;
mod names;
mod samples;
mod stacks;
mod throttling;
mod time;

use super::end::End;
use super::finding::Finding;
use super::seen::Seen;
use perffile::wire::record::Record;
use readperf_session::SampleMoment;

/// One thing that can be wrong with a recording, or a few that are closely related.
pub(crate) trait Concern {
    /// Takes a usable sample in.
    fn sample(&mut self, _sample: &SampleMoment<'_>, _seen: &Seen<'_, '_>) {}

    /// Takes another record in.
    fn record(&mut self, _record: &Record<'_>, _seen: &Seen<'_, '_>) {}

    /// Says what was found.
    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>);
}

fn new<C: Concern + Default + 'static>() -> Box<dyn Concern> {
    Box::<C>::default()
}

/// Every concern, in the order in which findings of one severity are told.
pub(crate) const CONCERNS: &[fn() -> Box<dyn Concern>] = &[
    new::<container::Container>,
    new::<losses::Losses>,
    new::<throttling::Throttling>,
    new::<aux::Aux>,
    new::<mappings::Mappings>,
    new::<clocks::Clocks>,
    new::<time::Time>,
    new::<samples::Samples>,
    new::<multiplexing::Multiplexing>,
    new::<kernel::Kernel>,
    new::<chains::Chains>,
    new::<stacks::Stacks>,
    new::<binaries::Binaries>,
    new::<dumps::Dumps>,
    new::<names::Names>,
    new::<cpus::Cpus>,
    new::<contents::Contents>,
];
