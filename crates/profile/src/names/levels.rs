//! The function of each address, and the levels of the code there.

use super::{Frame, FunctionId, number};
use crate::addresses::AddressId;

/// Functions and levels by address. There may be millions of addresses, and most are in a function of which nothing else is known: that is
/// their only level, and one number says all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    /// The function of each address or, with [`HELD`], the number of what is held of it. [`NONE`] if it has no level.
    of_address: Vec<u32>,
    held: Vec<Held>,
    /// The levels that are held.
    frames: Vec<Frame>,
}

/// An address whose only level is not a function alone.
#[derive(Clone, Copy, Debug)]
struct Held {
    function: FunctionId,
    /// Where its frames end; they begin where those before it end.
    end: u32,
}

/// Marks the number of what is held of an address. Memory is at its end before there are as many functions.
const HELD: u32 = 1 << 31;

/// No level.
const NONE: u32 = u32::MAX;

/// What stands for the function of an address without levels.
#[inline]
fn no_function() -> FunctionId {
    FunctionId::new(usize::MAX)
}

impl Levels {
    /// How many addresses there are.
    pub(super) fn len(&self) -> usize {
        self.of_address.len()
    }

    /// Room for so many more addresses.
    pub(super) fn reserve(&mut self, more: usize) {
        self.of_address.reserve(more);
    }

    /// Adds the next address: its function, and its levels, the innermost first. Without levels the function is the only one.
    pub(super) fn push(&mut self, function: FunctionId, levels: impl IntoIterator<Item = Frame>) {
        let start = self.frames.len();
        self.frames.extend(levels);
        let levels = self.frames.get(start..).unwrap_or_default();
        if levels.is_empty() || levels == [Frame::alone(function)] {
            self.frames.truncate(start);
            self.of_address.push(number(function.index()));
            return;
        }
        self.of_address.push(HELD | number(self.held.len()));
        self.held.push(Held { function, end: number(self.frames.len()) });
    }

    /// Adds an address that has no level.
    pub(super) fn push_none(&mut self) {
        self.of_address.push(NONE);
    }

    /// The function of an address that has levels.
    #[inline]
    pub(super) fn function(&self, address: AddressId) -> Option<FunctionId> {
        let number = *self.of_address.get(address.index())?;
        match number & HELD {
            0 => Some(FunctionId::new(number as usize)),
            _ => self.held(number & !HELD).map(|held| held.function),
        }
    }

    /// Whether levels of an address are held: whether its function is not all that is known of it.
    #[inline]
    pub(super) fn is_held(&self, address: AddressId) -> bool {
        self.of_address.get(address.index()).is_some_and(|number| number & HELD != 0)
    }

    fn held(&self, number: u32) -> Option<Held> {
        self.held.get(number as usize).copied()
    }

    /// The levels of an address, the innermost first. `function` is what its function is now taken for.
    #[inline]
    pub(super) fn at(
        &self,
        address: AddressId,
        function: Option<FunctionId>,
    ) -> impl DoubleEndedIterator<Item = Frame> + ExactSizeIterator + Clone + use<'_> {
        let number = self.of_address.get(address.index()).copied().unwrap_or(NONE);
        let held = if number & HELD == 0 { &[] } else { self.frames_of(number & !HELD) };
        let count = if held.is_empty() { usize::from(function.is_some()) } else { held.len() };
        let alone = Frame::alone(function.unwrap_or_else(no_function));
        (0..count).map(move |nr| held.get(nr).copied().unwrap_or(alone))
    }

    fn frames_of(&self, number: u32) -> &[Frame] {
        let end = |number: u32| self.held(number).map_or(0, |held| held.end as usize);
        let start = number.checked_sub(1).map_or(0, end);
        self.frames.get(start..end(number)).unwrap_or_default()
    }

    /// The frames that are held.
    pub(super) fn frames_mut(&mut self) -> &mut [Frame] {
        &mut self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::FileId;

    #[test]
    fn an_address_has_its_levels_whether_they_are_held_or_not() {
        let function = FunctionId::new;
        let inlined = Frame { function: function(3), file: None, line: 7 };
        let on_a_line = Frame { file: Some(FileId::new(0)), line: 1, ..Frame::alone(function(2)) };
        let of_address = [
            vec![Frame::alone(function(0))],
            vec![inlined, Frame::alone(function(1))],
            vec![Frame::alone(function(1))],
            vec![],
            vec![on_a_line],
            vec![Frame::alone(function(2))],
        ];
        let mut levels = Levels::default();
        for of in &of_address {
            match of.last() {
                Some(outermost) => levels.push(outermost.function, of.clone()),
                None => levels.push_none(),
            }
        }
        levels.push(function(5), []);
        assert_eq!(levels.frames.len(), 3, "of the second and the fifth");
        let at = |nr| levels.at(AddressId(nr), levels.function(AddressId(nr))).collect::<Vec<_>>();
        for (nr, of) in (0..).zip(&of_address) {
            assert_eq!(at(nr), *of);
        }
        assert_eq!(at(6), [Frame::alone(function(5))]);
        assert_eq!(at(7), [], "not known");
    }
}
