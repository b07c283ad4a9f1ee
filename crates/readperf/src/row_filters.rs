//! Which samples count, by what perf's tables know: the flags that `report`, `browse` and `view` share.

use crate::outcome::wrong_usage;
#[cfg(feature = "view")]
use crate::sample_options::named;
use crate::sample_options::pattern;
use clap::Args;
#[cfg(any(feature = "browse", feature = "view"))]
use perffile::Recording;
#[cfg(any(feature = "browse", feature = "view"))]
use readperf::profile::{NameFilter, SampleFilter, Selection};
use regex::Regex;

/// What the key parent looks for: perf's own default.
const PARENT: &str = "^sys_|^do_page_fault";

/// The options.
#[derive(Args, Debug, Clone, Default)]
pub(crate) struct RowFilters {
    /// What --exclude-other and the key parent, which it adds to a table, look for in stacks [default: ^sys_|^do_page_fault]
    #[arg(short, long, value_name = "REGEX", value_parser = pattern)]
    pub(crate) parent: Option<Regex>,

    /// Leave out rows of functions without a name, and samples taken there
    #[arg(short = 'U', long)]
    pub(crate) hide_unresolved: bool,

    /// Leave out samples without a function in their stack that matches --parent
    #[arg(short = 'x', long)]
    pub(crate) exclude_other: bool,

    /// Only CPUs of this processor socket
    #[arg(long, value_name = "N")]
    pub(crate) socket_filter: Option<u32>,
}

impl RowFilters {
    /// The pattern of the key `parent`.
    pub(crate) fn parent_pattern(&self) -> Regex {
        let default = || pattern(PARENT).unwrap_or_else(|message| wrong_usage(&message));
        self.parent.clone().unwrap_or_else(default)
    }
}

#[cfg(feature = "view")]
impl RowFilters {
    /// The options that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let RowFilters { parent, hide_unresolved, exclude_other, socket_filter } = self;
        named([
            ("--parent", parent.is_none()),
            ("--hide-unresolved", !hide_unresolved),
            ("--exclude-other", !exclude_other),
            ("--socket-filter", socket_filter.is_none()),
        ])
    }
}

#[cfg(any(feature = "browse", feature = "view"))]
impl RowFilters {
    /// What they choose of a recording, and what a selection does: one after the other.
    pub(crate) fn before(&self, chosen: Selection, recording: &Recording) -> anyhow::Result<Vec<Selection>> {
        let Selection { weight, samples, names, transforms } = chosen;
        let parent = self.exclude_other.then(|| self.parent_pattern());
        let parent = NameFilter { focus: parent.into_iter().collect(), ..NameFilter::default() };
        let names = NameFilter { named: self.hide_unresolved, ..names };
        Ok(vec![
            Selection { weight, samples, ..Selection::default() },
            Selection { weight, samples: self.of_socket(recording)?, ..Selection::default() },
            Selection { weight, names: parent, ..Selection::default() },
            Selection { weight, names, transforms, ..Selection::default() },
        ])
    }

    /// The samples of the processor socket.
    fn of_socket(&self, recording: &Recording) -> anyhow::Result<SampleFilter> {
        let Some(socket) = self.socket_filter else { return Ok(SampleFilter::default()) };
        let topology = recording.metadata().features.cpu_topology();
        let cpus = topology.iter().flat_map(|topology| (0u32..).zip(topology.cpus.iter()));
        let cpus = cpus.filter(|(_, cpu)| cpu.socket_id == socket).map(|(nr, _)| nr..=nr);
        let of_socket = SampleFilter { cpus: cpus.collect(), ..SampleFilter::default() };
        if of_socket.is_open() {
            anyhow::bail!("--socket-filter: the recording names no CPU of this socket");
        }
        Ok(of_socket)
    }
}
