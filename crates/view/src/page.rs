//! The document: its parts, and the hottest functions as text, for who does not wait for scripts.

use crate::answers::{Answers, hottest};
use readperf_output::overview::share;
use readperf_output::xml::push_xml;

const DOCUMENT: &str = include_str!("../page/index.html");
/// Where the title and the functions go.
const TITLE: &str = "{title}";
const FUNCTIONS: &str = "{functions}";

/// Functions in the document.
const MOST: usize = 30;

/// The document of a recording that is not read yet.
pub(crate) fn empty() -> String {
    filled("readperf", "")
}

/// The document with the functions that take most of what is looked at.
pub(crate) fn with_functions(answers: &Answers<'_, '_>) -> String {
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
    filled(&answers.title(), &rows)
}

fn filled(title: &str, functions: &str) -> String {
    let mut safe = String::new();
    push_xml(&mut safe, title);
    // The functions last: what a name says is not looked at.
    let (before, after) = DOCUMENT.split_once(FUNCTIONS).unwrap_or((DOCUMENT, ""));
    format!("{}{functions}{after}", before.replace(TITLE, &safe))
}
