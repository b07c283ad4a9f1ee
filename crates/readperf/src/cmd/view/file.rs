//! The page as a file: `readperf export --format page`.

use super::{FromFiles, View};
use crate::input::Input;
use crate::outcome::say;
use crate::profile_options::ProfileOptions;
use crate::progress::Progress;
use crate::row_filters::RowFilters;
use crate::source_files::SourceOptions;
use crate::stack_options::StackOptions;
use perffile::Issues;
use readperf::profile::Weight;
use readperf_view::{Base, Looking, Watch, write_file};
use std::io::Write;
use std::path::PathBuf;

/// What is written, and how it was asked for.
pub(crate) struct PageFile<'p> {
    pub(crate) input: &'p Input,
    pub(crate) base: Option<PathBuf>,
    pub(crate) weight: Weight,
    pub(crate) title: Option<String>,
    pub(crate) profile: &'p ProfileOptions,
    pub(crate) stacks: &'p StackOptions,
    pub(crate) source: &'p SourceOptions,
}

impl PageFile<'_> {
    /// Writes it. Gives what was wrong with the recordings, by their names; the first is the one that is shown.
    pub(crate) fn write(self, out: &mut dyn Write) -> anyhow::Result<Vec<(String, Issues)>> {
        let PageFile { input, base, weight, title, profile, stacks, source } = self;
        let view = View {
            input: input.clone(),
            base,
            port: 0,
            no_open: true,
            viewer: None,
            viewer_page: None,
            samples: profile.samples.clone(),
            names: profile.names.clone(),
            filters: RowFilters::default(),
            stacks: stacks.clone(),
            source: source.clone(),
            symbols: profile.symbols.clone(),
        };
        let recording = input.open()?;
        let options = view.symbols.options(input)?;
        // A file has nothing but what is chosen.
        let samples = view.samples.filter(&recording)?;
        let first = view.chosen(&recording, samples.clone(), weight)?;
        let opening = view.opening(&recording, &options, samples);
        let base = view.open_base()?;
        let outside = FromFiles { view: &view, recording: &recording, options: &options };
        let base_read = base.as_ref().map(|(recording, _)| {
            let filter = view.samples.filter(recording)?;
            Ok::<_, anyhow::Error>(Base { recording, request: view.request(recording, &options, filter) })
        });
        let looking = Looking {
            recording: &recording,
            opening: &opening,
            base: base_read.transpose()?,
            first,
            outside: &outside,
        };
        let mut progress = Some(Progress::new("reading", !input.reading.no_progress));
        let mut issues = Vec::new();
        let watch = |watched: Watch<'_>| match watched {
            Watch::Read(bytes) => progress.iter_mut().for_each(|progress| progress.bytes(bytes)),
            Watch::Done(analysis) => {
                progress = None;
                profile.tell(input, analysis);
                issues.push((input.name(), analysis.issues.clone()));
            }
            Watch::Base(analysis) => {
                if let Some((_, input)) = &base {
                    profile.tell(input, analysis);
                    issues.push((input.name(), analysis.issues.clone()));
                }
            }
        };
        let samples = write_file::<anyhow::Error>(looking, title, watch, out)?;
        if samples == 0 {
            say(&format!("{}: no samples", input.name()));
        }
        Ok(issues)
    }
}
