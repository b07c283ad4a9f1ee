//! Where names come from: the flags that commands with names share.

#[cfg(feature = "debuginfod")]
use crate::config::Config;
use crate::input::Input;
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use readperf::symbols::{self, GuestFiles, Options, SymbolArchive, SymbolFiles, cache_dir, thread_pool};
use readperf_pack::Unpacked;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Stack of each thread that a command has for its own work.
const STACK_BYTES: usize = 2 << 20;

/// How names are shown.
#[derive(ValueEnum, Clone, Copy, Debug, Default, PartialEq)]
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
    /// Look for binaries and debug files here too, by their build-id: a directory, an ELF file, or what `perf archive` packed (in
    /// the recording's own directory they are always looked for, by name)
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

    /// Ask the servers in DEBUGINFOD_URLS for what is missing (always: `[debuginfod] ask = true` in
    /// ~/.config/readperf/config.toml)
    #[cfg(feature = "debuginfod")]
    #[arg(long)]
    debuginfod: bool,

    /// Ask no server, whatever the configuration says
    #[cfg(feature = "debuginfod")]
    #[arg(long, conflicts_with = "debuginfod")]
    no_debuginfod: bool,

    /// How many threads to use [default: one a processor]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

impl SymbolOptions {
    /// How many threads work.
    pub(crate) fn thread_count(&self) -> usize {
        Options { threads: self.threads, ..Options::default() }.thread_count()
    }

    /// The flags about where names come from that were given.
    pub(crate) fn of_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let all = [
            ("--symbols", !self.symbols.is_empty()),
            ("--symfs", self.symfs.is_some()),
            ("--kallsyms", self.kallsyms.is_some()),
            ("--vmlinux", self.vmlinux.is_some()),
            ("--guestkallsyms", self.guestkallsyms.is_some()),
            ("--guestvmlinux", self.guestvmlinux.is_some()),
            ("--guestmount", self.guestmount.is_some()),
            ("--demangle", self.demangle != Demangle::default()),
            ("--no-demangle", self.no_demangle),
            ("--no-cache", self.no_cache),
            #[cfg(feature = "debuginfod")]
            ("--debuginfod", self.debuginfod),
            #[cfg(feature = "debuginfod")]
            ("--no-debuginfod", self.no_debuginfod),
        ];
        all.into_iter().filter_map(|(name, given)| given.then_some(name))
    }

    /// Threads for what a command does in parallel itself.
    pub(crate) fn pool(&self) -> anyhow::Result<rayon::ThreadPool> {
        let threads = self.thread_count();
        let builder = || rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES);
        // This thread is one of them, unless it is in another pool: to hand small pieces of work to another one and sleep
        // costs more than the work.
        let pool = builder().use_current_thread().build().or_else(|_| builder().build()).ok();
        pool.or_else(|| thread_pool(1, STACK_BYTES)).context("the system gives no threads")
    }

    /// The options for the symbols of this recording.
    pub(crate) fn options(&self, input: &Input) -> anyhow::Result<Options> {
        self.check_paths()?;
        let beside = input.folder();
        let mut search_dirs = Vec::new();
        let mut archives = Vec::new();
        let directories = self.symbols.iter().filter(|place| place.is_dir()).cloned().collect();
        let mut symbol_files = SymbolFiles::below(directories);
        for place in &self.symbols {
            if place.is_dir() {
                search_dirs.push(place.clone());
                continue;
            }
            let what =
                || format!("--symbols {} (where names come from; -S chooses functions)", place.display());
            if symbol_files.add(place).with_context(what)? {
                continue;
            }
            let archive = SymbolArchive::open(place).with_context(what)?;
            search_dirs.push(archive.directory().to_owned());
            archives.push(archive);
        }
        search_dirs.extend(beside);
        let unpacked = input.unpacked()?;
        if let Some(unpacked) = unpacked {
            unpacked.complete().with_context(|| input.name())?;
            search_dirs.extend([unpacked.cache(), unpacked.root()]);
        }
        Ok(Options {
            symfs: self.symfs.clone().or_else(|| unpacked.map(Unpacked::root)),
            search_dirs,
            symbol_files,
            kallsyms: self.kallsyms.clone().or_else(|| unpacked?.kernel_symbols()),
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
            // An archive may be packed anew under its name; what was unpacked lies elsewhere each time.
            cache: if self.no_cache || !archives.is_empty() || unpacked.is_some() {
                None
            } else {
                cache_dir()
            },
            file_loader: match unpacked {
                Some(unpacked) => readperf::mapped_files(archives).with_origins(unpacked.origins().clone()),
                None => readperf::mapped_files(archives),
            },
            #[cfg(feature = "debuginfod")]
            debuginfod: self.servers()?,
            ..Options::default()
        })
    }

    /// A path that was mistyped is told at once: later it would only be a reason among others. That nothing is below a root
    /// shows in the reasons.
    fn check_paths(&self) -> anyhow::Result<()> {
        let files = [
            ("--kallsyms", &self.kallsyms),
            ("--vmlinux", &self.vmlinux),
            ("--guestkallsyms", &self.guestkallsyms),
            ("--guestvmlinux", &self.guestvmlinux),
        ];
        for (option, path) in files {
            let Some(path) = path else { continue };
            let found = std::fs::metadata(path).with_context(|| format!("{option} {}", path.display()))?;
            anyhow::ensure!(!found.is_dir(), "{option} {}: a directory, not a file", path.display());
        }
        for (option, path) in [("--symfs", &self.symfs), ("--guestmount", &self.guestmount)] {
            let Some(path) = path else { continue };
            let is_other = std::fs::metadata(path).is_ok_and(|found| !found.is_dir());
            anyhow::ensure!(!is_other, "{option} {}: not a directory", path.display());
        }
        Ok(())
    }

    #[cfg(feature = "debuginfod")]
    fn servers(&self) -> anyhow::Result<Option<readperf::symbols::Debuginfod>> {
        if self.no_debuginfod {
            return Ok(None);
        }
        let servers = readperf::symbols::Debuginfod::from_environment();
        match servers {
            None if self.debuginfod => anyhow::bail!("--debuginfod: DEBUGINFOD_URLS names no server"),
            // Without servers the configuration does not matter.
            Some(servers) if self.debuginfod || Config::read()?.debuginfod.ask => Ok(Some(servers)),
            _ => Ok(None),
        }
    }
}
