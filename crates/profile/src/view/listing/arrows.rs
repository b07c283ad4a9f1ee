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

#[cfg(test)]
mod tests {
    use super::super::Instruction;
    use super::*;
    use readperf_code::{Flow, Text};

    fn rows(jumps: &[(u32, u32)], length: u32) -> Vec<InstructionRow> {
        let row = |nr: u32| InstructionRow {
            code: Instruction {
                address: u64::from(nr),
                bytes: [0].into(),
                text: Text::default(),
                flow: Flow::Next,
                target_name: None,
                data: None,
            },
            jumps_to: jumps.iter().find(|(from, _)| *from == nr).map(|(_, to)| *to),
            levels: [].into(),
            numbers: Vec::new(),
        };
        (0..length).map(row).collect()
    }

    #[test]
    fn lines_of_a_column_do_not_overlap() {
        let jumps: Vec<(u32, u32)> = (0..200).map(|nr| (nr, (nr * 37 + 11) % 200)).collect();
        let arrows = Arrows::of(&rows(&jumps, 200));
        assert_eq!(arrows.drawn.iter().map(|arrow| arrow.from.len()).sum::<usize>() + arrows.left_out, 200);
        assert!(arrows.left_out > 0 && arrows.columns == MOST_COLUMNS);
        for (nr, one) in arrows.drawn.iter().enumerate() {
            for other in arrows.drawn.iter().skip(nr + 1).filter(|other| other.column == one.column) {
                let ((first, last), (other_first, other_last)) = (one.extent(), other.extent());
                assert!(last < other_first || other_last < first, "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn jumps_to_one_instruction_are_one_arrow_and_short_ones_are_inside() {
        let arrows = Arrows::of(&rows(&[(1, 8), (5, 8), (7, 6), (9, 0)], 10));
        let drawn: Vec<(Vec<u32>, u32, u16)> =
            arrows.drawn.iter().map(|arrow| (arrow.from.clone(), arrow.to, arrow.column)).collect();
        assert_eq!(drawn, [(vec![9], 0, 2), (vec![7], 6, 0), (vec![1, 5], 8, 1)]);
        assert_eq!((arrows.columns, arrows.left_out), (3, 0));
    }
}
