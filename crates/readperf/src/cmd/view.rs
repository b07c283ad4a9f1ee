//! `readperf view`: the recording in the web browser.

mod file;
mod viewer;

use super::report::has_chains;
use super::stats::{Counted, count};
use super::{Cmd, check};
use crate::input::Input;
use crate::outcome::{Outcome, in_words, say, tell};
use crate::progress::Progress;
use crate::row_filters::RowFilters;
use crate::sample_options::{NameOptions, SampleOptions};
use crate::source_files::{SourceFiles, SourceOptions};
use crate::stack_options::StackOptions;
use crate::symbol_options::SymbolOptions;
use anstream::adapter::strip_str;
use anyhow::Context as _;
use clap::Args;
use perffile::wire::attr::AttrFlags;
use perffile::{EventDescription, Recording};
use readperf::explore::{Opening, RowOptions};
use readperf::output::annotate::Sources;
use readperf::profile::view::key::by_name;
use readperf::profile::view::listing::Listing;
use readperf::profile::{Keep, SampleFilter, Selection, Weight};
use readperf::session::Session;
use readperf::symbols::Options;
use readperf::{Analysis, ListingRequest, PassOptions, Request};
use readperf_view::{Base, Looking, Outside, Part, Query, Serving, Token, Viewer, Watch};
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

pub(super) use file::PageFile;

/// Shows a recording in the browser.
#[derive(Args, Debug)]
pub(crate) struct View {
    #[command(flatten)]
    input: Input,

    /// Compare with this recording: functions, calls and the flame graph with their change since
    #[arg(long, value_name = "RECORDING")]
    base: Option<PathBuf>,

    /// Port to listen on [default: any that is free]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,

    /// Do not open a browser: print the address of the page
    #[arg(long)]
    no_open: bool,

    /// Open it in a viewer on the web instead: firefox, speedscope or perfetto. That page gets the export of its format
    /// (`readperf export`) from this program; nothing is sent anywhere
    #[arg(long = "in", value_name = "VIEWER", value_parser = viewer::viewer, conflicts_with = "base")]
    viewer: Option<Viewer>,

    /// Where that viewer is, if it is a copy of your own [default: its place on the web]
    #[arg(long, value_name = "URL", value_parser = viewer::page, requires = "viewer")]
    viewer_page: Option<String>,

    #[command(flatten)]
    samples: SampleOptions,

    #[command(flatten)]
    names: NameOptions,

    #[command(flatten)]
    filters: RowFilters,

    #[command(flatten)]
    stacks: StackOptions,

    #[command(flatten)]
    source: SourceOptions,

    #[command(flatten)]
    symbols: SymbolOptions,
}

impl Cmd for View {
    const NAME: &'static str = "view";
    const ABOUT: &'static str =
        "Look into a recording in the web browser: time, flame graph, calls, functions, code";
    const EXAMPLES: &'static str = "\
The page comes out of this program and talks to nobody else. It listens on 127.0.0.1 only, and answers whoever has the address, which is
new each time. To look at a recording on another machine, forward the port: ssh -L 8080:localhost:8080 HOST readperf view --no-open --port 8080.
Ctrl-C ends it.

Options that choose samples, functions and stacks are where it begins: they stand in the address that is opened and on the page, where they
can be taken back.

--in VIEWER serves the export of that viewer's format to its page, and to no other, and opens it; the filters choose what is in it. The page comes
from the web, the recording goes nowhere. Perfetto's may fetch from port 9001 of this machine only: one recording at a time, and --port cannot change
it. Safari refuses what these pages ask for; Chrome asks whether they may reach this machine.

Examples:
  readperf view                                 ./perf.data
  readperf view --no-open perf.data             prints the address alone on the first line
  readperf view --comm make --time 10%-20% perf.data
  readperf view --in firefox perf.data          Firefox Profiler; so do speedscope and perfetto
  readperf view --base before.data after.data   what has changed
  perf record -o - -g -- make | readperf view -";

    fn run(&self) -> anyhow::Result<Outcome> {
        if let Some(viewer) = self.viewer {
            return self.in_viewer(viewer);
        }
        let recording = self.input.open()?;
        let options = self.symbols.options(&self.input)?;
        // Nothing is left out while reading: what the options choose is what the address chooses that is opened, and can be taken back.
        let opening = self.opening(&recording, &options, SampleFilter::default());
        let base = self.open_base()?;
        let (listener, at) = listen(self.port)?;
        let token = Token::random().context("a random address")?;
        let first = self.chosen(&recording, self.samples.filter(&recording)?, Weight::default())?;
        self.open(&format!("http://{at}/{}/{first}", token.as_str()))?;
        let outside = FromFiles { view: self, recording: &recording, options: &options };
        let looking = Looking {
            recording: &recording,
            opening: &opening,
            base: base.as_ref().map(|(recording, _)| Base {
                recording,
                request: self.request(recording, &options, SampleFilter::default()),
            }),
            first,
            outside: &outside,
        };
        let mut progress = Some(Progress::new("reading", !self.input.reading.no_progress));
        let watch = |watched: Watch<'_>| match watched {
            Watch::Read(bytes) => progress.iter_mut().for_each(|progress| progress.bytes(bytes)),
            Watch::Done(analysis) => {
                progress = None;
                self.tell(&self.input, analysis);
            }
            Watch::Base(analysis) => base.iter().for_each(|(_, input)| self.tell(input, analysis)),
        };
        readperf_view::serve::<anyhow::Error>(
            Serving { listener, token, name: self.input.name(), looking },
            watch,
        )?;
        Ok(Outcome::default())
    }
}

/// Listens on a port of this machine; 0 is any that is free. The second is the address, as `127.0.0.1:8080`.
fn listen(port: u16) -> anyhow::Result<(TcpListener, String)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).with_context(|| format!("port {port}"))?;
    let at = listener.local_addr()?.to_string();
    Ok((listener, at))
}

impl View {
    /// Prints an address, alone on its line, and opens it in the browser if that is wanted.
    fn open(&self, address: &str) -> anyhow::Result<()> {
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{address}")?;
        stdout.flush()?;
        if !self.no_open
            && let Err(error) = open::that_detached(address)
        {
            say(&format!("no browser can be opened ({error}): open {address}"));
        }
        Ok(())
    }

    /// The recording to compare with.
    fn open_base(&self) -> anyhow::Result<Option<(Recording, Input)>> {
        let input = self.base.as_ref().map(|file| self.input.instead(file.clone()));
        input.map(|input| Ok((input.open()?, input))).transpose()
    }

    /// What the options choose of a recording, one after the other.
    fn chosen(&self, recording: &Recording, samples: SampleFilter, weight: Weight) -> anyhow::Result<Query> {
        let (names, transforms) = (self.names.filter(), self.stacks.transforms());
        let selection = Selection { weight, samples, names, transforms };
        Ok(Query::of(&self.filters.before(selection, recording)?))
    }

    fn opening(&self, recording: &Recording, options: &Options, filter: SampleFilter) -> Opening {
        let keys = ["dso", "symbol"].into_iter().filter_map(by_name).map(Into::into).collect();
        // A recording in pipe mode tells its events on the way. Without chains sums over stacks say nothing.
        let metadata = recording.metadata();
        let children = metadata.schema.events().is_empty() || has_chains(metadata);
        Opening {
            request: self.request(recording, options, filter),
            rows: RowOptions {
                keys,
                children,
                threads: self.symbols.thread_count(),
                ..RowOptions::default()
            },
            listings: ListingRequest::default(),
            ..Opening::default()
        }
    }

    /// How a recording is read: only the samples that pass the filter.
    fn request(&self, recording: &Recording, options: &Options, filter: SampleFilter) -> Request {
        let pass =
            PassOptions { filter, stacks: true, unwind: Some(options.clone()), ..PassOptions::default() };
        let keep = Keep { stacks: true, ..Keep::default() };
        let symbols = Options { inlines: true, ..options.clone() };
        // When threads had a CPU. Where nothing tells that, nothing is kept for it.
        let events = recording.metadata().schema.events();
        let marks = events.is_empty() || events.iter().any(tells_switches);
        Request { symbols, pass, keep, marks, ..Request::default() }
    }

    /// What is to be known of a recording, once it is read.
    fn tell(&self, input: &Input, analysis: &Analysis) {
        for told in analysis.told() {
            say(&format!("{}: {told}", input.name()));
        }
        if let Some(message) = self.samples.missing(&analysis.metadata.schema) {
            say(&message);
        }
        tell(&input.name(), &analysis.issues);
    }
}

/// Whether an event tells of context switches.
fn tells_switches(event: &EventDescription) -> bool {
    event.attr.flags.has(AttrFlags::context_switch) || event.name == "sched:sched_switch"
}

/// What the page shows that is not in the profile, from the recording and from source files.
struct FromFiles<'v> {
    view: &'v View,
    recording: &'v Recording,
    options: &'v Options,
}

impl FromFiles<'_> {
    fn written(&self, part: Part) -> anyhow::Result<Vec<u8>> {
        if part != Part::Info && self.view.input.path().is_none() {
            anyhow::bail!("the recording came on standard input and is gone");
        }
        let mut out = Vec::new();
        match part {
            Part::Info => readperf_output::info::write_text(&mut out, &self.recording.read_metadata()?)?,
            Part::Stats => {
                let Counted { stats, metadata, .. } = count(self.recording, |_| ())?;
                readperf_output::stats::write_text(&mut out, &stats, &metadata.schema)?;
            }
            Part::Check => out = check::text(&self.view.input, &self.view.symbols)?,
        }
        Ok(out)
    }
}

impl Outside for FromFiles<'_> {
    fn text(&self, part: Part) -> Result<String, String> {
        let out = self.written(part).map_err(|error| in_words(&error))?;
        Ok(strip_str(&String::from_utf8_lossy(&out)).to_string())
    }

    fn sources(&self, listing: &Listing, session: &Session) -> Sources {
        SourceFiles::new(&self.view.source, &self.view.input, self.options)
            .of(std::slice::from_ref(listing), session)
    }
}
