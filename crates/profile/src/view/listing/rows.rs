//! In which order a piece of code is read: instructions by address, below the lines that they come from.

use super::{Level, LineId, Numbers, Part};
use std::sync::Arc;

/// A row of a piece of code.
#[derive(Clone, Debug)]
pub enum Row {
    /// A line of source: that of the instructions below it, up to the next line.
    Line(RowLine),
    /// An instruction, by index.
    Instruction(usize),
    /// Samples at an address where no instruction begins, by index.
    Stray(usize),
    /// Code that does not belong to what is listed lies between.
    Gap,
}

/// A line of source above its instructions.
#[derive(Clone, Debug)]
pub struct RowLine {
    /// The levels, the innermost inlined function first.
    pub levels: Arc<[Level]>,
    /// What samples say of the instructions below it, up to the next line, for each event.
    pub numbers: Vec<Numbers>,
}

impl RowLine {
    /// The line.
    pub fn line(&self) -> Option<LineId> {
        self.levels.first().map(|level| level.line)
    }
}

impl Part {
    /// The rows of the part, with or without those of lines. Numbers of lines are those of their own samples alone.
    pub fn rows(&self, with_lines: bool) -> Vec<Row> {
        let mut rows = Vec::with_capacity(self.instructions.len().saturating_add(self.strays.len()));
        let mut line: Option<(usize, Arc<[Level]>)> = None;
        let (mut strays, mut end) = (self.strays.iter().enumerate().peekable(), None);
        for (nr, instruction) in self.instructions.iter().enumerate() {
            while let Some((stray_nr, stray)) =
                strays.next_if(|(_, stray)| stray.address < instruction.code.address)
            {
                head(&mut rows, &mut line, with_lines, &stray.levels, &stray.numbers);
                rows.push(Row::Stray(stray_nr));
            }
            let address = instruction.code.address;
            if end.is_some_and(|end| end != address) {
                rows.push(Row::Gap);
                line = None;
            }
            let length = u64::try_from(instruction.code.bytes.len()).unwrap_or(0);
            end = Some(address.saturating_add(length));
            head(&mut rows, &mut line, with_lines, &instruction.levels, &instruction.numbers);
            rows.push(Row::Instruction(nr));
        }
        for (nr, stray) in strays {
            head(&mut rows, &mut line, with_lines, &stray.levels, &stray.numbers);
            rows.push(Row::Stray(nr));
        }
        rows
    }
}

/// Whether two places are on the same line of the same functions: from which line of theirs the others called is not shown.
fn reads_alike(a: &[Level], b: &[Level]) -> bool {
    let line = |levels: &[Level]| levels.first().map(|level| level.line);
    let functions = || a.iter().zip(b).all(|(a, b)| a.inlined == b.inlined);
    line(a) == line(b) && a.len() == b.len() && functions()
}

/// Adds a line before a row, if the row has another one than that before it.
fn head(
    rows: &mut Vec<Row>,
    last: &mut Option<(usize, Arc<[Level]>)>,
    with_lines: bool,
    levels: &Arc<[Level]>,
    numbers: &[Numbers],
) {
    if !with_lines {
        return;
    }
    let is_same =
        last.as_ref().is_some_and(|(_, known)| Arc::ptr_eq(known, levels) || reads_alike(known, levels));
    if !is_same {
        *last = Some((rows.len(), Arc::clone(levels)));
        let nothing = vec![Numbers::default(); numbers.len()];
        rows.push(Row::Line(RowLine { levels: Arc::clone(levels), numbers: nothing }));
    }
    let at = last.as_ref().and_then(|(at, _)| rows.get_mut(*at));
    if let Some(Row::Line(line)) = at {
        for (sum, number) in line.numbers.iter_mut().zip(numbers) {
            sum.own.add(number.own);
            sum.total.add(number.own);
        }
    }
}
