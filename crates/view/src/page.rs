//! The document: its parts, and the hottest functions as text, for who does not wait for scripts.
//!
//! It is served, and asks for its files; or it is a file, and has them inside.

use crate::answers::{Answers, hottest};
use crate::assets::modules;
use readperf_output::overview::share;
use readperf_output::xml::push_xml;

const DOCUMENT: &str = include_str!("../page/index.html");
/// Where the parts go, in this order; the title is in the second and the third.
const HEAD: &str = "{head}";
const SCRIPT: &str = "{script}";
const FUNCTIONS: &str = "{functions}";
const FOOT: &str = "{foot}";
const TITLE: &str = "{title}";

/// Functions in the document.
const MOST: usize = 30;

/// What is around the parts of the document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Up to what the head has of its own.
    pub(crate) start: &'static str,
    /// From there to where a served script stands: all elements that scripts ask for.
    pub(crate) elements: String,
    /// Up to the functions.
    pub(crate) before: &'static str,
    /// Between the functions and the foot.
    pub(crate) middle: &'static str,
    /// Behind the foot.
    pub(crate) end: &'static str,
}

/// The document with this title.
pub(crate) fn document(title: &str) -> Document {
    let mut safe = String::new();
    push_xml(&mut safe, title);
    let (start, rest) = DOCUMENT.split_once(HEAD).unwrap_or((DOCUMENT, ""));
    let (elements, rest) = rest.split_once(SCRIPT).unwrap_or((rest, ""));
    let (before, rest) = rest.split_once(FUNCTIONS).unwrap_or((rest, ""));
    let (middle, end) = rest.split_once(FOOT).unwrap_or((rest, ""));
    Document { start, elements: elements.replace(TITLE, &safe), before, middle, end }
}

/// A served document up to the functions: scripts run and ask while the recording is still read. Until then it is called by its name.
pub(crate) fn served(name: &str) -> String {
    let Document { start, elements, before, .. } = document(name);
    let mut text = String::from(start);
    text.push_str(
        r#"<link rel="icon" href="page/icon.svg">
<link rel="stylesheet" href="page/flame.css">
<link rel="stylesheet" href="page/page.css">"#,
    );
    for name in modules() {
        text.push_str(&format!("\n<link rel=\"modulepreload\" href=\"page/{name}\">"));
    }
    text.push_str(&elements);
    text.push_str(r#"<script type="module" async src="page/main.js"></script>"#);
    text.push_str(before);
    text
}

/// The rest of it; the functions are not known if the recording is not read yet.
pub(crate) fn rest(functions: &str) -> String {
    let Document { middle, end, .. } = document("");
    format!("{functions}{middle}{end}")
}

/// The functions that take most of what is looked at, as a table.
pub(crate) fn functions(answers: &Answers<'_, '_>) -> String {
    let explorer = &answers.explorer;
    let whole = explorer.whole_period();
    let mut rows = String::from(
        "<table><thead><tr><th>Self</th><th>Total</th><th>Function</th><th>Binary</th></tr></thead><tbody>\n",
    );
    for row in hottest(explorer, MOST) {
        rows.push_str(&format!(
            "<tr><td>{:.2} %</td><td>{:.2} %</td><td>",
            share(row.own, whole),
            share(row.total, whole)
        ));
        push_xml(&mut rows, &row.name);
        rows.push_str("</td><td>");
        push_xml(&mut rows, &row.binary);
        rows.push_str("</td></tr>\n");
    }
    rows.push_str("</tbody></table>");
    rows
}
