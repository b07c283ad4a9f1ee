//! Lines in which the names of places are still missing. Names are looked up for many places at a time, so lines wait for them.

use super::Script;
use readperf_profile::AddressId;

/// Some lines, in order.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    pub(super) text: Vec<u8>,
    marks: Vec<Mark>,
}

/// A place to be filled in.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Where in the text, bytes.
    at: usize,
    style: usize,
    place: AddressId,
}

impl Draft {
    /// An empty one, with room for samples with call chains of usual length.
    pub fn with_room(samples: usize) -> Draft {
        Draft { text: Vec::with_capacity(samples * 64), marks: Vec::with_capacity(samples * 8) }
    }

    /// A place goes here.
    pub(super) fn mark(&mut self, style: usize, place: AddressId) {
        self.marks.push(Mark { at: self.text.len(), style, place });
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

impl Script {
    /// Appends the text of a draft. All its places must have been learned ([`Script::prepare`]).
    pub fn complete(&self, draft: &Draft, out: &mut Vec<u8>) {
        // The lines of all places are more than the caches hold: touched first, so that the processor waits for many of them
        // at once.
        let lengths = draft.marks.iter().map(|mark| {
            let text = self.places.get(mark.style).map_or(&[][..], |places| places.get(mark.place));
            text.len() + usize::from(text.first() == Some(&0))
        });
        out.reserve(draft.text.len() + lengths.sum::<usize>());
        let mut from = 0;
        for mark in &draft.marks {
            out.extend_from_slice(draft.text.get(from..mark.at).unwrap_or_default());
            from = mark.at;
            if let Some(places) = self.places.get(mark.style) {
                out.extend_from_slice(places.get(mark.place));
            }
        }
        out.extend_from_slice(draft.text.get(from..).unwrap_or_default());
    }
}
