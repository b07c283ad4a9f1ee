//! From a recording to something that can be looked into.

use crate::early::EarlyRows;
use crate::explorer::Explorer;
use crate::rows::RowOptions;
use crate::state::State;
use perffile::Recording;
use readperf_analysis::{Chunk, ListingRequest, Request, analyse_keeping_names, name_kernel_addresses};
use readperf_profile::view::surroundings::Surroundings;
use readperf_profile::{DetailOptions, Keep, Times};
use readperf_symbols::Files;
use regex::Regex;
use std::time::{Duration, Instant};

/// What is wanted of a recording.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// Where names come from, what is read. Threads, CPUs, times and stacks are kept in any case, so that they can be chosen by.
    pub request: Request,
    /// Which fields of samples are kept for sort keys.
    pub details: DetailOptions,
    /// What rows are at first.
    pub rows: RowOptions,
    /// What the key `parent` looks for.
    pub parent: Option<Regex>,
    /// How functions are listed.
    pub listings: ListingRequest,
    /// Whether rows are shown while the recording is still read, see [`Progress::early`].
    pub early: bool,
}

/// How far the reading has come.
#[derive(Debug)]
pub struct Progress<'p> {
    /// Bytes that have been read, and all.
    pub bytes: (u64, u64),
    /// What the samples up to now add up to, if that was wanted.
    pub early: &'p EarlyRows,
    /// Processes and binaries up to now.
    pub known: &'p readperf_analysis::State,
}

/// How often somebody who watches is told.
const EVERY: Duration = Duration::from_millis(50);

impl<'f> Explorer<'f> {
    /// Reads a recording. `watch` is called now and then on the way, the last time when all records are read and names begin to be looked
    /// up: whoever shows something until then does this work on another thread.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn open(
        files: &'f Files,
        recording: &Recording,
        opening: &Opening,
        mut watch: impl FnMut(Progress<'_>),
    ) -> perffile::Result<Explorer<'f>> {
        let mut request = opening.request.clone();
        request.keep = Keep { stacks: true, threads: true, cpus: true, times: Times::Each };
        request.pass.stacks = true;
        request.pass.shows_samples = opening.early;
        let details = DetailOptions { whole_stacks: false, ..opening.details.clone() };
        let (mut surroundings, mut early) = (Surroundings::default(), EarlyRows::default());
        let mut told: Option<Instant> = None;
        let each = |known: &readperf_analysis::State, chunk: &Chunk<'_>| {
            chunk.entries().iter().for_each(|entry| surroundings.see(&entry.event));
            if opening.early {
                early.see(known, chunk);
            }
            let bytes = chunk.progress();
            if bytes.0 >= bytes.1 || told.is_none_or(|told| told.elapsed() >= EVERY) {
                told = Some(Instant::now());
                watch(Progress { bytes, early: &early, known });
            }
            perffile::Result::Ok(())
        };
        let (mut analysis, names) = analyse_keeping_names(files, recording, &request, &details, each)?;
        surroundings.learn(&analysis.metadata);
        let asked = surroundings.symbol_addresses(&analysis.profile);
        if !asked.is_empty() {
            let learn = |address, name: Option<(&str, u64)>| surroundings.learn_symbol(address, name);
            name_kernel_addresses(&asked, &analysis.session, &analysis.metadata, &request.symbols, learn);
        }
        let whole = std::mem::take(&mut analysis.profile);
        let event = whole.events().iter().position(|event| event.samples > 0).unwrap_or(0);
        let state = State { event, rows: opening.rows.clone(), ..State::default() };
        let listings = ListingRequest { symbols: request.symbols, ..opening.listings.clone() };
        Ok(Explorer::new(
            files,
            analysis,
            whole,
            surroundings,
            names,
            listings,
            opening.parent.clone(),
            state,
        ))
    }
}
