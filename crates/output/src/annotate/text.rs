//! Functions as code for people.

use super::columns::Columns;
use super::gutter::Gutter;
use super::lines::{CodeLine, CodeRow, Lines, Written};
use super::{Annotation, Show, blocks, labels};
use crate::heading;
use crate::overview::{share, style};
use crate::text::{counted, grouped, shown, width};
use anstyle::{AnsiColor, Style};
use readperf_profile::view::listing::{LineId, Listing, Numbers, Part, Row, RowLine, SourceBlock};
use std::io::{self, Write};

/// Most of the hottest lines that stand over the code, and how many rows of code make that worth it.
const HOTTEST_LINES: usize = 5;
const MANY_ROWS: usize = 40;

/// Writes the listings.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, annotation: &Annotation<'_>) -> io::Result<()> {
    for event in annotation.profile.events().iter().filter(|event| event.samples > 0) {
        let recorded = annotation.recorded.iter().find(|recorded| recorded.name == event.name);
        writeln!(out, "{}", heading::samples(event, recorded.unwrap_or(event)))?;
    }
    if annotation.listings.is_empty() {
        // There may be some with less than is asked for.
        writeln!(
            out,
            "{}",
            if annotation.others == 0 { "no samples" } else { "no function with that share" }
        )?;
    }
    for listing in annotation.listings {
        writeln!(out)?;
        write_listing(&mut Written(out), annotation, listing)?;
    }
    if annotation.others > 0 {
        let functions = if annotation.others == 1 { "function" } else { "functions" };
        writeln!(out, "\n{} more {functions} with samples", grouped(annotation.others as u64))?;
    }
    Ok(())
}

/// Writes one listing.
pub(super) fn write_listing<L: Lines>(
    out: &mut L,
    annotation: &Annotation<'_>,
    listing: &Listing,
) -> Result<(), L::Error> {
    Page { annotation, listing, columns: annotation.columns(listing) }.write(out)
}

/// A listing on its way out.
struct Page<'a> {
    annotation: &'a Annotation<'a>,
    listing: &'a Listing,
    columns: Columns,
}

impl Page<'_> {
    fn write<L: Lines>(&self, out: &mut L) -> Result<(), L::Error> {
        self.head(out)?;
        match self.annotation.show {
            Show::Both | Show::Code => self.code(out),
            Show::Lines => self.source(out, &self.listing.source_blocks(), false),
            Show::Files => self.source(out, &self.listing.source_files(), true),
        }
    }

    /// Which function it is, and how much of all samples.
    fn head<L: Lines>(&self, out: &mut L) -> Result<(), L::Error> {
        let Page { annotation, listing, .. } = self;
        let name = annotation.function(listing);
        let inlined = if listing.inlined { ", where it is inlined" } else { "" };
        let text = format!("{}{inlined}", shown(&name));
        out.line(CodeLine { style: Style::new().bold(), ..CodeLine::remark(text) })?;
        for event in annotation.events() {
            let (Some(numbers), Some(total)) =
                (listing.numbers.get(event), annotation.profile.events().get(event))
            else {
                continue;
            };
            let own = numbers.own;
            let share = share(own.period, total.period);
            out.remark(format!(
                "  {share:.2} % of {}: {}, period {}",
                shown(&total.name),
                counted(own.samples, "sample"),
                grouped(own.period)
            ))?;
        }
        self.missing_sources(out)
    }

    /// Why source text is missing, or may be another one.
    fn missing_sources<L: Lines>(&self, out: &mut L) -> Result<(), L::Error> {
        if self.annotation.show == Show::Code {
            return Ok(());
        }
        for reason in self.annotation.untold(self.listing) {
            out.remark(format!("  {reason}"))?;
        }
        Ok(())
    }

    fn code<L: Lines>(&self, out: &mut L) -> Result<(), L::Error> {
        let rows: usize = self.listing.parts.iter().map(|part| part.instructions.len()).sum();
        if self.with_lines() && rows > MANY_ROWS {
            self.hottest_lines(out)?;
        }
        for (nr, part) in self.listing.parts.iter().enumerate() {
            self.part(out, nr, part)?;
        }
        Ok(())
    }

    /// Whether lines stand above instructions. Where no source is known at all they would say so again and again.
    fn with_lines(&self) -> bool {
        self.annotation.show == Show::Both && !self.listing.files.is_empty()
    }

    fn hottest_lines<L: Lines>(&self, out: &mut L) -> Result<(), L::Error> {
        let lines = self.listing.hottest_lines();
        out.remark("  hottest lines:".to_owned())?;
        for line in lines.iter().take(HOTTEST_LINES).filter_map(|id| self.listing.line(*id)) {
            let text =
                self.listing.file_of(line).and_then(|path| self.annotation.source_line(path, line.line));
            let text = labels::source(text.unwrap_or_default());
            let place = labels::place(self.listing, line);
            let row = format!("{}  {place}  {}", self.columns.cells(&line.numbers), text.trim());
            self.row(out, style(self.columns.heat(&line.numbers)), row.trim_end())?;
        }
        Ok(())
    }

    fn part<L: Lines>(&self, out: &mut L, nr: usize, part: &Part) -> Result<(), L::Error> {
        let annotation = self.annotation;
        let symbol = annotation.symbol(part);
        let inlined = if self.listing.inlined { format!("in {}, ", shown(&symbol)) } else { String::new() };
        let left_out = match part.arrows.left_out {
            0 => String::new(),
            jumps => format!("; {jumps} jumps have no arrow"),
        };
        out.remark(format!("  {inlined}{}{left_out}", shown(&annotation.binary_path(part))))?;
        if let Some(reason) = &part.no_code {
            out.remark(format!("  no instructions: {}", shown(reason)))?;
        }
        for head in self.columns.heads(annotation.inclusive) {
            out.remark(format!("{head} │"))?;
        }
        let last = part.instructions.last().map(|row| row.code.address);
        let last = last.max(part.strays.last().map(|stray| stray.address)).unwrap_or(0);
        let digits = format!("{:x}", last.wrapping_add(part.bias)).len();
        let mut gutter = Gutter::new(&part.arrows);
        for row in part.rows(self.with_lines()) {
            match row {
                Row::Line(line) => self.line_row(out, &line, &gutter.between(), digits)?,
                Row::Instruction(index) => {
                    let number = u32::try_from(index).unwrap_or(u32::MAX);
                    let arrows = gutter.at(number);
                    let Some(row) = part.instructions.get(index) else { continue };
                    let address = row.code.address.wrapping_add(part.bias);
                    let bytes = match annotation.bytes {
                        true => format!("{:<22} ", hex(&row.code.bytes)),
                        false => String::new(),
                    };
                    let text = row.code.text.to_string();
                    let row_text = format!(" {address:>digits$x}  {arrows}{bytes}{}", shown(&text));
                    let what = CodeRow::Instruction(nr, index);
                    self.numbers_row(out, &row.numbers, &row_text, Style::new(), what)?;
                }
                Row::Stray(index) => {
                    let Some(stray) = part.strays.get(index) else { continue };
                    let address = stray.address.wrapping_add(part.bias);
                    let what = match part.no_code {
                        Some(_) => "",
                        None => "(no instruction begins here)",
                    };
                    let row_text = format!(" {address:>digits$x}  {}{what}", gutter.between());
                    self.numbers_row(out, &stray.numbers, &row_text, Style::new(), CodeRow::Other)?;
                }
                Row::Gap => {
                    let text = format!(" {:>digits$}  {}", "⋮", gutter.between());
                    self.numbers_row(out, &[], &text, Style::new(), CodeRow::Other)?;
                }
            }
        }
        blocks::lines(part).into_iter().try_for_each(|line| out.remark(line))
    }

    /// A line of source above its instructions.
    fn line_row<L: Lines>(
        &self,
        out: &mut L,
        row: &RowLine,
        gutter: &str,
        digits: usize,
    ) -> Result<(), L::Error> {
        let Some(line) = row.line().and_then(|id| self.listing.line(id)) else { return Ok(()) };
        let path = self.listing.file_of(line);
        let text = path.and_then(|path| self.annotation.source_line(path, line.line)).unwrap_or_default();
        // The names of inlined functions are long, and what the line says is more: they come last.
        let inlined =
            labels::inlined_briefly(&row.levels).map_or(String::new(), |names| format!("  [{names}]"));
        let source = labels::source(text);
        let place = labels::place(self.listing, line);
        let row_text = format!(" {:digits$}  {gutter}{place}  {}{inlined}", "", source.trim());
        let what = CodeRow::Source(row.line());
        self.numbers_row(out, &row.numbers, row_text.trim_end(), AnsiColor::Cyan.on_default(), what)
    }

    /// Numbers, coloured by their heat, and what they are of.
    fn numbers_row<L: Lines>(
        &self,
        out: &mut L,
        numbers: &[Numbers],
        text: &str,
        of: Style,
        what: CodeRow,
    ) -> Result<(), L::Error> {
        let cells = self.columns.cells(numbers);
        let share = self.columns.heat(numbers);
        let room = self.annotation.width.map(|columns| columns.saturating_sub(width(&cells) + 2));
        let text = cut(text, room).trim_end().to_owned();
        out.line(CodeLine { numbers: Some((cells, style(share))), text, style: of, share, what })
    }

    fn row<L: Lines>(&self, out: &mut L, style: Style, text: &str) -> Result<(), L::Error> {
        let text = cut(text, self.annotation.width).into_owned();
        out.line(CodeLine { style, ..CodeLine::remark(text) })
    }

    /// Lines of source, without instructions.
    fn source<L: Lines>(&self, out: &mut L, blocks: &[SourceBlock], whole: bool) -> Result<(), L::Error> {
        let listing = self.listing;
        for block in blocks {
            let Some(file) = listing.files.get(block.file) else { continue };
            let source =
                self.annotation.sources.files.get(&file.path).and_then(|source| source.as_ref().ok());
            let inlined = block
                .inlined
                .as_deref()
                .map_or(String::new(), |name| format!("{}, inlined, in ", shown(name)));
            let path = source.map_or(&*file.path, |source| source.path.as_str());
            out.remark(format!("  {inlined}{}", shown(path)))?;
            for head in self.columns.heads(self.annotation.inclusive) {
                out.remark(format!("{head} │"))?;
            }
            let last = block.lines().last().map_or(0, |(number, _)| number);
            let lines = source.map_or(0, |source| source.text.lines());
            let digits = last.max(if whole { lines } else { 0 }).to_string().len();
            let known = |number: u32| block.line(number);
            match source {
                Some(_) if whole => {
                    for number in 1..=lines.max(last) {
                        self.source_row(out, &file.path, number, known(number), digits)?;
                    }
                }
                Some(_) => {
                    for (nr, stretch) in block.stretches.iter().enumerate() {
                        if nr > 0 {
                            self.numbers_row(
                                out,
                                &[],
                                &format!(" {:>digits$}", "⋮"),
                                Style::new(),
                                CodeRow::Other,
                            )?;
                        }
                        for number in stretch.clone() {
                            self.source_row(out, &file.path, number, known(number), digits)?;
                        }
                    }
                }
                None => {
                    for (number, id) in block.lines() {
                        self.source_row(out, &file.path, number, Some(id), digits)?;
                    }
                }
            }
        }
        for line in listing.unknown_lines().filter_map(|id| listing.line(id)) {
            if line.numbers.iter().any(|numbers| *numbers != Numbers::default()) {
                let text = format!(" {}", labels::place(listing, line));
                self.numbers_row(out, &line.numbers, &text, Style::new(), CodeRow::Source(None))?;
            }
        }
        Ok(())
    }

    fn source_row<L: Lines>(
        &self,
        out: &mut L,
        path: &str,
        number: u32,
        id: Option<LineId>,
        digits: usize,
    ) -> Result<(), L::Error> {
        let line = id.and_then(|id| self.listing.line(id));
        let text = labels::source(self.annotation.source_line(path, number).unwrap_or_default());
        let numbers = line.map_or(&[][..], |line| &line.numbers);
        self.numbers_row(
            out,
            numbers,
            &format!(" {number:>digits$}  {text}"),
            Style::new(),
            CodeRow::Source(id),
        )
    }
}

/// A text without what does not fit.
fn cut(text: &str, room: Option<usize>) -> std::borrow::Cow<'_, str> {
    let Some(room) = room.filter(|room| width(text) > *room) else { return text.into() };
    let mut end = text.len();
    let mut taken = 0;
    for (at, c) in text.char_indices() {
        taken += width(c.encode_utf8(&mut [0; 4]));
        if taken >= room {
            end = at;
            break;
        }
    }
    format!("{}…", text.get(..end).unwrap_or_default()).into()
}

/// Bytes as objdump shows them.
fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    bytes.join(" ")
}
