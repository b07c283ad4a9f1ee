//! Flags that a format has no place for: they are told, so that nobody looks for what they do.

use super::ExportCommand;
use crate::outcome::say;
use crate::sample_options::Weight;
use readperf::output::export::Flag;

impl ExportCommand {
    /// The flags of this kind that were given.
    pub(super) fn given(&self, flag: Flag) -> Vec<&'static str> {
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

    /// Says which of the flags that were given mean nothing to a format.
    pub(super) fn tell_unheeded(
        &self,
        format: &str,
        no_place_for: &[Flag],
        is_without_code: bool,
        has_addresses: bool,
    ) {
        // Only what shows code has use for its source.
        let sources = self.source.given().filter(|_| is_without_code);
        let flags = no_place_for.iter().flat_map(|flag| self.given(*flag));
        // With its address, every place is another one.
        let held = self.held.given().filter(|_| has_addresses);
        let unheeded: Vec<&str> = flags.chain(sources).chain(held).collect();
        if !unheeded.is_empty() {
            say(&format!("{format} has no place for {}", unheeded.join(", ")));
        }
    }
}
