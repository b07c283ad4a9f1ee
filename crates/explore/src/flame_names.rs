//! What the levels of flame graphs are called, of one recording or of two that are compared.

use crate::flame::Label;
use readperf_profile::frames::{UNKNOWN, UniqueFrame};
use readperf_profile::matching::{Matching, name_by_kind};
use readperf_profile::view::flame_tree::{FlameLevel, FlameLevels, NO_LINE};
use readperf_profile::{Apart, CodeKind, FrameTable, Level, Profile};
use readperf_session::Session;
use std::borrow::Cow;
use std::sync::Arc;

/// A frame of a graph of two recordings, of the new one wherever that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFrame {
    /// Its function, else its binary in brackets; under the name that the new recording has for it.
    pub name: String,
    /// Whether its function has a name.
    pub named: bool,
    /// Its binary; empty where none is known.
    pub binary: String,
    /// The kind of code.
    pub kind: CodeKind,
    /// Whether its function is inlined.
    pub inlined: bool,
}

/// What the levels of the places of a profile are called: the same for all that is chosen of it, as long as stacks are not changed.
#[derive(Debug)]
pub(crate) struct FlameNames {
    pub(crate) levels: FlameLevels,
    /// The levels of the recording that is compared with.
    pub(crate) levels_before: FlameLevels,
    frames: Arc<NamedFrames>,
    /// What is at places of which all functions are hidden.
    hidden: Option<FlameLevel>,
    /// How many names of functions there are: labels are their numbers in order, and behind them those of threads.
    pub(crate) count: usize,
}

/// The frames of a graph, by the number of their variant.
#[derive(Debug)]
enum NamedFrames {
    /// Of one recording.
    Own(Vec<UniqueFrame>),
    /// Of two: those of the new one first.
    Compared(Vec<ComparedFrame>),
}

/// The numbers of labels in the order of their names, and how many there are.
fn ranks(labels: &[&str]) -> (Vec<u32>, usize) {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let rank =
        |label: &&str| u32::try_from(sorted.partition_point(|other| other < label)).unwrap_or(u32::MAX);
    (labels.iter().map(rank).collect(), sorted.len())
}

/// Levels under the labels of frames that begin at a number.
fn numbered(table: &FrameTable, ranks: &[u32], first: usize) -> FlameLevels {
    let mut levels = table.levels();
    let first = u32::try_from(first).unwrap_or(u32::MAX);
    levels.renumber(|level| {
        let variant = level.label.saturating_add(first);
        let label = ranks.get(variant as usize).copied().unwrap_or(u32::MAX);
        FlameLevel { label, variant, line: NO_LINE }
    });
    levels
}

impl FlameNames {
    pub(crate) fn new(profile: &Profile, session: &Session) -> FlameNames {
        let table = FrameTable::new(profile, session, Apart::default());
        // Changes of stacks may bring it, and all labels are numbered now.
        let hidden = UniqueFrame::hidden_later(profile);
        let frames = table.frames().iter().chain(&hidden);
        let labels: Vec<Cow<'_, str>> = frames.map(|frame| frame.label(profile, session)).collect();
        let (ranks, count) = ranks(&labels.iter().map(Cow::as_ref).collect::<Vec<_>>());
        let levels = numbered(&table, &ranks, 0);
        drop(labels);
        let mut frames = table.into_frames();
        let variant = u32::try_from(frames.len()).unwrap_or(u32::MAX);
        let label = ranks.get(frames.len()).copied().unwrap_or(u32::MAX);
        frames.extend(hidden);
        FlameNames {
            levels,
            levels_before: FlameLevels::default(),
            frames: Arc::new(NamedFrames::Own(frames)),
            hidden: hidden.map(|_| FlameLevel { label, variant, line: NO_LINE }),
            count,
        }
    }

    /// The same for a profile that changes of stacks made of this one: it has more places, of whose levels only some are kept.
    pub(crate) fn with_more_places(&self, profile: &Profile) -> FlameNames {
        let mut levels = self.levels.clone();
        for made in
            (levels.len()..profile.addresses().len()).filter_map(|index| profile.addresses().id(index))
        {
            let recorded = profile.recorded_place(made);
            let mut all = profile.levels_at(recorded).rev().zip(self.levels.at(recorded));
            let is_one = |a: &Level, b: &Level| (a.function, a.file, a.line) == (b.function, b.file, b.line);
            let kept = profile.levels_at(made).rev().map(|kept| all.find(|(level, _)| is_one(level, &kept)));
            let kept: Vec<FlameLevel> =
                kept.filter_map(|level| level.map(|(_, level)| *level).or(self.hidden)).collect();
            levels.push(kept.into_iter());
        }
        let (frames, levels_before) = (Arc::clone(&self.frames), FlameLevels::default());
        FlameNames { levels, levels_before, frames, hidden: self.hidden, count: self.count }
    }

    /// Those of two recordings, under the names of the new one.
    pub(crate) fn compared(new: &ComparedSide<'_>, base: &ComparedSide<'_>) -> FlameNames {
        let ((now, mut frames), (before, more)) = (new.frames(), base.frames());
        let first = frames.len();
        frames.extend(more);
        let (ranks, count) = ranks(&frames.iter().map(|frame| frame.name.as_str()).collect::<Vec<_>>());
        let (levels, levels_before) = (numbered(&now, &ranks, 0), numbered(&before, &ranks, first));
        let frames = Arc::new(NamedFrames::Compared(frames));
        FlameNames { levels, levels_before, frames, hidden: None, count }
    }

    /// The frame of a variant.
    pub(crate) fn label(&self, variant: u32) -> Option<Label<'_>> {
        match &*self.frames {
            NamedFrames::Own(frames) => frames.get(variant as usize).map(Label::Frame),
            NamedFrames::Compared(frames) => frames.get(variant as usize).map(Label::Compared),
        }
    }
}

/// One of two recordings that are shown in one graph.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparedSide<'s> {
    pub(crate) profile: &'s Profile,
    pub(crate) session: &'s Session,
    /// The event; none where it has no such one.
    pub(crate) event: Option<usize>,
    /// What its names are in the new recording.
    pub(crate) matching: &'s Matching,
}

impl<'s> ComparedSide<'s> {
    fn frames(&self) -> (FrameTable, Vec<ComparedFrame>) {
        let table = FrameTable::new(self.profile, self.session, Apart::default());
        let frames = table.frames().iter().map(|frame| self.named(frame)).collect();
        (table, frames)
    }

    fn named(&self, frame: &UniqueFrame) -> ComparedFrame {
        let binary = frame.binary.and_then(|binary| self.session.binary(binary));
        let binary = binary.map(|binary| self.matching.binary(&name_by_kind(binary)).to_owned());
        let called = || binary.as_deref().map_or(Cow::Borrowed(UNKNOWN), |name| Cow::Owned(name.to_owned()));
        let name = frame.label_in(self.profile, called).into_owned();
        ComparedFrame {
            name,
            named: frame.named,
            binary: binary.unwrap_or_default(),
            kind: frame.kind,
            inlined: frame.first.inlined,
        }
    }
}
