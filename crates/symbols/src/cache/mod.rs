//! Answers kept on disk from run to run.
//!
//! A cached answer must never differ from a fresh one. So a cache file names every file that the search for the binary
//! and for its debug information tried, found or not, with size, times and number: if anything is different now, or the
//! options are, or the program is, the cache file is not used. What a file says is used only after its checksum.

mod assemble;
mod bound;
mod entry;
mod file;
mod question;
mod stored;

use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use self::entry::CacheEntry;
use self::question::Question;
use crate::batch::{Provides, SymbolBatch};
use crate::demangle::Demangle;
use crate::options::Options;
use crate::subject::{AddressBatch, Subject};
use crate::trace::Trace;

pub(crate) use self::assemble::assemble;

/// Where the cache of the user is: `$XDG_CACHE_HOME/readperf`, `~/.cache/readperf` if that is not set. `None` without a
/// home directory.
pub fn cache_dir() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("readperf"))
}

/// The cache of one resolver.
#[derive(Debug)]
pub(crate) struct Cache {
    dir: PathBuf,
    max_bytes: u64,
    question: Question,
    style: Demangle,
    entries: FxHashMap<Subject, CacheEntry>,
}

impl Cache {
    /// The cache that the options ask for; `None` when the answers are not worth keeping.
    pub(crate) fn new(options: &Options) -> Option<Cache> {
        let dir = options.cache.clone()?;
        if !options.reads_debug_info() {
            return None;
        }
        let question = Question::of(options)?;
        let (max_bytes, style) = (options.cache_bytes, options.demangle);
        Some(Cache { dir, max_bytes, question, style, entries: FxHashMap::default() })
    }

    /// Reads what is known of the subjects of these batches, if that was not done yet.
    pub(crate) fn read(&mut self, batches: &[AddressBatch]) {
        let mut new: Vec<&Subject> = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for AddressBatch { subject, .. } in batches {
            let is_new = !self.entries.contains_key(subject) && seen.insert(subject);
            new.extend(is_new.then_some(subject));
        }
        let read = |subject: &Subject| Some((subject.clone(), self.entry(subject)?));
        let entries: Vec<(Subject, CacheEntry)> = new.into_par_iter().filter_map(read).collect();
        self.entries.extend(entries);
    }

    fn entry(&self, subject: &Subject) -> Option<CacheEntry> {
        let id = subject.build_id()?;
        let key = self.question.about(subject)?;
        Some(CacheEntry::read(&self.dir, id, key, subject, self.style))
    }

    /// What was kept of a subject.
    pub(crate) fn stored(&self, subject: &Subject) -> Option<&SymbolBatch> {
        self.entries.get(subject)?.stored()
    }

    /// Notes the files that are tried for a subject; `None` when its answers are not cached.
    pub(crate) fn trace(&self, subject: &Subject) -> Option<Arc<Trace>> {
        self.entries.get(subject).map(CacheEntry::trace)
    }

    /// Forgets what was kept of a subject if it turns out to depend on other files.
    pub(crate) fn check(&mut self, subject: &Subject) {
        if let Some(entry) = self.entries.get_mut(subject) {
            entry.check();
        }
    }

    /// Takes in new answers.
    pub(crate) fn add(&mut self, answer: SymbolBatch) {
        // The symbol list of a kernel is read as fast as a cached answer, and its state is not noted.
        let is_list = answer.found.iter().any(|found| found.provides == Provides::KernelSymbols);
        let is_kept = answer.batch_reason.is_none() && !is_list;
        if let Some(entry) = self.entries.get_mut(&answer.subject).filter(|_| is_kept) {
            entry.add(answer);
        }
    }

    /// Writes what is new.
    pub(crate) fn save(&mut self) -> std::io::Result<()> {
        let mut is_written = false;
        let mut outcome = Ok(());
        for (subject, entry) in &mut self.entries {
            match entry.save(subject) {
                Ok(written) => is_written |= written,
                Err(error) => outcome = Err(error),
            }
        }
        if is_written {
            bound::keep(&self.dir, self.max_bytes)?;
        }
        outcome
    }
}
