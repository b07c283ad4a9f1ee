//! Names in XML, and in JSON inside XML, whatever they contain.

use crate::text::printable;
use std::fmt::Write as _;

/// Appends a recorded name as it may be shown: control characters become escapes, and so do characters that would turn
/// the direction of what follows.
pub(crate) fn push_shown(text: &mut String, name: &str) {
    for c in printable(name).chars() {
        if turns_direction(c) {
            text.extend(c.escape_unicode());
        } else {
            text.push(c);
        }
    }
}

/// The controls of the bidirectional algorithm (Unicode, annex 9), and what no XML document may contain (XML 1.0, 2.2).
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// Appends text as the content of an element or of an attribute in quotes.
pub(crate) fn push_xml(out: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // What XML forbids even as a reference.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if c.is_control() => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
}

/// Appends text as a JSON string that holds nothing that XML or HTML would take for markup.
pub(crate) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}' => push_unit(out, c),
            _ if c.is_control() => push_unit(out, c),
            _ => out.push(c),
        }
    }
    out.push('"');
}

/// All of these are one unit of UTF-16.
fn push_unit(out: &mut String, c: char) {
    // Writing to a string does not fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let mut text = String::new();
        push_xml(&mut text, "a<b>&\"c\"'\u{1}\u{ffff}");
        assert_eq!(text, "a&lt;b&gt;&amp;&quot;c&quot;&#39;\u{fffd}\u{fffd}");
    }

    #[test]
    fn json_holds_no_markup_and_reads_back() {
        let hostile = "</script>]]><!--&\u{1b}\u{2028}\"\\\u{ffff}é😀";
        let mut text = String::new();
        push_json(&mut text, hostile);
        assert!(!text.contains(['<', '>', '&', '\u{1b}', '\u{2028}', '\u{ffff}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }

    #[test]
    fn directions_do_not_turn() {
        let mut text = String::new();
        push_shown(&mut text, "a\u{202e}b\nc");
        assert_eq!(text, "a\\u{202e}b\\nc");
    }
}
