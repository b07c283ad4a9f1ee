//! A place in a list of any length, of which the screen shows a part.

/// The line that the cursor is on, and the first that is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) at: usize,
    pub(crate) top: usize,
}

/// A move of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// One line up.
    Up,
    /// One line down.
    Down,
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// To the first line.
    First,
    /// To the last line.
    Last,
    /// To the left.
    Left,
    /// To the right.
    Right,
}

impl Cursor {
    /// Moves in a list of so many lines, of which so many are seen.
    pub(crate) fn step(&mut self, step: Move, len: usize, seen: usize) {
        let page = seen.saturating_sub(1).max(1);
        let at = match step {
            Move::Up | Move::Left => self.at.saturating_sub(1),
            Move::Down | Move::Right => self.at.saturating_add(1),
            Move::PageUp => self.at.saturating_sub(page),
            Move::PageDown => self.at.saturating_add(page),
            Move::First => 0,
            Move::Last => usize::MAX,
        };
        self.go(at, len, seen);
    }

    /// Goes to a line.
    pub(crate) fn go(&mut self, at: usize, len: usize, seen: usize) {
        self.at = at.min(len.saturating_sub(1));
        let seen = seen.max(1);
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(seen));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cursor_is_always_seen() {
        let mut cursor = Cursor::default();
        let steps = [
            Move::Down,
            Move::PageDown,
            Move::Last,
            Move::Up,
            Move::PageUp,
            Move::First,
            Move::Last,
            Move::PageUp,
        ];
        for len in [0, 1, 5, 100] {
            for step in steps.into_iter().cycle().take(50) {
                cursor.step(step, len, 7);
                assert!(cursor.at < len.max(1));
                assert!((cursor.top..cursor.top + 7).contains(&cursor.at), "{cursor:?} of {len}");
            }
        }
        cursor.step(Move::Last, 100, 7);
        assert_eq!(cursor, Cursor { at: 99, top: 93 });
        cursor.step(Move::PageUp, 100, 7);
        assert_eq!(cursor, Cursor { at: 93, top: 93 });
    }
}
