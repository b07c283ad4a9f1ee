//! Blocks between recorded branches, as a table below the code.

use crate::table::{ColumnKind, Table, TableColumn};
use crate::text::grouped;
use readperf_profile::view::listing::{Block, Part};

/// Most blocks that are shown to people.
const MOST: usize = 20;

/// The columns: what stands over them, and what a block says.
pub(super) const HEADS: [&str; 7] =
    ["block", "runs", "instructions", "cycles", "IPC", "branches", "mispredicted"];

/// The blocks of a part that are shown, and how many are not.
pub(super) fn shown(part: &Part) -> (&[Block], usize) {
    let shown = part.blocks.get(..MOST).unwrap_or(&part.blocks);
    (shown, part.blocks.len() - shown.len())
}

/// What a block says, in the columns.
pub(super) fn cells(part: &Part, block: &Block) -> [String; 7] {
    let address = |index: u32| {
        let row = usize::try_from(index).ok().and_then(|index| part.instructions.get(index));
        row.map_or(0, |row| row.code.address.wrapping_add(part.bias))
    };
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.2}"));
    let missed = block.branch.mispredicted_percent();
    [
        format!("{:x}-{:x}", address(block.first), address(block.last)),
        grouped(block.runs.runs),
        grouped(block.instructions()),
        number(block.cycles_of_run()),
        number(block.instructions_per_cycle()),
        grouped(block.branch.taken),
        missed.map_or_else(String::new, |missed| format!("{missed:.2} %")),
    ]
}

/// The blocks of a part as a table.
pub(super) fn lines(part: &Part) -> Vec<String> {
    let (blocks, others) = shown(part);
    if blocks.is_empty() {
        return Vec::new();
    }
    let mut lines =
        vec!["  blocks between recorded branches; cycles are those of a run, on average:".to_owned()];
    let kind = |nr: usize| if nr == 0 { ColumnKind::Text } else { ColumnKind::Number };
    let columns = HEADS.iter().enumerate().map(|(nr, head)| TableColumn::new(head, kind(nr), None));
    let mut table = Table::new(columns.collect(), None);
    let rows: Vec<[String; 7]> = blocks.iter().map(|block| cells(part, block)).collect();
    rows.iter().for_each(|row| table.fit(row));
    lines.push(table.head_line());
    lines.extend(rows.iter().map(|row| table.line(row)));
    if others > 0 {
        lines.push(format!("  and {} more blocks", grouped(others as u64)));
    }
    lines
}
