//! The flame graph: the frames that are wide enough to be seen, of the frame that is zoomed to.

use super::names::{Named, key_of, name_of};
use super::{Answers, written_by};
use crate::query::Query;
use readperf_explore::{Flame, FlameCell};
use readperf_output::export::flamegraph::{DrawnFrame, FrameSort, Head, Siblings, left_out_name, write_data};
use readperf_output::text::grouped;
use readperf_profile::view::flame_layout::BoxContent;
use readperf_profile::view::flame_tree::{NodeIndex, Sum};

/// Columns that a picture has if nobody says.
pub(super) const COLUMNS: u32 = 2500;
/// A wider picture than any screen.
pub(super) const MOST_COLUMNS: u32 = 20_000;
/// More rows than these are no picture, and recursion has no end.
pub(super) const MOST_ROWS: u32 = 1000;

/// The frame to which a way in an address leads: keys of its callers and its own, separated by dots. Where there is no such frame it is
/// the last one on the way.
pub(super) fn frame_at(answers: &Answers<'_, '_>, query: &Query, key: &str) -> Result<NodeIndex, String> {
    frame_below(answers, key, query.get(key)).map(|(frame, _)| frame)
}

/// The same of a way, and whether there is all of it.
pub(super) fn frame_below(
    answers: &Answers<'_, '_>,
    key: &str,
    way: &str,
) -> Result<(NodeIndex, bool), String> {
    let flame = answers.flame();
    let mut at = Flame::ROOT;
    for step in way.split('.').filter(|step| !step.is_empty()) {
        let step = step.parse().map_err(|_| format!("{key}={way}: no way to a frame"))?;
        let is_it = |node: &&NodeIndex| key_of(answers, flame, **node) == Some(step);
        let Some(next) = flame.children(at).iter().find(is_it) else { return Ok((at, false)) };
        at = *next;
    }
    Ok((at, true))
}

pub(super) fn answer(answers: &mut Answers<'_, '_>, query: &Query) -> Result<Vec<u8>, String> {
    let siblings = if query.get("order") == "name" { Siblings::ByName } else { Siblings::ByWeight };
    let columns = query.number("columns")?.unwrap_or(COLUMNS).clamp(1, MOST_COLUMNS);
    let zoom = frame_at(answers, query, "zoom")?;
    let flame = answers.flame();
    let window = flame.window_in_order(zoom, columns, MOST_ROWS, siblings);
    let note = match window.left_out {
        0 => String::new(),
        count => format!("{} frames are too small to be shown.", grouped(count)),
    };
    let differs = answers.explorer.total_before().is_some();
    let head = Head { siblings, differs, ..answers.head(note) };
    // What is zoomed to stands on the frames that lead to it.
    let mut below = flame.path(zoom);
    below.pop();
    let whole = (zoom != Flame::ROOT).then_some(Flame::ROOT);
    let below: Vec<NodeIndex> = whole.into_iter().chain(below).collect();
    let depth = u32::try_from(below.len()).unwrap_or(u32::MAX);
    let below = (0..).zip(&below).map(|(depth, node)| drawn(answers, flame, *node, depth));
    let above = window.cells.iter().map(|cell| match cell.node {
        Some(node) => drawn(answers, flame, node, depth.saturating_add(cell.depth)),
        None => left_out(cell, depth.saturating_add(cell.depth)),
    });
    written_by(|out| write_data(&head, below.chain(above), out))
}

fn drawn<'a>(answers: &Answers<'_, '_>, flame: &Flame, node: NodeIndex, depth: u32) -> DrawnFrame<'a> {
    let ((total, own), (before, own_before)) = (flame.sums(node), flame.sums_before(node));
    let Named { name, binary, sort, named } = name_of(answers, flame, node);
    DrawnFrame {
        depth,
        name: name.into(),
        binary: binary.into(),
        place: "",
        sort,
        inlined: matches!(sort, FrameSort::Function(_, true)),
        named,
        total: [total, before],
        own: [own, own_before],
    }
}

fn left_out<'a>(cell: &FlameCell, depth: u32) -> DrawnFrame<'a> {
    let count = if let BoxContent::LeftOut(count) = cell.what { count } else { 0 };
    DrawnFrame {
        depth,
        name: left_out_name(count).into(),
        binary: "".into(),
        place: "",
        sort: FrameSort::LeftOut,
        inlined: false,
        named: true,
        total: [cell.total, cell.before],
        own: [Sum::default(); 2],
    }
}
