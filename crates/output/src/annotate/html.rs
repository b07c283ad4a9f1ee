//! Functions as code as a page: one file that needs no other and no server. Without scripts everything is there; the script hides
//! and finds rows.

use super::columns::Columns;
use super::gutter::Gutter;
use super::{Annotation, blocks, labels};
use crate::heading;
use crate::overview::share;
use crate::text::grouped;
use crate::xml::push_xml;
use readperf_code::Flow;
use readperf_profile::view::listing::{InstructionRow, Level, Listing, Numbers, Part, Row, SourceBlock};
use rustc_hash::FxHashMap;
use std::io::{self, Write};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page.
///
/// # Errors
/// What the writer says.
pub fn write_html(out: &mut impl Write, annotation: &Annotation<'_>) -> io::Result<()> {
    let names = annotation.listings.iter().map(|listing| annotation.function(listing));
    // Names of several functions are not told apart: calls lead to the first.
    let mut anchors: FxHashMap<String, usize> = FxHashMap::default();
    for (nr, name) in names.enumerate() {
        anchors.entry(name.into_owned()).or_insert(nr);
    }
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>Hot code</title>\n<style>{STYLE}</style></head>\n<body>"
    )?;
    let mut head = String::from("<header><h1>Hot code</h1>");
    for event in annotation.profile.events().iter().filter(|event| event.samples > 0) {
        let recorded = annotation.recorded.iter().find(|recorded| recorded.name == event.name);
        head.push_str("<p>");
        push_xml(&mut head, &heading::samples(event, recorded.unwrap_or(event)));
        head.push_str("</p>");
    }
    head.push_str(
        "<div class=\"bar\" hidden><button id=\"source\" aria-pressed=\"true\" title=\"key s\">Source</button>\
         <button id=\"code\" aria-pressed=\"true\" title=\"key a\">Instructions</button>\
         <button id=\"hot\" title=\"key n\">Next hot row</button></div><nav><ol>",
    );
    for (nr, listing) in annotation.listings.iter().enumerate() {
        head.push_str(&format!(
            "<li><a href=\"#f{nr}\"><span class=\"n\">{}</span> ",
            shares(annotation, listing)
        ));
        push_xml(&mut head, &annotation.function(listing));
        head.push_str("</a></li>");
    }
    head.push_str("</ol>");
    if annotation.others > 0 {
        head.push_str(&format!("<p>{} more functions with samples</p>", grouped(annotation.others as u64)));
    }
    head.push_str("</nav></header>\n<main>\n");
    out.write_all(head.as_bytes())?;
    for (nr, listing) in annotation.listings.iter().enumerate() {
        let columns = annotation.columns(listing);
        let section = Section { annotation, listing, columns, nr, anchors: &anchors };
        section.write(out)?;
    }
    writeln!(out, "</main>\n<script>{SCRIPT}</script></body></html>")
}

/// The shares of a function of each event.
fn shares(annotation: &Annotation<'_>, listing: &Listing) -> String {
    let shares = annotation.events().into_iter().filter_map(|event| {
        let (numbers, total) = (listing.numbers.get(event)?, annotation.profile.events().get(event)?);
        Some(format!("{:.2} %", share(numbers.own.period, total.period)))
    });
    shares.collect::<Vec<_>>().join(" · ")
}

/// A function on the page.
struct Section<'a> {
    annotation: &'a Annotation<'a>,
    listing: &'a Listing,
    columns: Columns,
    nr: usize,
    anchors: &'a FxHashMap<String, usize>,
}

impl Section<'_> {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let Section { annotation, listing, nr, .. } = self;
        let mut text = format!("<section id=\"f{nr}\"><h2>");
        push_xml(&mut text, &annotation.function(listing));
        text.push_str("</h2><p class=\"about\">");
        text.push_str(&shares(annotation, listing));
        if listing.inlined {
            text.push_str(", where it is inlined");
        }
        text.push_str("</p>");
        for reason in annotation.untold(listing) {
            text.push_str("<p class=\"about\">");
            push_xml(&mut text, &reason);
            text.push_str("</p>");
        }
        for (part_nr, part) in listing.parts.iter().enumerate() {
            self.part(&mut text, part_nr, part);
            out.write_all(text.as_bytes())?;
            text.clear();
        }
        text.push_str("<details class=\"lines\"><summary>By line of source</summary>");
        for block in listing.source_blocks() {
            self.block(&mut text, &block);
        }
        text.push_str("</details></section>\n");
        out.write_all(text.as_bytes())
    }

    fn part(&self, text: &mut String, part_nr: usize, part: &Part) {
        text.push_str("<h3>");
        if self.listing.inlined {
            push_xml(text, &format!("in {}, ", self.annotation.symbol(part)));
        }
        push_xml(text, &self.annotation.binary_path(part));
        text.push_str("</h3>");
        if let Some(reason) = &part.no_code {
            text.push_str("<p class=\"about\">no instructions: ");
            push_xml(text, reason);
            text.push_str("</p>");
        }
        self.open_table(text);
        let mut gutter = Gutter::new(&part.arrows);
        for row in part.rows(true) {
            match row {
                Row::Line(line) => {
                    self.row(text, "s", &line.numbers, None);
                    text.push_str(&format!(
                        "<td></td><td class=\"t\"><span class=\"g\">{}</span>",
                        gutter.between()
                    ));
                    self.source_line(text, &line.levels);
                }
                Row::Instruction(index) => {
                    let Some(row) = part.instructions.get(index) else { continue };
                    let id = format!("f{}p{part_nr}i{index}", self.nr);
                    self.row(text, "i", &row.numbers, Some(&id));
                    let address = row.code.address.wrapping_add(part.bias);
                    let arrows = gutter.at(u32::try_from(index).unwrap_or(u32::MAX));
                    text.push_str(&format!(
                        "<td class=\"a\">{address:x}</td><td class=\"t\"><span class=\"g\">{arrows}</span>"
                    ));
                    self.instruction(text, part_nr, row);
                }
                Row::Stray(index) => {
                    let Some(stray) = part.strays.get(index) else { continue };
                    self.row(text, "i", &stray.numbers, None);
                    let address = stray.address.wrapping_add(part.bias);
                    let what = if part.no_code.is_some() { "" } else { "(no instruction begins here)" };
                    text.push_str(&format!("<td class=\"a\">{address:x}</td><td class=\"t\">{what}"));
                }
                Row::Gap => {
                    self.row(text, "gap", &[], None);
                    text.push_str("<td class=\"a\">⋮</td><td>");
                }
            }
            text.push_str("</td></tr>\n");
        }
        text.push_str("</tbody></table>");
        self.blocks(text, part_nr, part);
    }

    /// The blocks between recorded branches; the first cell leads to the code.
    fn blocks(&self, text: &mut String, part_nr: usize, part: &Part) {
        let (shown, others) = blocks::shown(part);
        if shown.is_empty() {
            return;
        }
        text.push_str("<details open><summary>Blocks between recorded branches</summary><table><thead><tr>");
        blocks::HEADS.iter().for_each(|head| text.push_str(&format!("<th>{head}</th>")));
        text.push_str("</tr></thead><tbody>\n");
        for block in shown {
            let anchor = format!("f{}p{part_nr}i{}", self.nr, block.first);
            for (nr, cell) in blocks::cells(part, block).iter().enumerate() {
                match nr {
                    0 => text.push_str(&format!("<tr><td><a href=\"#{anchor}\">{cell}</a></td>")),
                    _ => text.push_str(&format!("<td class=\"n\">{cell}</td>")),
                }
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</tbody></table>");
        if others > 0 {
            text.push_str(&format!("<p class=\"about\">and {} more blocks</p>", grouped(others as u64)));
        }
        text.push_str("</details>");
    }

    fn open_table(&self, text: &mut String) {
        text.push_str("<table><thead><tr>");
        for (event, head) in self.columns.titles(self.annotation) {
            text.push_str("<th>");
            push_xml(text, &event);
            text.push_str(if event.is_empty() { "" } else { "<br>" });
            text.push_str(head);
            text.push_str("</th>");
        }
        text.push_str("<th></th><th></th></tr></thead><tbody>\n");
    }

    /// Opens a row, with its numbers.
    fn row(&self, text: &mut String, class: &str, numbers: &[Numbers], id: Option<&str>) {
        let heat = self.columns.heat(numbers);
        let hot = if heat >= 5.0 { " hot" } else { "" };
        let id = id.map_or_else(String::new, |id| format!(" id=\"{id}\""));
        text.push_str(&format!("<tr class=\"{class}{hot}\"{id}>"));
        for (cell, share) in self.columns.list(numbers) {
            match cell.is_empty() {
                true => text.push_str("<td></td>"),
                // As wide as the share, so that heat can be seen without reading.
                false => text
                    .push_str(&format!("<td class=\"n\" style=\"--h:{:.1}%\">{cell}</td>", share.min(100.0))),
            }
        }
    }

    fn instruction(&self, text: &mut String, part_nr: usize, row: &InstructionRow) {
        let words = row.code.text.to_string();
        let target = row.jumps_to.map(|index| format!("f{}p{part_nr}i{index}", self.nr));
        let is_call = matches!(row.code.flow, Flow::Call { .. } | Flow::Jump { .. });
        let callee = row.code.target_name.as_ref().filter(|_| is_call);
        let callee = callee.and_then(|name| self.anchors.get(name)).map(|nr| format!("f{nr}"));
        match target.or(callee) {
            Some(anchor) => {
                text.push_str(&format!("<a href=\"#{anchor}\">"));
                push_xml(text, &words);
                text.push_str("</a>");
            }
            None => push_xml(text, &words),
        }
    }

    /// Where a line is, its text, and what is inlined there.
    fn source_line(&self, text: &mut String, levels: &[Level]) {
        let line = levels.first().and_then(|level| self.listing.line(level.line));
        let Some(line) = line else { return };
        let path = self.listing.file_of(line);
        text.push_str("<span class=\"w\" title=\"");
        push_xml(text, path.unwrap_or_default());
        text.push_str("\">");
        push_xml(text, &labels::place(self.listing, line));
        text.push_str("</span>");
        let source = path.and_then(|path| self.annotation.source_line(path, line.line));
        if let Some(source) = source {
            text.push_str(" <code>");
            push_xml(text, labels::source(source).trim_end());
            text.push_str("</code>");
        }
        // The names of inlined functions are long: all of them are told where one points at them.
        if let (Some(names), Some(brief)) = (labels::inlined(levels), labels::inlined_briefly(levels)) {
            text.push_str(" <span class=\"l\" title=\"");
            push_xml(text, &names);
            text.push_str("\">");
            push_xml(text, &brief);
            text.push_str("</span>");
        }
    }

    /// Lines of source that belong together.
    fn block(&self, text: &mut String, block: &SourceBlock) {
        let Some(file) = self.listing.files.get(block.file) else { return };
        text.push_str("<h3>");
        if let Some(name) = &block.inlined {
            push_xml(text, &format!("{name}, inlined, in "));
        }
        push_xml(text, &file.path);
        text.push_str("</h3>");
        self.open_table(text);
        for stretch in &block.stretches {
            for number in stretch.clone() {
                let line = block.line(number).and_then(|id| self.listing.line(id));
                let source = self.annotation.source_line(&file.path, number);
                if line.is_none() && source.is_none() {
                    continue;
                }
                self.row(text, "", line.map_or(&[], |line| &line.numbers), None);
                text.push_str(&format!("<td class=\"a\">{number}</td><td class=\"t\"><code>"));
                push_xml(text, labels::source(source.unwrap_or_default()).trim_end());
                text.push_str("</code></td></tr>\n");
            }
        }
        text.push_str("</tbody></table>");
    }
}
