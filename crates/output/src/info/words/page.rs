//! A page of text: labels on the left, what is said of them on the right, lists broken between their items.

use crate::text::width;

/// Column at which the text of a label begins.
const INDENT: usize = 18;
/// Columns that a line takes at most, unless one item alone is longer.
const COLUMNS: usize = 100;

/// Lines of text.
#[derive(Debug, Default)]
pub(super) struct Page {
    text: String,
}

impl Page {
    /// All of it.
    pub(super) fn finish(self) -> String {
        self.text
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.push("");
    }

    /// A line that stands for itself.
    pub(super) fn heading(&mut self, text: &str) {
        self.push(text);
    }

    /// A label and what is said of it. A long text is left in one piece, so that it can be copied.
    pub(super) fn fact(&mut self, label: &str, text: impl AsRef<str>) {
        self.push(&format!("{label:<INDENT$}{}", text.as_ref()));
    }

    /// A label and several lines, one below the other.
    pub(super) fn facts<T: AsRef<str>>(&mut self, label: &str, lines: impl IntoIterator<Item = T>) {
        for (nr, line) in lines.into_iter().enumerate() {
            self.fact(if nr == 0 { label } else { "" }, line);
        }
    }

    /// A label, a word on what the items are (it may be empty), and the items, broken into lines between them.
    pub(super) fn items(&mut self, label: &str, head: &str, separator: &str, items: &[String]) {
        let space = if head.is_empty() { "" } else { " " };
        self.broken(&format!("{label:<INDENT$}{head}{space}"), INDENT, separator, items);
    }

    /// A label, a word on the whole, and lines that need all the width.
    pub(super) fn block<T: AsRef<str>>(
        &mut self,
        label: &str,
        whole: impl AsRef<str>,
        lines: impl IntoIterator<Item = T>,
    ) {
        self.fact(label, whole);
        lines.into_iter().for_each(|line| self.push(&format!("  {}", line.as_ref())));
    }

    /// As [`Page::items`] inside a block, without a label.
    pub(super) fn inner_items(&mut self, head: &str, items: &[String]) {
        self.broken(&format!("  {head} "), 4, ", ", items);
    }

    /// Lines that begin with `head`, then at `indent`.
    fn broken(&mut self, head: &str, indent: usize, separator: &str, items: &[String]) {
        let mut line = head.to_owned();
        let mut is_fresh = true;
        for (nr, item) in items.iter().enumerate() {
            let separator = if nr + 1 < items.len() { separator } else { "" };
            let piece = format!("{item}{separator}");
            if !is_fresh && width(&line) + width(piece.trim_end()) > COLUMNS {
                self.push(&line);
                line = " ".repeat(indent);
            }
            line.push_str(&piece);
            is_fresh = false;
        }
        self.push(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_broken_between_items() {
        let items: Vec<String> = (0..40).map(|nr| format!("item{nr:02}")).collect();
        let mut page = Page::default();
        page.items("pmus", "", ", ", &items);
        page.facts("caps", ["one", "two"]);
        let text = page.finish();
        assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
        assert!(text.starts_with("pmus              item00, item01"), "{text}");
        assert!(text.contains("\n                  item10, item11,"), "{text}");
        assert!(text.ends_with("item39\ncaps              one\n                  two\n"), "{text}");
    }
}
