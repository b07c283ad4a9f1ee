//! Names in XML, and in JSON inside XML, whatever they contain.

use crate::json;
use crate::text::printable;

/// Appends a recorded name as it may be shown.
pub(crate) fn push_shown(text: &mut String, name: &str) {
    text.push_str(&printable(name));
}

/// Appends text as the content of an element or of an attribute in quotes. What XML forbids, even as a reference, is among what
/// becomes an escape.
pub fn push_xml(out: &mut String, text: &str) {
    for c in printable(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
}

/// Appends text as a JSON string that holds nothing that XML or HTML would take for markup.
pub(crate) fn push_json(out: &mut String, text: &str) {
    for c in json::line(text).chars() {
        match c {
            '<' | '>' | '&' | '\'' => out.push_str(&json::escaped(c)),
            _ => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        let mut text = String::new();
        push_xml(&mut text, "a<b>&\"c\"'\u{1}\u{ffff}");
        assert_eq!(text, "a&lt;b&gt;&amp;&quot;c&quot;&#39;\\x01\\u{ffff}");
    }

    #[test]
    fn json_holds_no_markup_and_reads_back() {
        let hostile = "</script>]]><!--&\u{1b}\u{2028}\"\\\u{ffff}é😀";
        let mut text = String::new();
        push_json(&mut text, hostile);
        assert!(!text.contains(['<', '>', '&', '\u{1b}', '\u{2028}', '\u{ffff}']), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), hostile);
    }
}
