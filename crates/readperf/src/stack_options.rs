//! How stacks are changed to be read: the flags that `report`, `diff`, `timeline` and the exports share.

use crate::sample_options::{named, pattern};
use clap::Args;
use readperf::profile::{Functions, Transform};
use regex::Regex;

/// The options.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "How stacks are shown")]
pub(crate) struct StackOptions {
    /// Begin stacks at the outermost function that matches this pattern; samples without one do not count
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    show_from: Option<Regex>,

    /// Leave out functions that match this pattern: what they took is their callers'
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    hide: Vec<Regex>,

    /// Leave out all functions that do not match this pattern: what they took is their callers'
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    show: Option<Regex>,

    /// Leave out what these binaries call in themselves: only the first function of each is shown
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    collapse: Vec<String>,

    /// Show a function that calls itself once
    #[arg(long)]
    collapse_recursion: bool,

    /// Show names of functions without this beginning, as `myapp::`
    #[arg(long, value_name = "TEXT")]
    drop_prefix: Vec<String>,
}

impl StackOptions {
    /// The options that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        // Every field is named here, so that no option is forgotten.
        let StackOptions { show_from, hide, show, collapse, collapse_recursion, drop_prefix } = self;
        named([
            ("--show-from", show_from.is_none()),
            ("--hide", hide.is_empty()),
            ("--show", show.is_none()),
            ("--collapse", collapse.is_empty()),
            ("--collapse-recursion", !collapse_recursion),
            ("--drop-prefix", drop_prefix.is_empty()),
        ])
    }

    /// Whether the answer depends on whole stacks.
    pub(crate) fn needs_stacks(&self) -> bool {
        self.transforms().iter().any(Transform::needs_stacks)
    }

    /// The transforms, in the order in which they apply. Names are those of the recording until the last.
    pub(crate) fn transforms(&self) -> Vec<Transform> {
        let matching = |pattern: &Regex| Functions::Matching(pattern.clone());
        let from = self.show_from.iter().map(|pattern| Transform::ShowFrom(matching(pattern)));
        let hide = self.hide.iter().map(|pattern| Transform::Hide(matching(pattern)));
        let show = self.show.iter().map(|pattern| Transform::Show(matching(pattern)));
        let collapse =
            (!self.collapse.is_empty()).then(|| Transform::CollapseBinaries(self.collapse.clone()));
        let recursion = self.collapse_recursion.then_some(Transform::CollapseRecursion);
        let prefixes = self.drop_prefix.iter().map(|prefix| Transform::DropPrefix(prefix.clone()));
        from.chain(hide).chain(show).chain(collapse).chain(recursion).chain(prefixes).collect()
    }
}
