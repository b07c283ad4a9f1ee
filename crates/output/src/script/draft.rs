//! Lines in which the names of places are still missing. Names are looked up for many places at a time, so lines wait for them.

use super::beginnings::{Again, Beginning, Beginnings, Of};
use super::code::SourceText;
use super::completed::Completed;
use super::places::Places;
use crate::buffer::{Append as _, Buffer};
use readperf_profile::{AddressId, ChainId, Located, LocatedId, NewPlaces};
use rustc_hash::FxHashSet;

/// Places that make it worth it to look whether a stack was written a moment ago: of fewer to write them takes as long.
const WORTH_COPYING: usize = 4;

/// Bytes that an empty draft keeps at most.
const MOST_KEPT: usize = 256 << 10;

/// Some lines, in order: their text, and in its gaps the numbers of places, or of the samples that were taken there.
#[derive(Clone, Debug)]
pub struct Draft {
    pub(super) text: Buffer,
    gaps: Vec<Gap>,
    /// Where the text begins that no gap follows yet.
    from: usize,
    /// How the line begins that no gap follows yet.
    again: Again,
    /// The places of all gaps, one after the other.
    places: Vec<AddressId>,
    /// The addresses of those places where nothing is mapped, and of samples that may have been taken there.
    unmapped: Vec<u64>,
    /// The first sample whose places come later, and the number behind the last one.
    first: Option<LocatedId>,
    samples: u32,
    sources: Vec<SourceGap>,
    beginnings: Beginnings,
}

/// A gap to be filled in.
#[derive(Clone, Copy, Debug)]
struct Gap {
    /// Bytes of text before it, from the last one on. A sample has less of it than a number of this size can say, and so it is
    /// with its places.
    text: u32,
    /// How a line begins behind that, if it begins as an earlier one.
    again: Again,
    filling: Filling,
    /// Whether the line ends behind it.
    ends_line: bool,
}

/// What goes into a gap.
#[derive(Clone, Copy, Debug)]
enum Filling {
    /// Places, by the index of their style. `first` is set where they do not go on a chain.
    /// For so many of them there are addresses.
    Places { style: u16, first: bool, count: u32, unmapped: u32 },
    /// Of the sample so many behind the first one at most so many places of its stack, or of what stands in for it.
    Stack { style: u16, or_place: bool, sample: u32, most: u32 },
    /// Where that sample was taken; there is an address for it.
    TakenAt { style: u16, sample: u32 },
    /// The next line of source text.
    Source,
    /// Nothing.
    Nothing,
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

impl Default for Draft {
    fn default() -> Draft {
        Draft::with_room(0, 0)
    }
}

impl Draft {
    /// An empty one, with room for so many samples, and places of theirs that do not come later.
    pub fn with_room(samples: usize, places: usize) -> Draft {
        Draft {
            text: Buffer::with_capacity(samples * 8),
            gaps: Vec::with_capacity(samples),
            from: 0,
            again: Again::NONE,
            places: Vec::with_capacity(places),
            unmapped: Vec::with_capacity(places / 2),
            first: None,
            samples: 0,
            sources: Vec::new(),
            beginnings: Beginnings::default(),
        }
    }

    /// Empties it, and keeps its memory for other lines. `None` if that is more than usual ones need.
    pub fn emptied(mut self) -> Option<Draft> {
        self.text.clear();
        self.gaps.clear();
        self.places.clear();
        self.unmapped.clear();
        (self.first, self.samples) = (None, 0);
        self.sources.clear();
        self.from = 0;
        self.beginnings.clear();
        self.again = Again::NONE;
        let unmapped = self.unmapped.capacity() * size_of::<u64>();
        let places = self.places.capacity() * size_of::<AddressId>() + unmapped;
        let bytes = self.text.capacity() + self.gaps.capacity() * size_of::<Gap>() + places;
        (bytes <= MOST_KEPT).then_some(self)
    }

    /// Places go here, with no fewer addresses than there are among them where nothing is mapped; `first` says that they do not go on a chain.
    #[inline]
    pub(super) fn mark(&mut self, style: usize, places: &[AddressId], unmapped: &[u64], first: bool) {
        // There are as many styles as kinds of events, at most.
        let style = u16::try_from(style).unwrap_or(u16::MAX);
        self.places.extend_from_slice(places);
        self.unmapped.extend_from_slice(unmapped);
        self.push(Filling::Places {
            style,
            first,
            count: short(places.len()),
            unmapped: short(unmapped.len()),
        });
    }

    /// Where a sample was taken goes here, whose place comes later under this number, and has this address if nothing is mapped there.
    #[inline]
    pub(super) fn mark_taken_at(&mut self, style: usize, sample: LocatedId, ip: u64) {
        self.unmapped.push(ip);
        let (style, sample) = (u16::try_from(style).unwrap_or(u16::MAX), self.behind_first(sample));
        self.push(Filling::TakenAt { style, sample });
    }

    /// At most so many places of the stack of a sample go here, which come later under its number, or, if it has no stack and that is
    /// wanted, where it was taken.
    #[inline]
    pub(super) fn mark_stack(&mut self, style: usize, sample: LocatedId, or_place: bool, most: usize) {
        let (style, sample) = (u16::try_from(style).unwrap_or(u16::MAX), self.behind_first(sample));
        self.push(Filling::Stack { style, or_place, sample, most: short(most) });
    }

    #[inline]
    fn behind_first(&mut self, sample: LocatedId) -> u32 {
        let nr = sample.since(*self.first.get_or_insert(sample));
        self.samples = nr + 1;
        nr
    }

    /// Source text goes here.
    pub(super) fn mark_source(&mut self, tid: u32, place: AddressId) {
        self.sources.push(SourceGap { tid, place, text: None });
        self.push(Filling::Source);
    }

    #[inline]
    fn push(&mut self, filling: Filling) {
        let again = std::mem::replace(&mut self.again, Again::NONE);
        let text = short(self.text.length() - self.from);
        self.gaps.push(Gap { text, again, filling, ends_line: false });
        self.from = self.text.length();
    }

    /// Begins a line as an earlier one, but for the microseconds behind the second and the period, if there is one. A gap follows, or
    /// the [end](Draft::end_line) of the line.
    #[inline]
    pub(super) fn begin_again(&mut self, of: &Of, rest_us: u64, period: u64) -> bool {
        self.again = self.beginnings.again(of, rest_us, period).unwrap_or(Again::NONE);
        self.again.is_some()
    }

    /// A line begins like that, and others may.
    pub(super) fn remember(&mut self, of: Of, beginning: Beginning) {
        self.beginnings.remember(of, beginning);
    }

    /// How many lines begin as others.
    #[cfg(test)]
    pub(super) fn again_count(&self) -> usize {
        self.gaps.iter().filter(|gap| gap.again.is_some()).count()
    }

    /// Ends a line.
    #[inline]
    pub(super) fn end_line(&mut self) {
        if self.again.is_some() {
            self.push(Filling::Nothing);
        }
        match self.gaps.last_mut() {
            Some(last) if self.text.length() == self.from && !last.ends_line => last.ends_line = true,
            _ => self.text.byte(b'\n'),
        }
    }

    /// Where source text goes, in order.
    pub fn source_gaps(&mut self) -> &mut [SourceGap] {
        &mut self.sources
    }

    /// Has lines without places appended.
    pub fn append<T>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        self.text.append(write)
    }

    /// How much it holds, roughly, in bytes.
    pub fn size(&self) -> usize {
        let places = size_of_val(&*self.places) + size_of_val(&*self.unmapped);
        self.text.length() + size_of_val(&*self.gaps) + places
    }
}

/// What goes into the gaps of drafts. Threads may complete drafts with it while others are being made.
#[derive(Clone, Debug, Default)]
pub struct Fillings {
    /// The lines of places, in each style.
    pub(super) places: Vec<Places>,
    /// Functions behind which a chain is not shown any more, and their places.
    pub(super) stop_at: Vec<String>,
    pub(super) chain_ends: FxHashSet<AddressId>,
    /// How many places have been learned.
    pub(super) learned: usize,
}

impl Fillings {
    /// Forgets all places: they are numbered anew.
    pub fn forget(&mut self) {
        self.places.iter_mut().for_each(Places::forget);
        self.chain_ends.clear();
        self.learned = 0;
    }

    /// Makes the lines of the places that follow those that were learned; their names must be known.
    pub fn learn(&mut self, new: &NewPlaces<'_>) {
        self.places.iter_mut().for_each(|places| places.learn(new));
        self.learned = new.before + new.codes.len();
        if self.stop_at.is_empty() {
            return;
        }
        let ends = new.iter().map(|(id, _)| id).filter(|id| {
            let function = new.names.function_at(*id).and_then(|function| new.names.function(function));
            let name = function.and_then(|function| function.name());
            name.is_some_and(|name| self.stop_at.iter().any(|last| last == name))
        });
        self.chain_ends.extend(ends);
    }

    /// Appends the text of a draft. All its places must have been learned ([`Script::prepare`]). `located` has those that came later.
    ///
    /// [`Script::prepare`]: super::Script::prepare
    pub fn complete(&self, draft: &Draft, located: &Located, completed: &mut Completed) {
        let mut rest = Rest {
            text: &draft.text,
            from: 0,
            places: Marked { places: &draft.places, unmapped: &draft.unmapped, first: draft.first, located },
            sources: draft.sources.iter(),
        };
        let later = draft.first.map(|first| located.stacks(first, draft.samples as usize).0);
        for style in &self.places {
            style.touch(&draft.places);
            style.touch(later.unwrap_or_default());
        }
        let Completed { text: out, stacks } = completed;
        let mut chain_ended = false;
        for gap in &draft.gaps {
            if gap.text > 0 {
                rest.write_text(gap.text as usize, out);
            }
            if gap.again.is_some() {
                draft.beginnings.write(gap.again, &draft.text, out);
            }
            let of = match gap.filling {
                Filling::Places { style, first, .. } => Some((style, first)),
                Filling::Stack { style, .. } | Filling::TakenAt { style, .. } => Some((style, true)),
                Filling::Source => {
                    out.slice(rest.next_source());
                    None
                }
                Filling::Nothing => None,
            };
            if let Some((style, first)) = of {
                chain_ended &= !first;
                let own = rest.places.next(gap.filling);
                if !own.chain.is_some_and(|chain| stacks.write_again(chain, style, out)) {
                    let start = out.length();
                    self.write_places(style, own, &mut chain_ended, out);
                    if let Some(chain) = own.chain {
                        stacks.remember(chain, style, out, start);
                    }
                }
            }
            if gap.ends_line {
                out.byte(b'\n');
            }
        }
        out.slice(rest.text.as_slice().get(rest.from..).unwrap_or_default());
    }

    #[inline(always)]
    fn write_places(&self, style: u16, own: OfGap<'_>, chain_ended: &mut bool, out: &mut Buffer) {
        let Some(style) = self.places.get(usize::from(style)) else { return };
        let mut unmapped = own.unmapped.iter();
        let may_end = !self.chain_ends.is_empty();
        for place in own.places {
            if may_end {
                if *chain_ended {
                    return;
                }
                *chain_ended = self.chain_ends.contains(place);
            }
            match *place {
                AddressId::UNMAPPED => style.write_unmapped(unmapped.next().copied().unwrap_or(0), out),
                place => style.write_to(place, out),
            }
        }
    }
}

/// The places of gaps that are still to be filled.
struct Marked<'d> {
    places: &'d [AddressId],
    unmapped: &'d [u64],
    first: Option<LocatedId>,
    located: &'d Located,
}

impl<'d> Marked<'d> {
    /// Those of the next gap.
    #[inline]
    fn next(&mut self, filling: Filling) -> OfGap<'d> {
        match filling {
            Filling::Places { count, unmapped, .. } => OfGap {
                places: split(&mut self.places, count),
                unmapped: split(&mut self.unmapped, unmapped),
                chain: None,
            },
            Filling::Stack { or_place, sample, most, .. } => {
                let Some(sample) = self.sample(sample) else { return OfGap::default() };
                let (stack, unmapped) = self.located.stack(sample);
                let places = if stack.is_empty() && or_place { self.taken_at(sample) } else { stack };
                let is_worth_it = stack.len() >= WORTH_COPYING;
                let chain = if is_worth_it { self.located.chain(sample) } else { None };
                OfGap {
                    places: places.get(..most as usize).unwrap_or(places),
                    unmapped,
                    chain: chain.map(ChainId::bits),
                }
            }
            Filling::TakenAt { sample, .. } => {
                let places = self.sample(sample).map_or(&[][..], |sample| self.taken_at(sample));
                OfGap { places, unmapped: split(&mut self.unmapped, 1), chain: None }
            }
            Filling::Source | Filling::Nothing => OfGap::default(),
        }
    }

    /// The sample so many behind the first one.
    #[inline]
    fn sample(&self, behind: u32) -> Option<LocatedId> {
        Some(self.first?.behind(behind as usize))
    }

    #[inline]
    fn taken_at(&self, sample: LocatedId) -> &'d [AddressId] {
        self.located.taken_at(sample).map(std::slice::from_ref).unwrap_or_default()
    }
}

/// The places of a gap, and the addresses of those where nothing is mapped; there may be more addresses than that.
#[derive(Clone, Copy, Default)]
struct OfGap<'d> {
    places: &'d [AddressId],
    unmapped: &'d [u64],
    /// What names them, if something does: what has the same name has the same places.
    chain: Option<u64>,
}

/// Takes so many away from the front.
#[inline]
fn split<'d, T>(rest: &mut &'d [T], count: u32) -> &'d [T] {
    let (next, behind) = rest.split_at_checked(count as usize).unwrap_or_default();
    *rest = behind;
    next
}

/// What of a draft is still to be written.
struct Rest<'d> {
    text: &'d Buffer,
    from: usize,
    places: Marked<'d>,
    sources: std::slice::Iter<'d, SourceGap>,
}

impl<'d> Rest<'d> {
    #[inline]
    fn write_text(&mut self, len: usize, out: &mut Buffer) {
        out.piece(self.text.with_room(), self.from, len);
        self.from += len;
    }

    fn next_source(&mut self) -> &'d [u8] {
        self.sources.next().and_then(|gap| gap.text.as_deref()).unwrap_or_default()
    }
}

fn short(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
