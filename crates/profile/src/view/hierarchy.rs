//! A histogram as a tree: its rows by their first key, in these by the second, and so on.

use super::histogram::{HistogramRow, LeftOut, Numbers};
use crate::value::Value;
use std::cmp::Reverse;
use std::collections::HashMap;

/// A branch of the tree: the rows that agree in the keys up to a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HierarchyRow {
    /// The level: index of the last of these keys.
    pub level: usize,
    /// What that key says.
    pub value: Value,
    /// What the rows add up to.
    pub numbers: Numbers,
}

/// The branches that are shown, each before those in it, the heaviest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hierarchy {
    /// The branches.
    pub branches: Vec<HierarchyRow>,
    /// Branches that are not shown, each once with all that is in it.
    pub left_out: LeftOut,
}

impl Hierarchy {
    /// The tree of some rows. `value` tells what a key says of a row, by its index below `keys`; `is_shown` whether a branch is.
    pub fn new(
        rows: &[HistogramRow],
        keys: usize,
        value: impl Fn(&HistogramRow, usize) -> Value,
        is_shown: impl Fn(&Numbers) -> bool,
    ) -> Hierarchy {
        let rows: Vec<&HistogramRow> = rows.iter().collect();
        let mut hierarchy = Hierarchy::default();
        hierarchy.grow(&rows, 0..keys, &value, &is_shown);
        hierarchy
    }

    /// Adds the branches of some rows, by the keys that are left: one level for each key.
    fn grow(
        &mut self,
        rows: &[&HistogramRow],
        mut levels: std::ops::Range<usize>,
        value: &impl Fn(&HistogramRow, usize) -> Value,
        is_shown: &impl Fn(&Numbers) -> bool,
    ) {
        let Some(level) = levels.next() else { return };
        let mut known: HashMap<Value, usize> = HashMap::new();
        let mut parts: Vec<(HierarchyRow, Vec<&HistogramRow>)> = Vec::new();
        for row in rows {
            let value = value(row, level);
            let next = parts.len();
            let at = *known.entry(value).or_insert(next);
            if at == next {
                parts.push((HierarchyRow { level, value, numbers: Numbers::default() }, Vec::new()));
            }
            if let Some((branch, rows)) = parts.get_mut(at) {
                branch.numbers.add(&row.numbers);
                rows.push(row);
            }
        }
        // The rows are sorted: what weighs the same stays in the order of its first row.
        parts.sort_by_key(|(branch, _)| Reverse(branch.numbers.self_period));
        for (branch, rows) in parts {
            if is_shown(&branch.numbers) {
                self.branches.push(branch);
                self.grow(&rows, levels.clone(), value, is_shown);
            } else {
                self.left_out.rows += 1;
                let left_out = branch.numbers.self_period;
                self.left_out.self_period = self.left_out.self_period.wrapping_add(left_out);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::histogram::RowKey;

    /// A row of two keys that say numbers.
    fn row([sample, place]: [u32; 2], period: u64) -> HistogramRow {
        let numbers = Numbers { samples: 1, self_period: period, total_period: period, ..Numbers::default() };
        HistogramRow::new(RowKey { sample, place }, numbers)
    }

    fn value(row: &HistogramRow, key: usize) -> Value {
        Value::Number(if key == 0 { row.key.sample } else { row.key.place }.into())
    }

    #[test]
    fn sums_of_each_level_the_heaviest_first() {
        let rows = [row([1, 1], 50), row([2, 1], 40), row([2, 2], 30), row([1, 2], 1)];
        let Hierarchy { branches, left_out } =
            Hierarchy::new(&rows, 2, value, |numbers: &Numbers| numbers.self_period > 1);
        let shown: Vec<(usize, Value, u64)> =
            branches.iter().map(|branch| (branch.level, branch.value, branch.numbers.self_period)).collect();
        let number = Value::Number;
        assert_eq!(
            shown,
            [
                (0, number(2), 70),
                (1, number(1), 40),
                (1, number(2), 30),
                (0, number(1), 51),
                (1, number(1), 50)
            ]
        );
        assert_eq!(left_out, LeftOut { rows: 1, self_period: 1 });
    }
}
