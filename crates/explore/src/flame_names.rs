//! What the levels of flame graphs are called, of one recording or of two that are compared.

use crate::flame::Label;
use readperf_profile::frames::{UNKNOWN, UniqueFrame};
use readperf_profile::matching::{Matching, name_by_kind};
use readperf_profile::view::flame_tree::{FlameLevel, FlameLevels, NO_LINE};
use readperf_profile::{Apart, CodeKind, FrameTable, Profile};
use readperf_session::Session;
use std::borrow::Cow;

/// A frame of a graph of two recordings, of the new one wherever that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComparedFrame {
    /// Its function, else its binary in brackets; under the name that the new recording has for it.
    pub name: String,
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
    frames: NamedFrames,
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
fn numbered(table: &FrameTable<'_>, ranks: &[u32], first: usize) -> FlameLevels {
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
        let labels: Vec<Cow<'_, str>> =
            table.frames().iter().map(|frame| frame.label(profile, session)).collect();
        let (ranks, count) = ranks(&labels.iter().map(Cow::as_ref).collect::<Vec<_>>());
        let levels = numbered(&table, &ranks, 0);
        drop(labels);
        let frames = NamedFrames::Own(table.into_frames());
        FlameNames { levels, levels_before: FlameLevels::default(), frames, count }
    }

    /// Those of two recordings, under the names of the new one.
    pub(crate) fn compared(new: &ComparedSide<'_>, base: &ComparedSide<'_>) -> FlameNames {
        let ((now, mut frames), (before, more)) = (new.frames(), base.frames());
        let first = frames.len();
        frames.extend(more);
        let (ranks, count) = ranks(&frames.iter().map(|frame| frame.name.as_str()).collect::<Vec<_>>());
        let (levels, levels_before) = (numbered(&now, &ranks, 0), numbered(&before, &ranks, first));
        FlameNames { levels, levels_before, frames: NamedFrames::Compared(frames), count }
    }

    /// The frame of a variant.
    pub(crate) fn label(&self, variant: u32) -> Option<Label<'_>> {
        match &self.frames {
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
    fn frames(&self) -> (FrameTable<'s>, Vec<ComparedFrame>) {
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
            binary: binary.unwrap_or_default(),
            kind: frame.kind,
            inlined: frame.first.inlined,
        }
    }
}
