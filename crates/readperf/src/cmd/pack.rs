//! `readperf pack`: a recording in one archive with the files that its names come from.

use super::Cmd;
use crate::input::Input;
use crate::out::{Out, create};
use crate::outcome::{Outcome, say};
use crate::progress::Progress;
use crate::source_files::{SourceFiles, SourceOptions};
use crate::symbol_options::SymbolOptions;
use anyhow::Context as _;
use clap::Args;
use readperf::perffile::Recording;
use readperf::profile::view::listing::ListingOptions;
use readperf::profile::{DetailField, DetailOptions, Keep};
use readperf::symbols::{Files, Options, Role};
use readperf::{Analysis, CodeReader, ListingRequest, Namer, PassOptions, Request};
use readperf_output::text::{binary_size, grouped, printable};
use readperf_pack::{Contents, Kind};
use std::io::Write as _;
use std::path::PathBuf;

/// How hard zstd tries. Above, twice the time takes off a few percent.
const LEVEL: i32 = 9;

/// Most of what is missing that is told.
const MOST_TOLD: usize = 8;

/// Packs a recording.
#[derive(Args, Debug)]
pub(crate) struct PackCommand {
    #[command(flatten)]
    input: Input,

    /// The archive [default: the name of the recording with .tar.zst]
    #[arg(short, long, value_name = "OUT")]
    output: Option<PathBuf>,

    /// Only list what would be packed
    #[arg(long, conflicts_with = "output")]
    dry_run: bool,

    /// Pack source files, too: all of the functions that samples were taken in
    #[arg(long)]
    sources: bool,

    /// Leave code and data out of the binaries: names, source lines, inlined functions and recorded stacks are the same, but
    /// `annotate` shows no instructions
    #[arg(long)]
    only_symbols: bool,

    #[command(flatten)]
    symbols: SymbolOptions,

    #[command(flatten)]
    source: SourceOptions,
}

impl Cmd for PackCommand {
    const NAME: &'static str = "pack";
    const ABOUT: &'static str = "Pack a recording with the binaries and symbols that it needs";
    const EXAMPLES: &'static str = "\
Examples:
  readperf pack perf.data -o slow.tar.zst             then, anywhere: readperf report slow.tar.zst
  readperf pack --sources perf.data                   with source files, for annotate: perf.data.tar.zst
  readperf pack --only-symbols perf.data              without code: smaller, and nobody gets the programs
  readperf pack --dry-run perf.data                   what would be packed, and how large it is
  tar -xf slow.tar.zst && perf --buildid-dir .debug report -i perf.data

Packed is what samples and their callers are in, found as for other commands, and by build-id where one was recorded.";

    fn run(&self) -> anyhow::Result<Outcome> {
        let recording = self.input.open()?;
        let path = self.recording(&recording)?;
        let output = self.output()?;
        let file = output.as_ref().map(|output| create(output, &[&self.input])).transpose()?;
        let mut contents =
            Contents::new(&path, self.only_symbols).with_context(|| path.display().to_string())?;
        let analysis = self.gather(&recording, &mut contents)?;
        let outcome = Outcome::of(&self.input, analysis.issues);
        if outcome.is_refused() {
            return Ok(outcome);
        }
        tell(&contents);
        let Some(file) = file else {
            list(&contents)?;
            return Ok(outcome);
        };
        let name = file.path().display().to_string();
        let total = contents.members().iter().map(|member| member.bytes).sum();
        let mut progress = Progress::new("packing", !self.input.reading.no_progress);
        let mut writer = file.writer().with_context(|| name.clone())?;
        contents
            .write(&mut writer, LEVEL, |done| progress.bytes((done, total)))
            .with_context(|| name.clone())?;
        drop(progress);
        let size = writer.metadata().map_or(0, |written| written.len());
        drop(writer);
        let outcome = outcome.publishing([file])?;
        say(&format!("{name}: {}", binary_size(size)));
        Ok(outcome)
    }
}

impl PackCommand {
    /// The file or directory to be packed.
    fn recording(&self, recording: &Recording) -> anyhow::Result<PathBuf> {
        let packed = self.input.unpacked()?.map(|unpacked| unpacked.recording());
        match packed.or_else(|| self.input.path()) {
            Some(path) if !recording.is_stream() => Ok(path),
            _ => anyhow::bail!("a stream can be read only once: write it to a file first"),
        }
    }

    /// The archive to be written; none if it is only asked for.
    fn output(&self) -> anyhow::Result<Option<PathBuf>> {
        match &self.output {
            _ if self.dry_run => Ok(None),
            Some(output) if output.as_os_str() == "-" => {
                anyhow::bail!("-o: an archive needs a name")
            }
            Some(output) => Ok(Some(output.clone())),
            None => {
                let mut name = self.input.path().context("-o: an archive needs a name")?.into_os_string();
                name.push(".tar.zst");
                Ok(Some(name.into()))
            }
        }
    }

    /// Looks all names, lines and stacks up, and adds what they came from.
    fn gather(&self, recording: &Recording, contents: &mut Contents) -> anyhow::Result<Analysis> {
        let symbols = self.symbols.options(&self.input)?;
        let file_loader = symbols.file_loader.clone().keeping_used();
        // What is known from earlier runs would be answered without the files.
        let symbols = Options { cache: None, file_loader: file_loader.clone(), ..symbols };
        let request = Request {
            symbols: symbols.clone(),
            pass: PassOptions {
                stacks: true,
                branches: true,
                unwind: Some(symbols.clone()),
                ..PassOptions::default()
            },
            keep: Keep { stacks: true, ..Keep::default() },
            ..Request::default()
        };
        let details = DetailOptions { fields: vec![DetailField::DataPlace], ..DetailOptions::default() };
        let files = Files::new();
        let mut progress = Progress::new("reading", !self.input.reading.no_progress);
        let (analysis, names) = readperf::analyse_keeping_names(
            &files,
            recording,
            &request,
            &details,
            |_, chunk| -> perffile::Result<()> {
                progress.bytes(chunk.progress());
                Ok(())
            },
        )?;
        drop(progress);
        if self.sources {
            self.add_sources(&files, &analysis, names, &symbols, contents);
        }
        for used in file_loader.used() {
            contents.add_used(&used);
            if used.role == Role::KernelList {
                contents.add_beside(&used, "modules");
            }
        }
        add_missing(&analysis, contents);
        Ok(analysis)
    }

    /// Adds the source files of all functions that samples were taken in.
    fn add_sources<'f>(
        &self,
        files: &'f Files,
        analysis: &Analysis,
        names: Namer<'f>,
        symbols: &Options,
        contents: &mut Contents,
    ) {
        let request = ListingRequest {
            symbols: symbols.clone(),
            options: ListingOptions { calls: true },
            ..ListingRequest::default()
        };
        let mut reader = CodeReader::new(files, &analysis.metadata, names, request);
        let targets = reader.targets(&analysis.profile, &analysis.session);
        let listings = reader.list(&targets, &targets.hottest(0.0, usize::MAX).targets);
        let sources = SourceFiles::new(&self.source, &self.input, symbols).of(&listings, &analysis.session);
        let mut missing = 0;
        let mut sorted: Vec<_> = sources.files.iter().collect();
        sorted.sort_by_key(|(path, _)| *path);
        for (recorded, source) in sorted {
            match source {
                Ok(source) => contents.add_source(recorded, source.path.as_ref(), source.text.bytes()),
                Err(_) => missing += 1,
            }
        }
        if missing > 0 {
            contents.add_missing(format!("{missing} source files that are not here"));
        }
    }
}

/// Adds which binaries are not packed, and why.
fn add_missing(analysis: &Analysis, contents: &mut Contents) {
    for missing in analysis.profile.missing_names(true) {
        let binary = missing.binary.and_then(|id| analysis.session.binary(id));
        let Some(binary) = binary else { continue };
        let name = String::from_utf8_lossy(&binary.name).into_owned();
        let is_packed = contents.members().iter().any(|member| member.recorded.to_string_lossy() == name);
        if !is_packed {
            let samples = missing.samples.max(missing.in_stacks);
            contents.add_missing(format!("{name} ({} samples): {}", grouped(samples), missing.reason));
        }
    }
}

/// Says what is packed, and what is not.
fn tell(contents: &Contents) {
    let sizes =
        Kind::ALL.iter().map(|kind| (kind, contents.size_of(*kind))).filter(|(_, (count, _))| *count > 0);
    let parts: Vec<String> = sizes
        .map(|(kind, (count, bytes))| match kind {
            Kind::Recording => format!("{} {}", kind.name(count), binary_size(bytes)),
            _ => format!("{count} {} {}", kind.name(count), binary_size(bytes)),
        })
        .collect();
    let all: u64 = contents.members().iter().map(|member| member.bytes).sum();
    say(&format!("{}: {} before compression", parts.join(", "), binary_size(all)));
    for missing in contents.missing().iter().take(MOST_TOLD) {
        say(&format!("not packed: {missing}"));
    }
    let more = contents.missing().len().saturating_sub(MOST_TOLD);
    if more > 0 {
        say(&format!("not packed: and {more} more, which the manifest lists"));
    }
}

/// Lists what would be packed.
fn list(contents: &Contents) -> anyhow::Result<()> {
    let mut out = Out::standard();
    for member in contents.members() {
        let (path, from) = (member.path.to_string_lossy(), member.from.to_string_lossy());
        writeln!(out, "{:>15}  {}  ({})", grouped(member.bytes), printable(&path), printable(&from))?;
    }
    out.complete()?;
    Ok(())
}
