//! Where names come from: the flags that commands with names share.

use crate::input::Input;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use readperf::symbols::{self, GuestFiles, Options, SymbolArchive, cache_dir};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// How names are shown.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
enum Demangle {
    /// With parameters
    Full,
    /// Without parameters, as perf
    #[default]
    Simple,
    /// As in the symbol table
    None,
}

/// Where names come from.
#[derive(Args, Debug, Clone)]
pub(crate) struct SymbolOptions {
    /// Look for binaries here too, by name and equal build-id: a directory, or what `perf archive` packed (the recording's own
    /// directory is always searched)
    #[arg(long, value_name = "DIR|FILE")]
    symbols: Vec<PathBuf>,

    /// The recorded machine's file system is below this directory
    #[arg(long, value_name = "DIR")]
    symfs: Option<PathBuf>,

    /// Kernel symbols from this file instead of /proc/kallsyms
    #[arg(long, value_name = "FILE")]
    kallsyms: Option<PathBuf>,

    /// Kernel symbols from this image
    #[arg(short = 'k', long, value_name = "FILE")]
    vmlinux: Option<PathBuf>,

    /// Kernel symbols of guests from this list
    #[arg(long, value_name = "FILE")]
    guestkallsyms: Option<PathBuf>,

    /// Kernel symbols of guests from this image
    #[arg(long, value_name = "FILE")]
    guestvmlinux: Option<PathBuf>,

    /// The file systems of guests are in this directory, each below the number of its process
    #[arg(long, value_name = "DIR")]
    guestmount: Option<PathBuf>,

    /// How names are shown
    #[arg(long, value_enum, default_value_t)]
    demangle: Demangle,

    /// Show names as in the symbol table, as perf says it
    #[arg(long, hide = true, conflicts_with = "demangle")]
    no_demangle: bool,

    /// Neither use nor keep the source lines of earlier runs
    #[arg(long)]
    no_cache: bool,

    /// Ask the servers in DEBUGINFOD_URLS for what is missing
    #[cfg(feature = "debuginfod")]
    #[arg(long)]
    debuginfod: bool,

    /// Threads that work [default: one a processor]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl SymbolOptions {
    /// How many threads work.
    pub(crate) fn thread_count(&self) -> usize {
        Options { threads: self.threads, ..Options::default() }.thread_count()
    }

    /// Threads for what a command does in parallel itself.
    pub(crate) fn pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        let threads = self.thread_count();
        let builder = || rayon::ThreadPoolBuilder::new().num_threads(threads);
        // This thread is one of them, unless it is in another pool: to hand small pieces of work to another one and sleep
        // costs more than the work.
        Ok(builder().use_current_thread().build().or_else(|_| builder().build())?)
    }

    /// The options for the symbols of this recording.
    pub(crate) fn options(&self, input: &Input) -> anyhow::Result<Options> {
        let beside = input.path().and_then(|path| path.parent().map(Path::to_owned));
        let mut search_dirs = Vec::new();
        let mut archives = Vec::new();
        for place in &self.symbols {
            if place.is_dir() {
                search_dirs.push(place.clone());
                continue;
            }
            let archive = SymbolArchive::unpack(place).with_context(|| {
                format!(
                    "{} (--symbols is where names come from; --symbol and -S choose functions)",
                    place.display()
                )
            })?;
            search_dirs.push(archive.directory().to_owned());
            archives.push(archive);
        }
        search_dirs.extend(beside);
        Ok(Options {
            symfs: self.symfs.clone(),
            search_dirs,
            kallsyms: self.kallsyms.clone(),
            vmlinux: self.vmlinux.clone(),
            guest: GuestFiles {
                kallsyms: self.guestkallsyms.clone(),
                vmlinux: self.guestvmlinux.clone(),
                mount: self.guestmount.clone(),
                // What belongs to the recording is told by the recording.
                kcore_dirs: Vec::new(),
            },
            demangle: match self.demangle {
                _ if self.no_demangle => symbols::Demangle::None,
                Demangle::Full => symbols::Demangle::Full,
                Demangle::Simple => symbols::Demangle::Simple,
                Demangle::None => symbols::Demangle::None,
            },
            threads: self.threads,
            inlines: true,
            cache: if self.no_cache { None } else { cache_dir() },
            file_loader: readperf::mapped_files(archives),
            #[cfg(feature = "debuginfod")]
            debuginfod: self.servers()?,
            ..Options::default()
        })
    }

    #[cfg(feature = "debuginfod")]
    fn servers(&self) -> anyhow::Result<Option<readperf::symbols::Debuginfod>> {
        let servers = || readperf::symbols::Debuginfod::from_environment();
        match self.debuginfod.then(servers) {
            Some(None) => anyhow::bail!("--debuginfod: DEBUGINFOD_URLS names no server"),
            Some(servers) => Ok(servers),
            None => Ok(None),
        }
    }
}
