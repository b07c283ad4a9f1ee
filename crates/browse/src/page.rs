//! A page of text: keys, what the recording says, what is known of a row.

use crate::keys::BINDINGS;
use crate::keys::View;
use crate::list::Cursor;
use readperf_output::text::{printable, width};
use regex::Regex;

/// A page.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) cursor: Cursor,
}

impl Page {
    /// A page of a text. What could drive a terminal in it is made harmless.
    pub(crate) fn new(title: &str, text: &str) -> Page {
        let lines = text.lines().map(|line| printable(&line.replace('\t', "    ")).into_owned()).collect();
        Page { title: title.to_owned(), lines, cursor: Cursor::default() }
    }

    /// The keys.
    pub(crate) fn help() -> Page {
        let mut text = String::new();
        let views = [
            (View::Rows, "Rows and calls"),
            (View::Code, "Code"),
            (View::Flame, "Flame graph"),
            (View::Time, "Time"),
            (View::Page, "Pages of text"),
        ];
        for (view, title) in views {
            text.push_str(&format!("{title}\n"));
            for binding in BINDINGS.iter().filter(|binding| binding.views.contains(&view)) {
                text.push_str(&format!("  {:<12} {}\n", binding.name, binding.help));
            }
            text.push('\n');
        }
        Page::new("keys", &text)
    }

    /// Folds lines at a width, so that all of them can be read: between words where there are some.
    pub(crate) fn folded(&self, room: usize) -> Page {
        let room = room.max(10);
        let lines = self.lines.iter().flat_map(|line| fold(line, room)).map(str::to_owned).collect();
        Page { lines, ..self.clone() }
    }

    /// The next line that a pattern matches, from one on, round the end.
    pub(crate) fn find(&self, pattern: &Regex, forward: bool) -> Option<usize> {
        find(self.lines.len(), self.cursor.at, forward, |nr| {
            self.lines.get(nr).is_some_and(|line| pattern.is_match(line))
        })
    }
}

/// The parts of a line that fit a width.
fn fold(line: &str, room: usize) -> Vec<&str> {
    let (mut parts, mut start, mut space, mut used) = (Vec::new(), 0, None, 0);
    for (at, c) in line.char_indices() {
        let wide = width(c.encode_utf8(&mut [0; 4]));
        if used + wide > room && at > start {
            // A word that takes half of the line is cut.
            let is_late = |space: &usize| space - start > room / 2;
            let end = if c == ' ' { at } else { space.filter(is_late).unwrap_or(at) };
            parts.push(line.get(start..end).unwrap_or_default());
            start = end + usize::from(line.get(end..).is_some_and(|rest| rest.starts_with(' ')));
            used = line.get(start..at).map_or(0, width);
            space = None;
        }
        if at >= start {
            used += wide;
            space = if c == ' ' { Some(at) } else { space };
        }
    }
    parts.push(line.get(start..).unwrap_or_default());
    parts
}

/// The next of some lines that is meant, from one on, round the end.
pub(crate) fn find(
    len: usize,
    from: usize,
    forward: bool,
    mut is_it: impl FnMut(usize) -> bool,
) -> Option<usize> {
    let step = |nr: usize| if forward { (from + nr) % len } else { (from + len - nr) % len };
    (1..=len).map(step).find(|nr| is_it(*nr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_folded_between_words() {
        assert_eq!(fold("who called it is not known", 12), ["who called", "it is not", "known"]);
        assert_eq!(fold("who called it", 10), ["who called", "it"]);
        assert_eq!(fold("a wordthatislongerthanaline b", 10), ["a wordthat", "islongerth", "analine b"]);
        assert_eq!(fold("äöüäöüäöüäöü", 5), ["äöüäö", "üäöüä", "öü"]);
        assert_eq!(fold("漢字漢字漢字", 5), ["漢字", "漢字", "漢字"]);
        assert_eq!(fold("", 5), [""]);
    }
}
