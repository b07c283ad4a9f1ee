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
    /// The text of a draft. All its places must have been learned ([`Script::prepare`]).
    pub fn complete(&self, draft: &Draft) -> Vec<u8> {
        // Most places are about as long as this.
        const USUAL: usize = 72;
        let mut out = Vec::with_capacity(draft.text.len() + draft.marks.len() * USUAL);
        let mut from = 0;
        for mark in &draft.marks {
            out.extend_from_slice(draft.text.get(from..mark.at).unwrap_or_default());
            from = mark.at;
            if let Some(places) = self.places.get(mark.style) {
                out.extend_from_slice(places.get(mark.place));
            }
        }
        out.extend_from_slice(draft.text.get(from..).unwrap_or_default());
        out
    }
}
