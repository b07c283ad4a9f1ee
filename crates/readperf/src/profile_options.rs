//! What commands that make a profile share: which samples, where names come from, where the answer goes; and the way from
//! a recording to a profile.

use crate::input::Input;
use crate::out::Output;
use crate::outcome::{say, say_only_counts, wrong_usage};
use crate::progress::Progress;
use crate::sample_options::{NameOptions, SampleOptions};
use crate::stack_options::StackOptions;
use crate::symbol_options::SymbolOptions;
use clap::Args;
use perffile::Recording;
use readperf::profile::{DetailOptions, Keep, SampleFilter, Selection};
use readperf::symbols::{Files, Options};
use readperf::{Analysis, Chunk, Namer, PassOptions, Request, State};

/// The options.
#[derive(Args, Debug, Clone)]
pub(crate) struct ProfileOptions {
    #[command(flatten)]
    pub(crate) samples: SampleOptions,

    #[command(flatten)]
    pub(crate) names: NameOptions,

    #[command(flatten)]
    pub(crate) symbols: SymbolOptions,

    #[command(flatten)]
    pub(crate) output: Output,
}

/// What a command needs of a recording.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// What is kept of samples. Stacks are unwound only if they are kept.
    pub(crate) keep: Keep,
    /// Neither where samples were taken nor what that is called, where no stacks are kept.
    pub(crate) without_places: bool,
    /// Source lines.
    pub(crate) lines: bool,
    /// Inlined functions.
    pub(crate) inlines: bool,
    /// What else happened.
    pub(crate) marks: bool,
    /// Addresses as the linker gave them.
    pub(crate) linked_addresses: bool,
    /// Functions and lines, and no addresses: so many places may be held. All if not said.
    pub(crate) most_places: Option<usize>,
    /// Where the branches of samples lead.
    pub(crate) branches: bool,
    /// Samples one by one, for whoever sees the records on the way.
    pub(crate) samples: bool,
    /// Fields of samples.
    pub(crate) details: DetailOptions,
}

impl ProfileOptions {
    /// Reads a recording, and keeps of its samples and their stacks what is chosen.
    pub(crate) fn analyse(
        &self,
        input: &Input,
        recording: &Recording,
        wanted: &Wanted,
        selection: &Selection,
    ) -> anyhow::Result<Analysis> {
        let mut analysis = self.read(input, recording, self.samples.filter(recording)?, wanted, |_, _| ())?;
        analysis.profile.choose(selection, &analysis.session);
        Ok(analysis)
    }

    /// What is chosen once names are known. What was recorded of samples has been chosen by while reading.
    pub(crate) fn selection(&self, stacks: &StackOptions) -> Selection {
        let (names, transforms) = (self.names.filter(), stacks.transforms());
        Selection { names, transforms, ..Selection::default() }
    }

    /// Reads a recording with a filter. Samples are not yet chosen by names. `each` sees the records on the way.
    pub(crate) fn read(
        &self,
        input: &Input,
        recording: &Recording,
        filter: SampleFilter,
        wanted: &Wanted,
        each: impl FnMut(&State, &Chunk<'_>),
    ) -> anyhow::Result<Analysis> {
        let request = self.request(input, filter, wanted)?;
        let (analysis, ()) = self.watched(input, each, |each| {
            Ok((readperf::analyse_detailed(recording, &request, &wanted.details, each)?, ()))
        })?;
        Ok(analysis)
    }

    /// The same, and keeps open what names were looked up in.
    pub(crate) fn read_keeping_names<'f>(
        &self,
        files: &'f Files,
        input: &Input,
        recording: &Recording,
        wanted: &Wanted,
        each: impl FnMut(&State, &Chunk<'_>),
    ) -> anyhow::Result<(Analysis, Namer<'f>)> {
        let request = self.request(input, self.samples.filter(recording)?, wanted)?;
        self.watched(input, each, |each| {
            readperf::analyse_keeping_names(files, recording, &request, &wanted.details, each)
        })
    }

    /// Analyses, shows how far that is, and says what came of it. `each` sees the records on the way.
    fn watched<T>(
        &self,
        input: &Input,
        mut each: impl FnMut(&State, &Chunk<'_>),
        analyse: impl FnOnce(
            &mut dyn FnMut(&State, &Chunk<'_>) -> perffile::Result<()>,
        ) -> perffile::Result<(Analysis, T)>,
    ) -> anyhow::Result<(Analysis, T)> {
        let mut progress = Progress::new("reading", !input.reading.no_progress);
        let analysed = analyse(&mut |state, chunk| {
            progress.bytes(chunk.progress());
            each(state, chunk);
            Ok(())
        })?;
        drop(progress);
        self.tell(input, &analysed.0);
        Ok(analysed)
    }

    /// What is asked of a recording.
    pub(crate) fn request(
        &self,
        input: &Input,
        filter: SampleFilter,
        wanted: &Wanted,
    ) -> anyhow::Result<Request> {
        let symbols = self.symbols.options(input)?;
        let stacks = wanted.keep.stacks;
        Ok(Request {
            symbols: Options {
                lines: wanted.lines,
                inlines: wanted.inlines,
                source_files: wanted.lines,
                ..symbols.clone()
            },
            pass: PassOptions {
                stacks,
                without_places: wanted.without_places,
                branches: wanted.branches,
                shows_samples: wanted.samples,
                filter,
                unwind: stacks.then_some(symbols),
                ..PassOptions::default()
            },
            keep: wanted.keep,
            statistics: false,
            marks: wanted.marks,
            linked_addresses: wanted.linked_addresses,
            without_names: wanted.without_places && !stacks,
            most_places: wanted.most_places,
        })
    }

    /// Tells what is to be known of a recording that was read.
    pub(crate) fn tell(&self, input: &Input, analysis: &Analysis) {
        if let Some(message) = self.samples.missing(&analysis.metadata.schema) {
            wrong_usage(&message);
        }
        if analysis.only_counts {
            say_only_counts(input);
        }
        for told in analysis.told().iter().filter(|_| !input.quiet) {
            say(&format!("{}: {told}", input.name()));
        }
    }
}
