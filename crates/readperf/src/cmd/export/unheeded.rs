//! Flags that a format has no place for: they are told, so that nobody looks for what they do.

use super::ExportCommand;
use crate::sample_options::Weight;
use readperf::output::export::{Flag, Format, Writing};

impl ExportCommand {
    /// The flags of this kind that were given.
    fn given(&self, flag: Flag) -> Vec<&'static str> {
        let one = |name, given: bool| given.then_some(name).into_iter().collect();
        match flag {
            Flag::Weight => one("--weight samples", matches!(self.weight, Weight::Samples)),
            Flag::WithPid => one("--with-pid", self.with_pid),
            Flag::WithTid => one("--with-tid", self.with_tid),
            Flag::WithCpu => one("--with-cpu", self.with_cpu),
            Flag::Annotate => one("--annotate", self.annotate),
            Flag::Title => one("--title", self.title.is_some()),
            Flag::Drawing => self.flame.given().collect(),
        }
    }
}

/// The flags that were given and mean nothing to a format.
pub(super) fn unheeded(command: &ExportCommand, format: &Format) -> Vec<&'static str> {
    // Only what shows code has use for its source.
    let sources = match format.write {
        Writing::Profile(_) => command.source.given().collect(),
        Writing::Recording => Vec::new(),
    };
    format.no_place_for.iter().flat_map(|flag| command.given(*flag)).chain(sources).collect()
}
