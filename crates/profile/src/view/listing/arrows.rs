//! Jumps within a piece of code as arrows beside it.

use super::InstructionRow;
use std::collections::BTreeMap;

/// Most columns of arrows.
const MOST_COLUMNS: u16 = 10;

/// All jumps to one instruction, as one arrow with several tails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Indices of the instructions that jump, ascending.
    pub from: Vec<u32>,
    /// Index of the instruction that they jump to.
    pub to: u32,
    /// In which column its line is drawn: 0 is beside the code.
    pub column: u16,
}

impl Arrow {
    /// The first and the last instruction that its line goes along.
    pub fn extent(&self) -> (u32, u32) {
        let (first, last) = (self.from.first().copied(), self.from.last().copied());
        (first.unwrap_or(self.to).min(self.to), last.unwrap_or(self.to).max(self.to))
    }
}

/// The jumps within a piece of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrows {
    /// Those that are drawn, by where they lead.
    pub drawn: Vec<Arrow>,
    /// How many columns they take.
    pub columns: u16,
    /// How many jumps are not drawn, as there is no column left for them.
    pub left_out: usize,
}

impl Arrows {
    /// The arrows of instructions. Short ones are nearer to the code, and lines do not share a column where they overlap.
    pub(super) fn of(rows: &[InstructionRow]) -> Arrows {
        let mut by_target: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for (from, row) in (0u32..).zip(rows) {
            if let Some(to) = row.jumps_to {
                by_target.entry(to).or_default().push(from);
            }
        }
        let mut all: Vec<Arrow> =
            by_target.into_iter().map(|(to, from)| Arrow { from, to, column: 0 }).collect();
        all.sort_by_key(|arrow| {
            let (first, last) = arrow.extent();
            (last - first, first, arrow.to)
        });
        let mut columns: Vec<BTreeMap<u32, u32>> = Vec::new();
        let (mut drawn, mut left_out) = (Vec::new(), 0);
        for mut arrow in all {
            let (first, last) = arrow.extent();
            // Arrows in it that end where it ends go inside of it, too.
            let is_free = |taken: &BTreeMap<u32, u32>| {
                taken.range(..=last).next_back().is_none_or(|(_, other_last)| *other_last < first)
            };
            let column = columns.iter().position(is_free).unwrap_or(columns.len());
            let Some(number) = u16::try_from(column).ok().filter(|column| *column < MOST_COLUMNS) else {
                left_out += arrow.from.len();
                continue;
            };
            if column == columns.len() {
                columns.push(BTreeMap::new());
            }
            if let Some(taken) = columns.get_mut(column) {
                taken.insert(first, last);
            }
            arrow.column = number;
            drawn.push(arrow);
        }
        drawn.sort_by_key(|arrow| arrow.to);
        Arrows { drawn, columns: u16::try_from(columns.len()).unwrap_or(MOST_COLUMNS), left_out }
    }
}
