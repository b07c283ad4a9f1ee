//! What samples recorded of where they were taken, on its way to the look-up.
//!
//! It is whole in itself: chains are copied, and the mappings of their time are beside them. So many samples can be looked up at
//! once, whatever is mapped between them, and another thread can do it while this one reads on.

use crate::addresses::Lookup;
use crate::chain;
use crate::contexts::{Context, ContextId, Contexts};
use crate::index::hash;
use perffile::wire::attr::EventAttr;
use readperf_session::{CpuMode, Mapping, SampleMoment, Session, SpaceState, SpaceVersion};
use std::ops::Range;

/// Samples that make it worth it to hand them to another thread: fewer in tests, so that this happens.
pub(crate) const ENOUGH: usize = if cfg!(debug_assertions) { 32 } else { 1024 };

/// Words of chains that are handed over at once, at most but for those of a chunk: a record may have thousands.
pub(crate) const MOST_WORDS: usize = 1 << 17;

/// Recorded call chains of some samples, or only where these were taken.
#[derive(Debug, Default)]
pub struct RecordedChains {
    /// Whether there are chains.
    pub(crate) has_stacks: bool,
    /// Without chains: where samples were taken.
    places: Vec<Lookup>,
    contexts: Contexts,
    heads: Vec<Head>,
    /// The words of all chains, one after the other.
    words: Vec<u64>,
    /// Of chains: hashes of what mostly differs.
    hashes: Vec<u32>,
    /// What was mapped: each state in which one of the samples was taken, and their versions.
    states: Vec<SpaceState>,
    versions: Vec<SpaceVersion>,
    /// Of these the last ones, where they are found without looking for them.
    at_hand: [SpaceVersion; AT_HAND],
}

/// Versions that are at hand; a power of two.
const AT_HAND: usize = if cfg!(debug_assertions) { 2 } else { 32 };

/// What is known of a chain besides its words.
#[derive(Clone, Copy, Debug)]
struct Head {
    ip: u64,
    context: ContextId,
    /// Where its words end. They begin where those of the chain before end.
    end: u32,
}

/// A recorded chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RecordedChain<'c> {
    /// Where the sample was taken.
    pub(crate) ip: u64,
    /// Its number among [those](RecordedChains::contexts) that these chains have.
    pub(crate) context: ContextId,
    pub(crate) words: &'c [u64],
}

impl RecordedChains {
    /// None so far; with their chains, or only where samples were taken.
    pub fn new(has_stacks: bool) -> RecordedChains {
        RecordedChains { has_stacks, ..RecordedChains::default() }
    }

    /// How many samples.
    pub fn len(&self) -> usize {
        self.heads.len().max(self.places.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a sample, in the mappings as of now; `attr` is that of its event, if that is known.
    #[inline(always)]
    pub fn push(&mut self, session: &Session, sample: &SampleMoment<'_>, attr: Option<&EventAttr>) {
        if self.has_stacks {
            return self.push_chain(session, sample, attr);
        }
        let SampleMoment { mode, ip, .. } = *sample;
        let version = session.space_version(sample.process, mode);
        if !self.has_at_hand(version) {
            self.learn_state(session, sample, mode, version);
        }
        self.places.push(Lookup { version, mode, ip });
    }

    fn push_chain(&mut self, session: &Session, sample: &SampleMoment<'_>, attr: Option<&EventAttr>) {
        let version = |mode| session.space_version(sample.process, mode);
        let start = self.words.len();
        let entries = attr.map_or(0, |attr| chain::append_words(&mut self.words, sample, attr));
        let words = self.words.get(start..).unwrap_or_default();
        let context = Context {
            mode: sample.mode,
            user: version(CpuMode::User),
            kernel: version(CpuMode::Kernel),
            guest_kernel: version(CpuMode::GuestKernel),
            branches: number(words.len() - entries),
        };
        self.hashes.push(hash(&(sample.ip, context.user, words)));
        let known = self.contexts.as_slice().len();
        let id = self.contexts.number(context);
        if id.0 as usize == known {
            self.learn_states(session, sample, &context);
        }
        self.heads.push(Head { ip: sample.ip, context: id, end: number(self.words.len()) });
    }

    /// Notes what is mapped in a context that is new.
    #[cold]
    fn learn_states(&mut self, session: &Session, sample: &SampleMoment<'_>, context: &Context) {
        for mode in [CpuMode::User, CpuMode::Kernel, CpuMode::GuestKernel] {
            self.learn_state(session, sample, mode, context.version(mode));
        }
    }

    /// Whether it is known at once that a sample before was taken in this state, or that nothing is mapped in it.
    #[inline(always)]
    fn has_at_hand(&self, version: SpaceVersion) -> bool {
        version == SpaceVersion::default() || self.at_hand.get(slot(version)) == Some(&version)
    }

    /// Notes what is mapped in a state, if it is new.
    #[cold]
    fn learn_state(
        &mut self,
        session: &Session,
        sample: &SampleMoment<'_>,
        mode: CpuMode,
        version: SpaceVersion,
    ) {
        if !self.versions.contains(&version)
            && let Some(state) = session.space_state(sample.process, mode)
        {
            self.versions.push(version);
            self.states.push(state);
        }
        if let Some(at_hand) = self.at_hand.get_mut(slot(version)) {
            *at_hand = version;
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.places.clear();
        self.contexts.clear();
        self.heads.clear();
        self.words.clear();
        self.hashes.clear();
        self.states.clear();
        self.versions.clear();
        self.at_hand = [SpaceVersion::default(); AT_HAND];
    }

    /// How many words all chains have.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// Whether they are enough to be handed to another thread; any are if they are the last.
    pub(crate) fn are_enough(&self, are_last: bool) -> bool {
        let least = if are_last { 1 } else { ENOUGH };
        self.len() >= least || self.words() >= MOST_WORDS
    }

    /// Where samples were taken, if that is all.
    pub(crate) fn places(&self) -> &[Lookup] {
        &self.places
    }

    /// Those of the chains.
    pub(crate) fn hashes(&self) -> &[u32] {
        &self.hashes
    }

    /// What these chains have in common with others, each once.
    pub(crate) fn contexts(&self) -> &Contexts {
        &self.contexts
    }

    /// The chain of a sample.
    #[inline]
    pub(crate) fn chain(&self, nr: usize) -> Option<RecordedChain<'_>> {
        let start =
            nr.checked_sub(1).map_or(Some(0), |before| self.heads.get(before).map(|head| head.end))?;
        let Head { ip, context, end } = *self.heads.get(nr)?;
        Some(RecordedChain { ip, context, words: self.words.get(start as usize..end as usize)? })
    }

    /// What was mapped at an address, in one of the states that the samples were taken in.
    #[inline]
    pub(crate) fn mapping(&self, version: SpaceVersion, ip: u64) -> Option<&Mapping> {
        self.state(version)?.find(ip)
    }

    /// What is mapped in one of these states, if it is that of a process.
    pub(crate) fn mapped(&self, version: SpaceVersion) -> impl Iterator<Item = Range<u64>> {
        let mappings = self.state(version).into_iter().flat_map(SpaceState::process_mappings);
        mappings.map(|mapping| mapping.start..mapping.end)
    }

    /// Samples mostly are of the processes that came last.
    #[inline]
    fn state(&self, version: SpaceVersion) -> Option<&SpaceState> {
        self.states.get(self.versions.iter().rposition(|other| *other == version)?)
    }
}

/// Where a version is at hand, if it is.
#[inline]
fn slot(version: SpaceVersion) -> usize {
    usize::try_from(version.number()).unwrap_or(0) % AT_HAND
}

/// Of words. They are handed over long before there are more, and a record is too short for more.
#[inline]
fn number(words: usize) -> u32 {
    u32::try_from(words).unwrap_or(u32::MAX)
}

#[cfg(test)]
impl RecordedChains {
    /// Where samples were taken, if that is all, and nothing is mapped.
    pub(crate) fn places_for_test(places: impl Iterator<Item = (CpuMode, u64)>) -> RecordedChains {
        let version = SpaceVersion::default();
        let places = places.map(|(mode, ip)| Lookup { version, mode, ip }).collect();
        RecordedChains { places, ..RecordedChains::default() }
    }

    /// Chains that nothing is mapped for: where samples were taken, in which mode, their words and how many are entries.
    pub(crate) fn for_test(chains: &[(u64, CpuMode, &[u64], u32)]) -> RecordedChains {
        let mut recorded = RecordedChains::new(true);
        for (ip, mode, words, entries) in chains {
            let none = SpaceVersion::default();
            let branches = number(words.len()).saturating_sub(*entries);
            let context = Context { mode: *mode, user: none, kernel: none, guest_kernel: none, branches };
            recorded.words.extend_from_slice(words);
            recorded.hashes.push(hash(&(*ip, none, *words)));
            let context = recorded.contexts.number(context);
            recorded.heads.push(Head { ip: *ip, context, end: number(recorded.words.len()) });
        }
        recorded
    }
}
