//! `readperf export`: profiles in the forms that other tools read. One format a file, one line in [`FORMATS`].

pub mod circumstances;
pub mod frames;
mod images;
mod in_time;
mod json;
pub mod labels;
mod packed;
mod protobuf;
pub mod quantity;
mod recorded;
mod runs;
pub(crate) mod strings;
mod threads;
mod title;

use perffile::Metadata;
use readperf_analysis::LinkedAddress;
pub use readperf_profile::Weight;
use readperf_profile::matching::Matching;
use readperf_profile::{DetailField, Marks, Profile};
use readperf_session::Session;
use std::io::{self, Write};

/// A format that profiles can be exported to.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// What users call it.
    pub name: &'static str,
    /// Endings of file names that stand for it; what is longer comes first where one is the end of another.
    pub extensions: &'static [&'static str],
    /// One line of help.
    pub help: &'static str,
    /// Whether it is for programs only and would upset a terminal.
    pub binary: bool,
    /// What it shows of the samples.
    pub needs: Needs,
    /// Whether it shows the samples of one event only: what [`Export::event`] says.
    pub one_event: bool,
    /// Whether it is a picture of when things happened.
    pub pictures_time: bool,
    /// Flags that mean nothing to it. Those whose wish it always fulfils are not among them.
    pub no_place_for: &'static [Flag],
    /// How it shows the differences of a recording to another, if it can.
    pub difference: Option<WriteDifference>,
    /// How it is written.
    pub write: Writing,
}

/// How a format is written.
#[derive(Clone, Copy, Debug)]
pub enum Writing {
    /// From the profile alone.
    Profile(fn(&Export<'_>, &mut dyn Write) -> io::Result<()>),
    /// By who has the recording at hand, too: it shows code, and what the recording says of itself.
    Recording,
}

/// A flag of an export that a format may have no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flag {
    /// What a sample counts for.
    Weight,
    /// Processes by their ids.
    WithPid,
    /// Threads by their ids.
    WithTid,
    /// CPUs told apart.
    WithCpu,
    /// Marks in names of frames.
    Annotate,
    /// A title.
    Title,
    /// How flame graphs are drawn.
    Drawing,
}

/// What a format shows of the samples, besides their stacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Which thread.
    pub threads: bool,
    /// Which CPU.
    pub cpus: bool,
    /// When; then every sample is a row of its own.
    pub times: bool,
    /// Source files and lines.
    pub lines: bool,
    /// What else happened: context switches, losses, texts of tracepoints.
    pub marks: bool,
    /// Addresses of code, not only functions and lines.
    pub addresses: bool,
    /// Addresses of code as the linker gave them.
    pub linked_addresses: bool,
    /// What else was recorded of each sample.
    pub details: &'static [DetailField],
}

impl Needs {
    /// Nothing but the stacks, of places that are told apart by their addresses.
    pub const PLACES: Needs = Needs { addresses: true, ..Needs::STACKS };
    /// Nothing but the stacks, of functions and lines.
    pub const STACKS: Needs = Needs {
        threads: false,
        cpus: false,
        times: false,
        lines: false,
        marks: false,
        addresses: false,
        linked_addresses: false,
        details: &[],
    };
}

/// Declares the modules with formats, and the list of these.
macro_rules! formats {
    ($( $module:ident: $($format:ident)+; )*) => {
        $( pub mod $module; )*

        /// Every format, in the order of the help.
        pub const FORMATS: &[Format] = &[$($($module::$format),+),*];
    };
}

formats! {
    folded: FORMAT;
    flamegraph: SVG HTML;
    page: FORMAT;
    pprof: FORMAT;
    firefox: FORMAT;
    speedscope: FORMAT;
    perfetto: FORMAT;
    chrome: FORMAT;
    callgrind: FORMAT;
    dot: FORMAT;
    jsonl: FORMAT;
    samples_csv: FORMAT;
}

/// How to export. Formats take what they know; the program says which of its flags a format knows.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    /// Whether processes are told apart by their ids.
    pub with_pid: bool,
    /// Whether threads are told apart by their ids.
    pub with_tid: bool,
    /// Whether CPUs are told apart.
    pub with_cpu: bool,
    /// Whether frames of the kernel, inlined ones and those of generated code are marked in their names.
    pub annotate: bool,
    /// Index of the event, for formats that show one; else the first that has samples.
    pub event: Option<usize>,
    /// Whether formats that are usually compressed are written as they are.
    pub plain: bool,
    /// A title for people.
    pub title: Option<String>,
    /// Of a recording that is compared with another: what its events, binaries and threads are called there. Then generated code goes
    /// without the number of its process.
    pub matching: Option<Matching>,
    /// How flame graphs are drawn.
    pub flame: flamegraph::FlameOptions,
}

/// A profile on its way out, and what is known of the recording.
#[derive(Clone, Copy, Debug)]
pub struct Export<'x> {
    /// The samples, with names.
    pub profile: &'x Profile,
    /// Thread names, processes, binaries.
    pub session: &'x Session,
    /// Events and features.
    pub metadata: &'x Metadata,
    /// What else happened, for formats that need it.
    pub marks: &'x Marks,
    /// Where the linker put each place, by number, for formats that need it.
    pub linked_addresses: &'x [LinkedAddress],
    /// What is asked for.
    pub options: &'x ExportOptions,
}

impl Export<'_> {
    /// The event to show, for formats that show one; `None` if no event has samples.
    pub fn event(&self) -> Option<usize> {
        let with_samples = || self.profile.events().iter().position(|event| event.samples > 0);
        self.options.event.or_else(with_samples)
    }

    /// What a row counts for.
    pub fn weight(&self, row: &readperf_profile::SampleRow) -> u64 {
        self.profile.weight().of_row(row)
    }
}

/// What a format writes of two recordings: the first compared with the second.
pub type WriteDifference = fn(&Format, &Export<'_>, &Export<'_>, &mut dyn Write) -> io::Result<()>;

/// The format with this name, if there is one.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format that the name of a file stands for: the one with the longest fitting ending.
pub fn by_file_name(file: &str) -> Option<&'static Format> {
    let ending = |format: &&Format| {
        let fitting = format.extensions.iter().filter(|ending| file.ends_with(&format!(".{ending}")));
        fitting.map(|ending| ending.len()).max()
    };
    FORMATS.iter().filter(|format| ending(format).is_some()).max_by_key(ending)
}
