//! Fields as indented lines of text.

use crate::json;
use crate::text::{printable, printable_bytes};
use perffile::wire::describe::{Shown, Sink};
use perffile::wire::pass::WireType;
use perffile::wire::value::Words;

/// Longest bytes that are shown in one line.
const SHORT_BYTES: usize = 20;

/// Lines of text.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) text: String,
    pub(super) depth: usize,
}

impl Lines {
    pub(super) fn line(&mut self, name: &str, value: &str) {
        let indent = (self.depth + 1) * 4;
        self.text.push_str(format!("{:indent$}{name:<16} {value}", "").trim_end());
        self.text.push('\n');
    }

    pub(super) fn hex_dump(&mut self, bytes: &[u8]) {
        self.indented_hex(bytes, (self.depth + 2) * 4);
    }

    pub(super) fn indented_hex(&mut self, bytes: &[u8], indent: usize) {
        for (nr, row) in bytes.chunks(16).enumerate() {
            let hex: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let ascii: String = row
                .iter()
                .map(|byte| if (0x20..0x7f).contains(byte) { char::from(*byte) } else { '.' })
                .collect();
            self.text.push_str(&format!("{:indent$}{:04x}  {:<47}  {ascii}\n", "", nr * 16, hex.join(" ")));
        }
    }

    /// Values one a line, each with what is said of it: its name before it or a remark behind it.
    fn entries(
        &mut self,
        name: &str,
        values: impl ExactSizeIterator<Item = u64>,
        labels: Option<(&[Option<String>], bool)>,
    ) {
        self.line(name, &format!("{} entries", values.len()));
        let indent = (self.depth + 2) * 4;
        for (nr, value) in values.enumerate() {
            let label = labels.and_then(|(labels, _)| labels.get(nr)).and_then(Option::as_deref);
            let line = match (labels, label) {
                (Some((_, true)), label) => format!("{:<8} {value:#018x}", label.unwrap_or("?")),
                (_, Some(remark)) => format!("{value:#018x}  {remark}"),
                (_, None) => format!("{value:#018x}"),
            };
            self.text.push_str(&format!("{:indent$}{line}\n", ""));
        }
    }
}

fn number(value: Shown<'_>) -> Option<String> {
    match value {
        Shown::Unsigned(number) => Some(number.to_string()),
        Shown::Signed(number) => Some(number.to_string()),
        Shown::Float(number) => Some(number.to_string()),
        Shown::Address(number) => Some(format!("{number:#x}")),
        _ => None,
    }
}

fn in_words(words: &Words) -> String {
    match words {
        Words::Text(text) => text.clone(),
        Words::List(list) => list.join(" "),
        Words::Parts(parts) => {
            let parts: Vec<String> = parts.iter().map(|(name, value)| format!("{name} {value}")).collect();
            parts.join(", ")
        }
        Words::Names(labels) | Words::Marks(labels) => {
            let labels: Vec<&str> = labels.iter().flatten().map(String::as_str).collect();
            labels.join(" ")
        }
    }
}

impl Sink for Lines {
    fn field(&mut self, name: &'static str, _: WireType, value: Shown<'_>) {
        if let Some(number) = number(value) {
            return self.line(name, &number);
        }
        match value {
            Shown::Unsigned(_) | Shown::Signed(_) | Shown::Float(_) | Shown::Address(_) => {}
            Shown::Text(text) => self.line(name, &printable_bytes(text)),
            Shown::Texts(texts) => {
                let texts: Vec<_> = texts.iter().map(|text| printable_bytes(text.bytes())).collect();
                self.line(name, &texts.join(" "));
            }
            Shown::Unsigneds(numbers) => {
                let numbers: Vec<String> = numbers.iter().map(|number| number.to_string()).collect();
                self.line(name, &numbers.join(" "));
            }
            Shown::Addresses(numbers) => self.entries(name, numbers.iter(), None),
            Shown::Bytes(bytes) if bytes.len() <= SHORT_BYTES => self.line(name, &json::hex(bytes)),
            Shown::Bytes(bytes) => {
                self.line(name, &format!("{} bytes", bytes.len()));
                self.hex_dump(bytes);
            }
        }
    }
    fn worded(&mut self, name: &'static str, wire: WireType, value: Shown<'_>, words: Words) {
        match (value, &words) {
            (Shown::Addresses(values), Words::Names(names)) => {
                self.entries(name, values.iter(), Some((names, true)))
            }
            (Shown::Addresses(values), Words::Marks(marks)) => {
                self.entries(name, values.iter(), Some((marks, false)))
            }
            _ => match number(value) {
                Some(number) => self.line(name, &format!("{number}  {}", printable(&in_words(&words)))),
                None => self.field(name, wire, value),
            },
        }
    }
    fn open_list(&mut self, name: &'static str) {
        self.line(name, "");
        self.depth += 1;
    }
    fn open_element(&mut self) {
        self.line("-", "");
    }
    fn close_element(&mut self) {}
    fn close_list(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
    fn open_inner(&mut self, name: &'static str) {
        self.line(name, "");
        self.depth += 1;
    }
    fn close_inner(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }
}
