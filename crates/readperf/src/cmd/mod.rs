//! The commands: one file each, one line each in [`COMMANDS`]. Help and completions come from the same list.

pub(crate) mod annotate;
#[cfg(feature = "browse")]
pub(crate) mod browse;
pub(crate) mod check;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;
pub(crate) mod completions;
pub(crate) mod diff;
pub(crate) mod dump;
pub(crate) mod edit;
pub(crate) mod export;
pub(crate) mod info;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod overview;
pub(crate) mod pack;
pub(crate) mod report;
pub(crate) mod script;
pub(crate) mod split;
pub(crate) mod sql;
pub(crate) mod stat;
pub(crate) mod stats;
pub(crate) mod timeline;
#[cfg(feature = "view")]
pub(crate) mod view;

use crate::outcome::Outcome;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// A command of the program.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) command: fn() -> Command,
    pub(crate) run: fn(&ArgMatches) -> anyhow::Result<Outcome>,
}

/// What a command's file has to provide.
pub(crate) trait Cmd: Args + FromArgMatches {
    const NAME: &'static str;
    const ABOUT: &'static str;
    const EXAMPLES: &'static str;
    fn run(&self) -> anyhow::Result<Outcome>;
}

const fn entry<C: Cmd>() -> Entry {
    Entry {
        name: C::NAME,
        // Of the options, which are many, those of the command that is run are enough.
        command: || with_texts::<C>(Command::new(C::NAME)).defer(|it| with_texts::<C>(C::augment_args(it))),
        run: |matches| C::from_arg_matches(matches)?.run(),
    }
}

/// The texts for people. They come after the derived part, which puts the comment on the struct in their place.
fn with_texts<C: Cmd>(command: Command) -> Command {
    command.about(C::ABOUT).long_about(None).after_help(C::EXAMPLES)
}

/// Every command, in the order of the help.
pub(crate) const COMMANDS: &[Entry] = &[
    entry::<info::Info>(),
    entry::<stats::Stats>(),
    entry::<stat::Stat>(),
    entry::<dump::Dump>(),
    entry::<report::Report>(),
    entry::<annotate::Annotate>(),
    #[cfg(feature = "browse")]
    entry::<browse::Browse>(),
    #[cfg(feature = "view")]
    entry::<view::View>(),
    entry::<script::Script>(),
    entry::<diff::Diff>(),
    entry::<export::ExportCommand>(),
    entry::<timeline::TimelineCommand>(),
    entry::<sql::SqlCommand>(),
    #[cfg(feature = "cluster")]
    entry::<cluster::ClusterCommand>(),
    entry::<check::Check>(),
    entry::<edit::EditCommand>(),
    entry::<split::SplitCommand>(),
    entry::<merge::MergeCommand>(),
    entry::<pack::PackCommand>(),
    entry::<completions::Completions>(),
    entry::<man::ManPages>(),
];
