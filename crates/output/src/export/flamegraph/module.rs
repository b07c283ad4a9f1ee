//! The drawing of flame graphs, for files that have the numbers in them and for pages that fetch them.

use super::palette::rules;

pub(super) const STYLE: &str = include_str!("style.css");

/// What draws, in one scope. It is put between what says where numbers and picture are (`data`, `svg`, `host`) and what is around
/// the picture (`update`, `tellOf`, `bringIntoSight`).
pub(super) const DRAWING: [&str; 6] = [
    include_str!("text.js"),
    include_str!("model.js"),
    include_str!("fold.js"),
    include_str!("view.js"),
    include_str!("walk.js"),
    include_str!("legend.js"),
];

/// What is searched for, a function.
pub(super) const SEARCH: &str = include_str!("search.js");

/// The drawing as a module for pages: `wanted(text)` is what is searched for; `flameGraph(data, svg, host)` draws into an element
/// `<svg id="flamegraph">` and gives what the page can do with the picture. `data` is as [`write_data`](super::write_data) writes it;
/// `host` has `inPage` (true), `width()`, `changed()` and `tell(text)`.
pub fn module() -> String {
    let drawing = DRAWING.concat();
    let page = include_str!("page.js");
    format!("export {SEARCH}\nexport function flameGraph(data, svg, host) {{\n{drawing}{page}}}\n")
}

/// The style of pictures in pages.
pub fn style() -> String {
    format!("{STYLE}{}", rules())
}
