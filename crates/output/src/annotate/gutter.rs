//! Jumps as arrows in characters, left of the instructions.

use readperf_profile::view::listing::{Arrow, Arrows};

/// The arrows of a piece of code, row by row from the first instruction on.
pub(super) struct Gutter<'a> {
    arrows: &'a Arrows,
    /// The arrows by where they begin, the last first.
    waiting: Vec<&'a Arrow>,
    /// In each column the arrow whose line is there, from the code outwards.
    open: Vec<Option<&'a Arrow>>,
}

impl<'a> Gutter<'a> {
    pub(super) fn new(arrows: &'a Arrows) -> Gutter<'a> {
        let mut waiting: Vec<&Arrow> = arrows.drawn.iter().collect();
        waiting.sort_by_key(|arrow| std::cmp::Reverse(arrow.extent().0));
        Gutter { arrows, waiting, open: vec![None; usize::from(arrows.columns)] }
    }

    /// How many columns of text it takes.
    fn width(&self) -> usize {
        match self.arrows.columns {
            0 => 0,
            columns => usize::from(columns) + 2,
        }
    }

    /// What stands before the next instruction, given its index.
    pub(super) fn at(&mut self, index: u32) -> String {
        while let Some(arrow) = self.waiting.pop_if(|arrow| arrow.extent().0 <= index) {
            if let Some(slot) = self.open.get_mut(usize::from(arrow.column)) {
                *slot = Some(arrow);
            }
        }
        let mut text: Vec<char> = vec![' '; self.width()];
        let columns = self.open.len();
        // From the outermost column to the code: what leads to the code crosses the lines of others.
        let mut reached = None;
        for (column, arrow) in self.open.iter().enumerate().rev() {
            let Some(cell) = text.get_mut(columns - 1 - column) else { continue };
            let Some(arrow) = arrow else {
                if reached.is_some() {
                    *cell = '─';
                }
                continue;
            };
            let (first, last) = arrow.extent();
            let is_target = arrow.to == index;
            if is_target || arrow.from.binary_search(&index).is_ok() {
                *cell = match (index == first, index == last) {
                    _ if reached.is_some() => '┼',
                    (true, true) => '─',
                    (true, false) => '╭',
                    (false, true) => '╰',
                    (false, false) => '├',
                };
                reached = Some(reached.unwrap_or(false) || is_target);
            } else {
                *cell = if reached.is_some() { '┼' } else { '│' };
            }
        }
        if let Some(is_target) = reached {
            let end = if is_target { ['▶', ' '] } else { ['─', ' '] };
            for (cell, end) in text.iter_mut().skip(columns).zip(end) {
                *cell = end;
            }
        }
        for slot in &mut self.open {
            *slot = slot.filter(|arrow| arrow.extent().1 > index);
        }
        text.into_iter().collect()
    }

    /// What stands before a row between instructions.
    pub(super) fn between(&self) -> String {
        let mut text: Vec<char> = vec![' '; self.width()];
        let columns = self.open.len();
        for (column, arrow) in self.open.iter().enumerate() {
            if let (Some(cell), Some(_)) = (text.get_mut(columns - 1 - column), arrow) {
                *cell = '│';
            }
        }
        text.into_iter().collect()
    }
}
