//! Lines of code on their way to a reader: the text of `annotate`, and what a browser in the terminal scrolls through.

use super::{Annotation, text};
use anstyle::Style;
use readperf_profile::view::listing::LineId;
use std::convert::Infallible;
use std::io::{self, Write};

/// A line of a listing.
#[derive(Clone, Debug)]
pub struct CodeLine {
    /// The numbers before it, with the style of their heat; lines between rows have none.
    pub numbers: Option<(String, Style)>,
    /// The line.
    pub text: String,
    /// How it is written.
    pub style: Style,
    /// The highest share of its samples, in percent.
    pub share: f64,
    /// What it shows.
    pub what: CodeRow,
}

/// What a line shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRow {
    /// A heading, or a remark.
    Remark,
    /// A line of source.
    Source(Option<LineId>),
    /// An instruction, by the index of its part and its own.
    Instruction(usize, usize),
    /// Samples at an address where no instruction begins, or a gap.
    Other,
}

impl CodeLine {
    /// A remark.
    pub(super) fn remark(text: String) -> CodeLine {
        CodeLine { numbers: None, text, style: Style::new(), share: 0.0, what: CodeRow::Remark }
    }
}

/// Where lines go.
pub(super) trait Lines {
    /// What may go wrong there.
    type Error;

    /// Takes a line.
    fn line(&mut self, line: CodeLine) -> Result<(), Self::Error>;

    /// Takes a remark.
    fn remark(&mut self, text: String) -> Result<(), Self::Error> {
        self.line(CodeLine::remark(text))
    }
}

impl Lines for Vec<CodeLine> {
    type Error = Infallible;

    fn line(&mut self, line: CodeLine) -> Result<(), Infallible> {
        self.push(line);
        Ok(())
    }
}

/// Lines that are written.
pub(super) struct Written<'w, W>(pub(super) &'w mut W);

impl<W: Write> Lines for Written<'_, W> {
    type Error = io::Error;

    fn line(&mut self, line: CodeLine) -> io::Result<()> {
        let CodeLine { numbers, text, style, .. } = line;
        if let Some((cells, heat)) = numbers {
            write!(self.0, "{heat}{cells}{heat:#} │")?;
        }
        writeln!(self.0, "{style}{text}{style:#}")
    }
}

/// The lines of the listings, one function after the other.
pub fn code_lines(annotation: &Annotation<'_>) -> Vec<CodeLine> {
    let mut lines = Vec::new();
    for listing in annotation.listings {
        match text::write_listing(&mut lines, annotation, listing) {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }
    lines
}
