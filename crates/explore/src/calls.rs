//! The calls of one row that is open: a list of lines, of which each may be opened in its turn.

use crate::explorer::Explorer;
use readperf_profile::view::call_tree::{CallFrame, CallLevel, OpenRow};
use readperf_profile::view::graph::Branches;

/// A line of the calls of a row.
#[derive(Clone, Debug)]
pub struct CallLine {
    /// How far from the row it is, from 0.
    pub depth: u32,
    /// Whether the lines behind it are shown.
    pub is_open: bool,
    /// The frame; `None` in the line that says what is left out at the end of a level.
    pub frame: Option<CallFrame>,
    /// In such a line: what is left out.
    pub left_out: Branches,
}

/// The calls of a row, as far as they are open, in the order in which they are read.
#[derive(Clone, Debug)]
pub struct OpenCalls {
    row: OpenRow,
    /// The lines.
    pub lines: Vec<CallLine>,
}

/// A level as lines.
fn lines(level: CallLevel, depth: u32) -> Vec<CallLine> {
    let CallLevel { frames, left_out } = level;
    let line = |frame| CallLine { depth, is_open: false, frame: Some(frame), left_out: Branches::default() };
    let rest = (left_out.count > 0).then_some(CallLine { depth, is_open: false, frame: None, left_out });
    frames.into_iter().map(line).chain(rest).collect()
}

impl OpenCalls {
    pub(crate) fn new(row: OpenRow, first: CallLevel) -> OpenCalls {
        OpenCalls { row, lines: lines(first, 0) }
    }

    /// Opens a line, and goes on while there is only one way. Nothing happens where nothing is behind it.
    pub fn open(&mut self, explorer: &mut Explorer<'_>, line: usize) {
        let mut at = line;
        loop {
            let Some(here) = self.lines.get_mut(at).filter(|here| !here.is_open) else { return };
            let Some(frame) = here.frame.clone().filter(|frame| frame.has_more) else { return };
            here.is_open = true;
            let depth = here.depth.saturating_add(1);
            let behind = lines(explorer.behind(&self.row, &frame), depth);
            let only = behind.len() == 1;
            at += 1;
            self.lines.splice(at..at, behind);
            if !only {
                return;
            }
        }
    }

    /// Closes a line.
    pub fn close(&mut self, line: usize) {
        let Some(here) = self.lines.get_mut(line).filter(|here| here.is_open) else { return };
        here.is_open = false;
        let depth = here.depth;
        let behind = self.lines.iter().skip(line + 1).take_while(|line| line.depth > depth).count();
        self.lines.drain(line + 1..line + 1 + behind);
    }

    /// Opens all lines, as long as there are no more than so many.
    pub fn open_all(&mut self, explorer: &mut Explorer<'_>, most: usize) {
        let mut line = 0;
        while line < self.lines.len() && self.lines.len() < most {
            self.open(explorer, line);
            line += 1;
        }
    }

    /// The line that a line is behind; none of the first level.
    pub fn parent(&self, line: usize) -> Option<usize> {
        let depth = self.lines.get(line)?.depth;
        let before = self.lines.get(..line)?;
        before.iter().rposition(|other| other.depth < depth)
    }
}
