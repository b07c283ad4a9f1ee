//! The function of each address, and the levels of the code there.

use super::{Frame, FunctionId, number};
use crate::addresses::AddressId;

/// Functions and levels by address. There may be millions of addresses, and most are in a function of which nothing else is known: that is
/// their only level, and is not held once more.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    of_address: Vec<OfAddress>,
    /// The levels of addresses, except where a function alone is the only one.
    frames: Vec<Frame>,
}

#[derive(Clone, Copy, Debug)]
struct OfAddress {
    function: FunctionId,
    /// Where its frames end; they begin where those of the address before it end.
    end: u32,
}

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
        if self.frames.get(start..) == Some(&[Frame::alone(function)]) {
            self.frames.truncate(start);
        }
        self.of_address.push(OfAddress { function, end: number(self.frames.len()) });
    }

    /// Adds an address that has no level.
    pub(super) fn push_none(&mut self) {
        self.push(no_function(), []);
    }

    /// The function of an address.
    #[inline]
    pub(super) fn function(&self, address: AddressId) -> Option<FunctionId> {
        self.of_address.get(address.index()).map(|of| of.function)
    }

    /// The levels of an address, the innermost first. `function` is what its function is now taken for.
    #[inline]
    pub(super) fn at(
        &self,
        address: AddressId,
        function: Option<FunctionId>,
    ) -> impl DoubleEndedIterator<Item = Frame> + ExactSizeIterator + Clone + use<'_> {
        let end = |index: usize| self.of_address.get(index).map_or(0, |of| of.end as usize);
        let start = address.index().checked_sub(1).map_or(0, end);
        let held = self.frames.get(start..end(address.index())).unwrap_or_default();
        let function = function.unwrap_or_else(no_function);
        let count = if held.is_empty() { usize::from(function != no_function()) } else { held.len() };
        (0..count).map(move |nr| held.get(nr).copied().unwrap_or(Frame::alone(function)))
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
