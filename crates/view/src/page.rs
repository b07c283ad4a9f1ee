//! The document: its parts, and the hottest functions as text, for who does not wait for scripts.
//!
//! It is served, and asks for its files; or it is a file, and has them inside.

use crate::answers::{Answers, hottest};
use crate::assets::modules;
use readperf_output::overview::share;
use readperf_output::xml::push_xml;

const DOCUMENT: &str = include_str!("../page/index.html");
/// Where the parts go.
const TITLE: &str = "{title}";
const HEAD: &str = "{head}";
const FUNCTIONS: &str = "{functions}";
const FOOT: &str = "{foot}";

/// Functions in the document.
const MOST: usize = 30;

/// What is around the functions in the document.
#[derive(Debug)]
pub(crate) struct Document {
    /// Up to the functions, but for what [`head`] says.
    pub(crate) before: String,
    /// Between the functions and the foot.
    pub(crate) middle: &'static str,
    /// Behind the foot.
    pub(crate) end: &'static str,
}

/// Where a served document begins, with the files that it needs: they can be fetched while the recording is still read.
pub(crate) fn served_head() -> String {
    let mut head = head(
        r#"<link rel="icon" href="page/icon.svg">
<link rel="stylesheet" href="page/flame.css">
<link rel="stylesheet" href="page/page.css">
<script type="module" src="page/main.js"></script>"#,
    );
    for name in modules() {
        head.push_str(&format!("\n<link rel=\"modulepreload\" href=\"page/{name}\">"));
    }
    head
}

/// The rest of the document of a recording that is not read yet.
pub(crate) fn empty() -> String {
    let Document { before, middle, end } = document("readperf");
    format!("{before}{middle}{end}")
}

/// The rest of the document with the functions that take most of what is looked at.
pub(crate) fn with_functions(answers: &Answers<'_, '_>) -> String {
    let Document { before, middle, end } = document(&answers.title());
    format!("{before}{}{middle}{end}", functions(answers))
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

/// Where a document begins, up to the title.
pub(crate) fn head(more: &str) -> String {
    let (before, _) = DOCUMENT.split_once(HEAD).unwrap_or((DOCUMENT, ""));
    format!("{before}{more}")
}

/// The rest of it.
pub(crate) fn document(title: &str) -> Document {
    let mut safe = String::new();
    push_xml(&mut safe, title);
    let (_, rest) = DOCUMENT.split_once(HEAD).unwrap_or(("", ""));
    let (before, after) = rest.split_once(FUNCTIONS).unwrap_or((rest, ""));
    let (middle, end) = after.split_once(FOOT).unwrap_or((after, ""));
    Document { before: before.replace(TITLE, &safe), middle, end }
}
