//! Folded stacks: a line a stack, `comm;outermost;…;innermost weight`, for flame graph tools.
//!
//! Stacks are merged into a tree of names first, and a line's text grows and shrinks on the way through it: names are
//! looked at once, not once a sample.

use crate::export::labels::{Labels, push_ids};
use crate::export::{Export, Flag, Format, Needs, Weight, Writing};
use crate::text::shown;
use readperf_profile::view::flame_tree::{FlameTree, NodeIndex, ROOT};
use std::io::{self, Write};

/// The format.
pub const FORMAT: Format = Format {
    name: "folded",
    extensions: &["folded", "collapsed"],
    help: "a line a stack: comm;outermost;…;innermost weight (FlameGraph, inferno, speedscope)",
    binary: false,
    needs: Needs::STACKS,
    one_event: true,
    pictures_time: false,
    no_place_for: &[Flag::WithCpu, Flag::Title, Flag::Drawing],
    difference: None,
    write: Writing::Profile(write),
};

/// Writes it. Lines are sorted by their bytes, and no stack is on two of them. Stacks that weigh nothing have a line, too.
///
/// # Errors
/// What the writer says.
pub fn write(export: &Export<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Some(event) = export.event() else { return Ok(()) };
    let mut labels = Labels::new(export.options.annotate, |name, text| push_name(text, name, None));
    let mut numbered = labels.take_in(export, event, |export, row, text| {
        push_name(text, &export.comm(row), Some(' '));
        push_ids(export, row, text);
    });
    labels.finish([&mut numbered]);
    let mut tree = FlameTree::default();
    tree.add(export.profile, event, &numbered.levels, |row| Some(numbered.root(row)));
    tree.freeze();
    Lines::new(&tree, &labels, export.profile.weight()).write(out)
}

/// A step on the way through the tree.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// The line of a node's own samples.
    Own(NodeIndex),
    /// The lines of what a node calls.
    Calls(NodeIndex),
    /// The text is cut back to this length.
    Back(usize),
}

struct Lines<'l> {
    tree: &'l FlameTree,
    labels: &'l Labels,
    weight: Weight,
    /// Places of labels in the order of the lines: as the last name of a line, and with more names behind it.
    places: Vec<(u32, u32)>,
}

impl<'l> Lines<'l> {
    fn new(tree: &'l FlameTree, labels: &'l Labels, weight: Weight) -> Self {
        // A name that is the beginning of another (`f`, `f1`) comes before it as the last of its line, but with a `;` behind
        // it maybe after it. So both forms of all names are put in one order.
        let mut forms: Vec<(&str, bool, u32)> = (0..)
            .zip(labels.names())
            .flat_map(|(label, name)| [(name, false, label), (name, true, label)])
            .collect();
        let bytes = |(name, more, _): &(&'l str, bool, u32)| name.bytes().chain(more.then_some(b';'));
        forms.sort_unstable_by(|a, b| bytes(a).cmp(bytes(b)));
        let mut places = vec![(0, 0); labels.names().count()];
        for (place, (_, more, label)) in (0..).zip(forms) {
            if let Some(places) = places.get_mut(label as usize) {
                *(if more { &mut places.1 } else { &mut places.0 }) = place;
            }
        }
        Lines { tree, labels, weight, places }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let children = self.tree.children();
        let own = self.tree.own(0);
        let mut line: Vec<u8> = Vec::new();
        let mut digits = itoa::Buffer::new();
        let mut siblings: Vec<(u32, Step)> = Vec::new();
        let mut todo = vec![Step::Calls(ROOT)];
        while let Some(step) = todo.pop() {
            match step {
                Step::Back(length) => line.truncate(length),
                Step::Own(node) => {
                    let Some(sum) = own.get(node as usize) else { continue };
                    let length = line.len();
                    line.extend_from_slice(self.name(node));
                    line.push(b' ');
                    line.extend_from_slice(digits.format(self.weight.of_sum(sum)).as_bytes());
                    line.push(b'\n');
                    out.write_all(&line)?;
                    line.truncate(length);
                }
                Step::Calls(node) => {
                    if node != ROOT {
                        todo.push(Step::Back(line.len()));
                        line.extend_from_slice(self.name(node));
                        line.push(b';');
                    }
                    siblings.clear();
                    for child in children.of(node) {
                        let (last, more) = self.place(*child);
                        if own.get(*child as usize).is_some_and(|sum| sum.samples > 0) {
                            siblings.push((last, Step::Own(*child)));
                        }
                        if !children.of(*child).is_empty() {
                            siblings.push((more, Step::Calls(*child)));
                        }
                    }
                    siblings.sort_unstable_by_key(|(place, _)| std::cmp::Reverse(*place));
                    todo.extend(siblings.iter().map(|(_, step)| *step));
                }
            }
        }
        Ok(())
    }

    fn label(&self, node: NodeIndex) -> u32 {
        self.tree.nodes().get(node as usize).map_or(0, |node| node.level.label)
    }

    fn name(&self, node: NodeIndex) -> &'l [u8] {
        self.labels.name(self.label(node)).as_bytes()
    }

    fn place(&self, node: NodeIndex) -> (u32, u32) {
        self.places.get(self.label(node) as usize).copied().unwrap_or_default()
    }
}

/// A name in a line: what separates names is replaced, and so is `space`; what would end the line is an escape.
fn push_name(text: &mut String, name: &str, space: Option<char>) {
    text.extend(shown(name).chars().map(|c| match c {
        ';' => ':',
        _ if Some(c) == space => '_',
        _ => c,
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_break_a_line_is_replaced() {
        let mut text = String::new();
        push_name(&mut text, "a;b c\n\u{1b}[2J", Some(' '));
        assert_eq!(text, "a:b_c\\n\\x1b[2J");
    }
}
