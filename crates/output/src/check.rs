//! `readperf check`: what is wrong with a recording and what to do about it.

use crate::json;
use crate::text::{counted, printable, width};
use anstyle::{AnsiColor, Style};
use readperf_profile::check::{Finding, Severity, Verdict};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Columns of the text unless told otherwise.
pub const WIDTH: usize = 100;
/// Columns of the text at least, and at most: longer lines are hard to read.
const WIDTHS: std::ops::RangeInclusive<usize> = 40..=120;
/// Columns of a severity and the space behind it.
const INDENT: usize = 8;

/// The verdict as one JSON object.
///
/// # Errors
/// What the writer says.
pub fn write_json(out: &mut impl Write, verdict: &Verdict) -> io::Result<()> {
    let findings: Vec<Value> = verdict.findings.iter().map(finding_json).collect();
    let document = json!({
        "schema": json::SCHEMA,
        "sound": verdict.sound(),
        "samples": verdict.samples,
        "records": verdict.records,
        "findings": findings,
    });
    json::write_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// `offset` is there only where there is a first place.
fn finding_json(finding: &Finding) -> Value {
    let mut value = json!({
        "kind": finding.kind.name,
        "severity": finding.kind.severity.name(),
        "count": finding.count,
        "share": finding.share,
        "message": finding.message,
        "advice": finding.advice,
    });
    if let (Some(place), Some(object)) = (finding.place, value.as_object_mut()) {
        object.insert("offset".to_owned(), place.offset.into());
    }
    value
}

/// The verdict as text, in lines of `columns`.
///
/// # Errors
/// What the writer says.
pub fn write_text(out: &mut impl Write, verdict: &Verdict, columns: usize) -> io::Result<()> {
    let columns = columns.clamp(*WIDTHS.start(), *WIDTHS.end());
    let (word, style) = if verdict.count(Severity::Damage) > 0 {
        ("damaged", style(Severity::Damage))
    } else if verdict.sound() {
        ("sound", AnsiColor::Green.on_default().bold())
    } else {
        ("incomplete", style(Severity::Loss))
    };
    let (records, samples) = (counted(verdict.records, "record"), counted(verdict.samples, "sample"));
    writeln!(out, "{style}{word}{style:#}: {records}, {samples}{}", counts(verdict))?;
    for finding in &verdict.findings {
        writeln!(out)?;
        write_finding(out, finding, columns)?;
    }
    Ok(())
}

/// How many findings there are of each severity.
fn counts(verdict: &Verdict) -> String {
    let all = [Severity::Damage, Severity::Loss, Severity::Advice, Severity::Note];
    let each = all.iter().map(|severity| (severity.name(), verdict.count(*severity)));
    each.filter(|(_, count)| *count > 0).map(|(name, count)| format!(", {count} × {name}")).collect()
}

fn style(severity: Severity) -> Style {
    match severity {
        Severity::Damage => AnsiColor::Red.on_default().bold(),
        Severity::Loss => AnsiColor::Yellow.on_default().bold(),
        Severity::Advice => AnsiColor::Cyan.on_default(),
        Severity::Note => Style::new().dimmed(),
    }
}

fn write_finding(out: &mut impl Write, finding: &Finding, columns: usize) -> io::Result<()> {
    let severity = finding.kind.severity;
    let style = style(severity);
    let name = severity.name();
    let mut margin = format!("{style}{name}{style:#}{:pad$}", "", pad = INDENT - name.len());
    for line in lines(&printable(&finding.message), columns - INDENT) {
        writeln!(out, "{margin}{line}")?;
        margin = " ".repeat(INDENT);
    }
    let mut margin = format!("{:INDENT$}→ ", "");
    for line in lines(&printable(&finding.advice), columns - INDENT - 2) {
        writeln!(out, "{margin}{line}")?;
        margin = " ".repeat(INDENT + 2);
    }
    match finding.place {
        Some(place) => writeln!(out, "{:INDENT$}first at: {place}", ""),
        None => Ok(()),
    }
}

/// A text in lines of at most so many columns; only a longer word makes a longer line.
fn lines(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(word) <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_filled_and_no_word_is_cut() {
        assert_eq!(lines("one two three four", 9), ["one two", "three", "four"]);
        assert_eq!(lines("größer als /a/very/long/path ist", 10), ["größer als", "/a/very/long/path", "ist"]);
        assert!(lines("", 10).is_empty());
    }
}
