//! Lines in which the names of places are still missing. Names are looked up for many places at a time, so lines wait for them.

use super::code::SourceText;
use super::places::Places;
use readperf_profile::AddressId;
use rustc_hash::FxHashSet;

/// Some lines, in order.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub(super) text: Vec<u8>,
    marks: Vec<Mark>,
    sources: Vec<SourceGap>,
}

/// A gap to be filled in.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Where in the text, bytes.
    at: usize,
    filling: Filling,
}

/// What goes into a gap.
#[derive(Clone, Copy, Debug)]
enum Filling {
    /// A place, by the index of its style. `first` is set where no chain goes on.
    Place { style: u32, first: bool, place: AddressId },
    /// A line of source text, by its index.
    Source(usize),
}

/// Where the source text of a sample goes, if it is another line than the one before of its thread.
#[derive(Clone, Debug)]
pub struct SourceGap {
    /// The thread.
    pub tid: u32,
    /// Where the sample was taken.
    pub place: AddressId,
    text: Option<Box<[u8]>>,
}

impl SourceGap {
    /// Takes the line.
    pub fn fill(&mut self, text: &SourceText, number: u32) {
        self.text = text.shown_line(number);
    }
}

impl Draft {
    /// An empty one, with room for samples with call chains of usual length.
    pub fn with_room(samples: usize) -> Draft {
        let text = Vec::with_capacity(samples * 64);
        Draft { text, marks: Vec::with_capacity(samples * 8), sources: Vec::new() }
    }

    /// A place goes here; `first` says that it does not go on a chain.
    pub(super) fn mark(&mut self, style: usize, place: AddressId, first: bool) {
        let style = u32::try_from(style).unwrap_or(u32::MAX);
        self.marks.push(Mark { at: self.text.len(), filling: Filling::Place { style, first, place } });
    }

    /// Source text goes here.
    pub(super) fn mark_source(&mut self, tid: u32, place: AddressId) {
        self.marks.push(Mark { at: self.text.len(), filling: Filling::Source(self.sources.len()) });
        self.sources.push(SourceGap { tid, place, text: None });
    }

    /// Where source text goes, in order.
    pub fn source_gaps(&mut self) -> &mut [SourceGap] {
        &mut self.sources
    }

    /// The text, for lines without places.
    pub fn text_mut(&mut self) -> &mut Vec<u8> {
        &mut self.text
    }

    /// How much it holds, roughly, in bytes.
    pub fn size(&self) -> usize {
        self.text.len() + self.marks.len() * size_of::<Mark>()
    }
}

/// What goes into the gaps of drafts. Threads may complete drafts with it while others are being made.
#[derive(Clone, Debug, Default)]
pub struct Fillings {
    /// The lines of places, in each style.
    pub(super) places: Vec<Places>,
    /// Places behind which a chain is not shown any more.
    pub(super) chain_ends: FxHashSet<AddressId>,
}

impl Fillings {
    /// Appends the text of a draft. All its places must have been learned ([`Script::prepare`]).
    ///
    /// [`Script::prepare`]: super::Script::prepare
    pub fn complete(&self, draft: &Draft, out: &mut Vec<u8>) {
        // The lines of all places are more than the caches hold: touched first, so that the processor waits for many of them
        // at once.
        let lengths = draft.marks.iter().map(|mark| {
            let text = self.held(draft, mark.filling);
            text.len() + usize::from(text.first() == Some(&0))
        });
        out.reserve(draft.text.len() + lengths.sum::<usize>());
        let (mut from, mut chain_ended) = (0, false);
        for mark in &draft.marks {
            out.extend_from_slice(draft.text.get(from..mark.at).unwrap_or_default());
            from = mark.at;
            let Filling::Place { first, place, style } = mark.filling else {
                out.extend_from_slice(self.held(draft, mark.filling));
                continue;
            };
            if chain_ended && !first {
                continue;
            }
            chain_ended = self.chain_ends.contains(&place);
            if let Some(places) = self.places.get(style as usize) {
                places.write_to(place, out);
            }
        }
        out.extend_from_slice(draft.text.get(from..).unwrap_or_default());
    }

    /// What is held of what goes into a gap.
    fn held<'d>(&'d self, draft: &'d Draft, filling: Filling) -> &'d [u8] {
        match filling {
            Filling::Place { style, place, .. } => {
                self.places.get(style as usize).map_or(&[], |places| places.held(place))
            }
            Filling::Source(nr) => {
                draft.sources.get(nr).and_then(|gap| gap.text.as_deref()).unwrap_or_default()
            }
        }
    }
}
