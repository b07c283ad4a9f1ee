//! The one decision which characters are never written as they are: what drives a terminal, turns the direction of what
//! follows, breaks a line where there is none, or cannot be seen.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

/// Whether a character is written as an escape, in text and in JSON: by its category in Unicode control characters (C0, DEL,
/// C1), format characters (directions, joiners, tags, byte order marks), separators of lines and paragraphs, and what is no
/// character; and the few letters and marks that have no shape.
///
/// Spaces of any width and characters for private use stay.
pub fn is_hidden(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator, Unassigned};
    let category = c.general_category();
    matches!(category, Control | Format | LineSeparator | ParagraphSeparator | Unassigned) || has_no_shape(c)
}

/// What Unicode's `Default_Ignorable_Code_Point` has beside the categories above: fillers and selectors of variants.
fn has_no_shape(c: char) -> bool {
    matches!(c, '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}')
        || matches!(c, '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::is_hidden;

    #[test]
    fn what_cannot_be_seen_is_hidden() {
        let controls = "\0\x1b\x07\r\n\t\x7f\u{80}\u{85}\u{9b}";
        let directions =
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}";
        let invisible = "\u{ad}\u{180e}\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{fff9}\u{e0001}\u{e0041}\u{3164}\u{fe0f}\u{e0100}";
        let no_characters = "\u{2028}\u{2029}\u{fdd0}\u{fffe}\u{ffff}\u{10ffff}";
        for c in [controls, directions, invisible, no_characters].concat().chars() {
            assert!(is_hidden(c), "{c:?}");
        }
    }

    #[test]
    fn what_can_be_seen_is_not() {
        for c in " ~\u{a0}äß…→\u{301}\u{3000}函שلकㄱ가😀\u{e000}\u{fffd}".chars() {
            assert!(!is_hidden(c), "{c:?}");
        }
    }
}
