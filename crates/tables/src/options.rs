//! How a recording is read, and what is said of it.

use crate::wanted::Wanted;
use perffile::Limits;
use readperf_analysis::PassOptions;
use readperf_profile::{SampleFilter, Selection};
use readperf_symbols::Options as SymbolOptions;

/// How a recording is read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Which tables and columns are made of it.
    pub wanted: Wanted,
    /// Which samples are taken in, by what was recorded of them: by event, process, thread, CPU, time. Switches, counters and mappings have to
    /// pass, too, as far as they tell these.
    pub samples: SampleFilter,
    /// Which samples count, by names, and how stacks are changed. What asks for it has to want names.
    pub selection: Selection,
    /// Where names come from. Whether lines and inlined functions are looked up follows from what is wanted.
    pub symbols: SymbolOptions,
    /// Whether inlined functions are levels of their own.
    pub no_inlines: bool,
    /// How stacks are read; what is filtered and unwound follows from the rest.
    pub pass: PassOptions,
    /// What may be taken of memory and disk.
    pub limits: Limits,
    /// What the user says of the recording, by name: `service`, `cluster`.
    pub labels: Vec<(String, String)>,
}
