//! Several recordings made one.
//!
//! Each is read twice, in order of time. A [`Survey`] finds what it says of itself, its events and its kernel; a [`Merge`] decides
//! from all of them what becomes of ids, pids, times and addresses; then the records go over in order of time, as they are where
//! nothing of them changes. What several recordings tell alike, as parts of one recording do, is there once.

mod clocks;
mod events;
mod features;
mod kernels;
mod survey;
mod translation;
mod write;

pub use survey::Survey;
pub use write::{Merged, Tally};

use clocks::Clock;
use events::Events;
use features::OwnIds;
use kernels::Kernel;
use perffile::Recording;
use perffile::write::Head;
use std::fmt;

/// What to do with what recordings may share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// Whether the same pid is the same process.
    pub pids: Pids,
    /// Whether events that were opened alike stay apart.
    pub events_apart: bool,
    /// Whether times stay as they are, also where clocks are known to differ.
    pub keep_times: bool,
}

/// Whether the same pid in several recordings is the same process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pids {
    /// Where they are of one boot of one machine, as far as is known: host name, place of the kernel, clock.
    #[default]
    ByEvidence,
    /// It is.
    Joined,
    /// It is not: those of the second recording get [`PIDS_APART`] added, those of the third twice that, and so on.
    Apart,
}

/// What is added to pids that are kept apart: more than the kernel has (4,194,304), and easy to take off again.
pub const PIDS_APART: u32 = 10_000_000;

/// Why there is no merged recording.
#[derive(Debug)]
pub enum Error {
    /// They cannot become one: why not.
    Refused(String),
    /// One of them cannot be read, or the output cannot be written.
    Recording(perffile::Error),
}

impl From<perffile::Error> for Error {
    fn from(error: perffile::Error) -> Error {
        Error::Recording(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(why) => f.write_str(why),
            Error::Recording(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Refused(_) => None,
            Error::Recording(error) => Some(error),
        }
    }
}

/// A recording that is to be merged with others.
#[derive(Clone, Copy, Debug)]
pub struct Source<'r> {
    /// What it is called.
    pub name: &'r str,
    /// It can be read again.
    pub recording: &'r Recording,
    /// What was found in it.
    pub survey: &'r Survey,
}

/// How some recordings become one.
#[derive(Debug)]
pub struct Merge<'r> {
    sources: Vec<Source<'r>>,
    head: Head,
    events: Events,
    clocks: Vec<Clock>,
    kernels: Vec<Kernel>,
    /// What is added to the pids of each.
    pids: Vec<u32>,
    /// Build-ids that the mappings of each tell.
    own_ids: Vec<OwnIds>,
    notes: Vec<String>,
}

impl<'r> Merge<'r> {
    /// Decides how these recordings become one. The first is the one whose byte order and, where they differ, whose features stay.
    ///
    /// # Errors
    /// [`Error::Refused`]: they cannot.
    pub fn plan(sources: Vec<Source<'r>>, choices: Choices) -> Result<Merge<'r>, Error> {
        let mut notes = Vec::new();
        survey::check(&sources)?;
        let events = Events::join(&sources, choices.events_apart)?;
        let kernels = kernels::place(&sources, &mut notes)?;
        let clocks = clocks::align(&sources, choices.keep_times, &mut notes);
        let pids = pids(&sources, &clocks, choices.pids, &mut notes)?;
        let own_ids = features::own_ids(&sources);
        let head = features::merge(&sources, &events, &clocks, &own_ids, &mut notes)?;
        Ok(Merge { sources, head, events, clocks, kernels, pids, own_ids, notes })
    }

    /// What was decided that may not be expected: conflicts, and what came of them.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// What is added to the pids of each recording.
fn pids(
    sources: &[Source<'_>],
    clocks: &[Clock],
    choice: Pids,
    notes: &mut Vec<String>,
) -> Result<Vec<u32>, Error> {
    let is_one_boot = match (sources.first(), clocks.first()) {
        (Some(first), Some(clock)) => sources.iter().zip(clocks).all(|(other, other_clock)| {
            first.survey.is_of_one_machine(other.survey) && clock.is_that_of(other_clock)
        }),
        _ => true,
    };
    let are_joined = match choice {
        Pids::Joined => true,
        Pids::Apart => false,
        Pids::ByEvidence => is_one_boot,
    };
    if are_joined {
        return Ok(vec![0; sources.len()]);
    }
    if choice == Pids::ByEvidence {
        notes.push(format!(
            "the recordings are not known to be of one boot of one machine: pids are kept apart, those of the second from {PIDS_APART} on"
        ));
    }
    if let Some(source) = sources.iter().find(|source| source.survey.highest_pid >= PIDS_APART) {
        let pid = source.survey.highest_pid;
        return Err(Error::Refused(format!("{}: pids as high as {pid} cannot be kept apart", source.name)));
    }
    let most = (i32::MAX.cast_unsigned() / PIDS_APART) as usize;
    if sources.len() > most {
        return Err(Error::Refused(format!("pids of no more than {most} recordings can be kept apart")));
    }
    Ok((0..).step_by(PIDS_APART as usize).take(sources.len()).collect())
}
