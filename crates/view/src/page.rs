//! The document: its parts, and the hottest functions as text, for who does not wait for scripts.
//!
//! It is served, and asks for its files; or it is a file, and has them inside.

use crate::answers::{Answers, hottest};
use readperf_output::overview::share;
use readperf_output::xml::push_xml;

const DOCUMENT: &str = include_str!("../page/index.html");
/// Where the parts go.
const TITLE: &str = "{title}";
const HEAD: &str = "{head}";
const FUNCTIONS: &str = "{functions}";
const FOOT: &str = "{foot}";

/// What a served document has in its head.
const LINKS: &str = r#"<link rel="icon" href="page/icon.svg">
<link rel="stylesheet" href="page/flame.css">
<link rel="stylesheet" href="page/page.css">
<script type="module" src="page/main.js"></script>"#;

/// Functions in the document.
const MOST: usize = 30;

/// The document of a recording that is not read yet.
pub(crate) fn empty() -> String {
    let [before, middle, after] = document("readperf", LINKS);
    format!("{before}{middle}{after}")
}

/// The document with the functions that take most of what is looked at.
pub(crate) fn with_functions(answers: &Answers<'_, '_>) -> String {
    let [before, middle, after] = document(&answers.title(), LINKS);
    format!("{before}{}{middle}{after}", functions(answers))
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

/// What stands before the functions, between them and the foot, and behind that.
pub(crate) fn document(title: &str, head: &str) -> [String; 3] {
    let mut safe = String::new();
    push_xml(&mut safe, title);
    let (before, after) = DOCUMENT.split_once(FUNCTIONS).unwrap_or((DOCUMENT, ""));
    let (middle, end) = after.split_once(FOOT).unwrap_or((after, ""));
    // Only what is between the parts is looked through for the title.
    let (first, rest) = before.split_once(HEAD).unwrap_or((before, ""));
    [
        format!("{}{head}{}", first.replace(TITLE, &safe), rest.replace(TITLE, &safe)),
        middle.to_owned(),
        end.to_owned(),
    ]
}
