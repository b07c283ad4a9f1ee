//! Lines whose places are named. A stack that was written a moment ago is copied from there.

use crate::buffer::{Append as _, Buffer};

/// Stacks whose place in the text is remembered: about as many as are written before it is cleared. A power of two.
const REMEMBERED: usize = if cfg!(debug_assertions) { 8 } else { 1 << 12 };

/// Text that [`Fillings::complete`](super::Fillings::complete) appends to.
#[derive(Clone, Debug, Default)]
pub struct Completed {
    pub(super) text: Buffer,
    pub(super) stacks: WrittenStacks,
}

impl Completed {
    /// The text.
    pub fn as_slice(&self) -> &[u8] {
        self.text.as_slice()
    }

    /// Forgets the text; the memory stays, and is room for the next one.
    pub fn clear(&mut self) {
        self.text.clear();
        self.stacks.clears += 1;
    }
}

/// Where in a text stacks are, as far as that is remembered.
#[derive(Clone, Debug)]
pub(super) struct WrittenStacks {
    slots: Vec<WrittenStack>,
    /// How often the text has been cleared. What was written before that is not there any more.
    clears: u64,
}

/// A stack in a style, and where it is.
#[derive(Clone, Copy, Debug, Default)]
struct WrittenStack {
    chain: u64,
    style: u16,
    /// How often the text had been cleared, and one more.
    clears: u64,
    start: u32,
    len: u32,
}

impl Default for WrittenStacks {
    fn default() -> WrittenStacks {
        WrittenStacks { slots: vec![WrittenStack::default(); REMEMBERED], clears: 1 }
    }
}

impl WrittenStacks {
    #[inline]
    fn slot(chain: u64) -> usize {
        usize::try_from(chain % REMEMBERED as u64).unwrap_or(0)
    }

    /// Writes the stack of a [chain](readperf_profile::ChainId::bits) once more, if it is there in this style. Returns whether that is so.
    #[inline]
    pub(super) fn write_again(&self, chain: u64, style: u16, text: &mut Buffer) -> bool {
        let Some(stack) = self.slots.get(WrittenStacks::slot(chain)) else { return false };
        let is_there = (stack.clears, stack.chain, stack.style) == (self.clears, chain, style);
        if is_there {
            text.again(stack.start as usize, stack.len as usize);
        }
        is_there
    }

    /// The stack of a chain has been written: it is what of the text is behind `start`.
    #[inline]
    pub(super) fn remember(&mut self, chain: u64, style: u16, text: &Buffer, start: usize) {
        let len = u32::try_from(text.length() - start);
        if let (Ok(start), Ok(len), Some(slot)) =
            (u32::try_from(start), len, self.slots.get_mut(WrittenStacks::slot(chain)))
        {
            *slot = WrittenStack { chain, style, clears: self.clears, start, len };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_before_is_written_again() {
        let (mut completed, mut expected, mut copied) = (Completed::default(), Vec::new(), 0);
        // More chains than are remembered, in two styles, each with a text of its own length.
        for nr in 0..5000_u64 {
            let (chain, style) = (nr * nr % 37, u16::try_from(nr / 3 % 2).unwrap());
            let text = format!("{chain} in {style};").repeat(usize::try_from(chain).unwrap() + 1);
            expected.extend_from_slice(text.as_bytes());
            let Completed { text: out, stacks } = &mut completed;
            if stacks.write_again(chain, style, out) {
                copied += 1;
            } else {
                let start = out.length();
                out.slice(text.as_bytes());
                stacks.remember(chain, style, out, start);
            }
            if nr % 450 == 449 {
                assert!(completed.as_slice() == expected, "{nr}");
                expected.clear();
                completed.clear();
            }
        }
        assert!(completed.as_slice() == expected);
        assert!((500..4500).contains(&copied), "{copied} of 5000 were copied");
    }
}
