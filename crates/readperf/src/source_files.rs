//! Source files on this machine: found by the path that the compiler recorded, or by what the user says of it.

use crate::input::Input;
use clap::Args;
use readperf::output::annotate::{Source, Sources};
use readperf::output::script::SourceText;
use readperf::profile::view::listing::Listing;
use readperf::session::{BinaryKind, Session};
use readperf::symbols::Options;
use readperf_pack::Unpacked;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// Largest source file that is read, bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Where source files are.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Where source files are")]
pub(crate) struct SourceOptions {
    /// Source files whose recorded path begins with OLD are below NEW
    #[arg(long = "source-prefix", value_name = "OLD=NEW", value_parser = prefix)]
    prefixes: Vec<(String, PathBuf)>,

    /// Look for source files below this directory, too: by the end of their path, the longest first
    #[arg(long = "source", value_name = "DIR", num_args = 0..=1, action = clap::ArgAction::Append)]
    dirs: Vec<PathBuf>,
}

fn prefix(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() => Ok((old.to_owned(), new.into())),
        _ => Err(format!("{text}: expected OLD=NEW, as /build/src=/home/me/src")),
    }
}

impl SourceOptions {
    /// The flags that were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [("--source-prefix", !self.prefixes.is_empty()), ("--source", !self.dirs.is_empty())];
        all.into_iter().filter_map(|(name, given)| given.then_some(name))
    }

    /// perf's option of that name takes no value: what comes behind it may be the recording or a function.
    pub(crate) fn word(&self) -> Option<&str> {
        self.dirs.iter().find(|dir| !dir.is_dir()).and_then(|word| word.to_str())
    }
}

/// Finds source files.
pub(crate) struct SourceFiles<'o> {
    options: &'o SourceOptions,
    /// Where the recording is.
    beside: Option<PathBuf>,
    /// The files that were packed with the recording.
    packed: Option<&'o Unpacked>,
    /// Which servers may be asked.
    symbols: &'o Options,
}

/// What is known of the binaries that files were compiled into.
struct Binaries {
    dirs: Vec<PathBuf>,
    /// When the newest of them was written.
    written: Option<SystemTime>,
    /// The build-ids of those whose lines come from debug information.
    build_ids: Vec<Box<[u8]>>,
}

impl<'o> SourceFiles<'o> {
    /// A finder for one recording.
    pub(crate) fn new(options: &'o SourceOptions, input: &'o Input, symbols: &'o Options) -> SourceFiles<'o> {
        let beside = input.path().and_then(|path| path.parent().map(Path::to_owned));
        // That it cannot be read was told when the recording was opened.
        let packed = input.unpacked().ok().flatten();
        SourceFiles { options, beside, packed, symbols }
    }

    /// The texts of all files that listings name.
    pub(crate) fn of(&self, listings: &[Listing], session: &Session) -> Sources {
        let mut sources = Sources::default();
        for listing in listings {
            let binaries = Binaries::of(listing, session, self.symbols);
            for (nr, file) in listing.files.iter().enumerate() {
                let lines = listing.lines.iter().filter(|line| line.file == Some(nr));
                let last = lines.map(|line| line.line).max().unwrap_or(0);
                let known = sources
                    .files
                    .entry(Arc::clone(&file.path))
                    .or_insert_with(|| self.find(&file.path, &binaries));
                if let Ok(source) = known
                    && source.text.lines() < last
                {
                    source.doubt = Some(format!(
                        "it has {} lines, and line {last} was compiled: it is another one",
                        source.text.lines()
                    ));
                }
            }
        }
        sources
    }

    fn find(&self, path: &str, binaries: &Binaries) -> Result<Source, String> {
        let mut refused = None;
        for candidate in self.candidates(path, binaries) {
            match read(&candidate) {
                Ok(Some(ReadFile { text, written })) => {
                    let is_newer = written.zip(binaries.written).is_some_and(|(a, b)| a > b);
                    let doubt = is_newer.then(|| {
                        "it is newer than the binary: its lines may not be those that were compiled"
                            .to_owned()
                    });
                    let origin = self.packed.and_then(|packed| packed.origins().files.get(&candidate));
                    let path = origin.unwrap_or(&candidate).to_string_lossy().into_owned();
                    return Ok(Source { path, text: SourceText::new(text), doubt });
                }
                Ok(None) => {}
                Err(why) => refused = refused.or(Some(format!("{}: {why}", candidate.display()))),
            }
        }
        let mut unanswered = None;
        for build_id in &binaries.build_ids {
            match self.symbols.source_from_server(build_id, path) {
                Ok(Some(found)) => {
                    if let Ok(Some(ReadFile { text, .. })) = read(&found) {
                        let path = found.to_string_lossy().into_owned();
                        return Ok(Source { path, text: SourceText::new(text), doubt: None });
                    }
                }
                Ok(None) => {}
                Err(reason) => unanswered = Some(reason.to_string()),
            }
        }
        let nowhere = || "no such file here; --source DIR looks below DIR".to_owned();
        Err(refused.or(unanswered).unwrap_or_else(nowhere))
    }

    /// Where a file may be, the best place first.
    fn candidates(&self, path: &str, binaries: &Binaries) -> Vec<PathBuf> {
        let SourceOptions { prefixes, dirs } = self.options;
        let mut candidates: Vec<PathBuf> = Vec::new();
        for (old, new) in prefixes {
            if let Some(rest) = path.strip_prefix(old.as_str()) {
                candidates.push(new.join(rest.trim_start_matches('/')));
            }
        }
        candidates
            .extend(self.packed.iter().filter_map(|packed| Some(packed.sources().join(ends(path).next()?))));
        // A relative path says nothing of where it starts.
        if path.starts_with('/') {
            candidates.push(path.into());
        }
        let dirs = dirs.iter().filter(|dir| dir.is_dir());
        for dir in dirs.chain(&binaries.dirs).chain(&self.beside) {
            candidates.extend(ends(path).map(|end| dir.join(end)));
        }
        candidates
    }
}

impl Binaries {
    fn of(listing: &Listing, session: &Session, symbols: &Options) -> Binaries {
        let names = listing.parts.iter().filter_map(|part| session.binary(part.binary?));
        // Generated code and kernels are not in the file that they are called by.
        let is_of_file = |kind: &BinaryKind| {
            matches!(kind, BinaryKind::User | BinaryKind::Kernel { .. } | BinaryKind::Module { .. })
        };
        let of_files = names.clone().filter(|binary| is_of_file(&binary.kind));
        let mut build_ids: Vec<Box<[u8]>> = of_files.filter_map(|binary| binary.build_id.clone()).collect();
        build_ids.dedup();
        let names = names.filter(|binary| binary.kind == BinaryKind::User);
        let paths: Vec<PathBuf> = names
            .map(|binary| Path::new(OsStr::from_bytes(&binary.name)))
            .filter(|path| path.is_absolute())
            .map(|path| symbols.here(path))
            .collect();
        let written = paths.iter().filter_map(|path| std::fs::metadata(path).ok()?.modified().ok()).max();
        let mut dirs: Vec<PathBuf> =
            paths.iter().filter_map(|path| path.parent().map(Path::to_owned)).collect();
        dirs.dedup();
        Binaries { dirs, written, build_ids }
    }
}

/// The ends of a path, the longest first, without what leads upwards.
pub(crate) fn ends(path: &str) -> impl Iterator<Item = PathBuf> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | "." | "..")).collect();
    (0..parts.len()).map(move |from| parts.get(from..).unwrap_or_default().iter().collect())
}

/// The bytes of a file, and when it was written.
struct ReadFile {
    text: Arc<[u8]>,
    written: Option<SystemTime>,
}

/// The bytes of a regular file that is not too large; `None` if there is none. The path comes from the debugging information of a
/// binary: nothing else is opened, and opening waits for nobody.
fn read(path: &Path) -> Result<Option<ReadFile>, String> {
    let Ok(metadata) = std::fs::metadata(path) else { return Ok(None) };
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    let told = |error: std::io::Error| error.to_string();
    let file: File = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .map_err(told)?;
    let metadata = file.metadata().map_err(told)?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() > MAX_BYTES {
        return Err(format!("larger than {} MiB", MAX_BYTES >> 20));
    }
    let mut text = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut text).map_err(told)?;
    Ok(Some(ReadFile { text: text.into(), written: metadata.modified().ok() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_paths_never_lead_upwards() {
        let ends: Vec<PathBuf> = ends("/src/../a//./b.c").collect();
        assert_eq!(ends, ["src/a/b.c", "a/b.c", "b.c"].map(PathBuf::from));
    }
}
