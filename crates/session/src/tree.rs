//! A balanced tree of mappings in which versions share what they have in common.
//!
//! Mappings of one tree do not overlap. Adding one costs O(log n) time and memory, and leaves every clone as it was; so a
//! fork costs nothing, however many mappings there are and however often it happens. An AVL tree made of one operation,
//! `join` (two trees and a mapping between them); heights stay below 1.45 log2 n, which bounds all recursion.

use crate::space::Mapping;
use std::sync::Arc;

/// A tree, by its root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree(Option<Arc<Node>>);

#[derive(Debug)]
struct Node {
    left: Tree,
    mapping: Mapping,
    right: Tree,
    height: u8,
}

impl Tree {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    fn height(&self) -> u8 {
        self.0.as_ref().map_or(0, |node| node.height)
    }

    fn node(left: Tree, mapping: Mapping, right: Tree) -> Tree {
        let height = left.height().max(right.height()).saturating_add(1);
        Tree(Some(Arc::new(Node { left, mapping, right, height })))
    }

    /// The left part, the root and the right part.
    fn expose(&self) -> Option<(Tree, Mapping, Tree)> {
        let node = self.0.as_ref()?;
        Some((node.left.clone(), node.mapping, node.right.clone()))
    }

    /// All of `left`, then `mapping`, then all of `right`.
    pub(crate) fn join(left: Tree, mapping: Mapping, right: Tree) -> Tree {
        if left.height() > right.height() + 1 {
            let Some((outer, root, inner)) = left.expose() else { return right };
            return Tree::balance(outer, root, Tree::join(inner, mapping, right));
        }
        if right.height() > left.height() + 1 {
            let Some((inner, root, outer)) = right.expose() else { return left };
            return Tree::balance(Tree::join(left, mapping, inner), root, outer);
        }
        Tree::node(left, mapping, right)
    }

    /// A node whose sides differ by at most two levels, made to differ by at most one.
    fn balance(left: Tree, mapping: Mapping, right: Tree) -> Tree {
        if left.height() > right.height() + 1
            && let Some((a, x, b)) = left.expose()
        {
            if b.height() > a.height()
                && let Some((b1, y, b2)) = b.expose()
            {
                return Tree::node(Tree::node(a, x, b1), y, Tree::node(b2, mapping, right));
            }
            return Tree::node(a, x, Tree::node(b, mapping, right));
        }
        if right.height() > left.height() + 1
            && let Some((a, x, b)) = right.expose()
        {
            if a.height() > b.height()
                && let Some((a1, y, a2)) = a.expose()
            {
                return Tree::node(Tree::node(left, mapping, a1), y, Tree::node(a2, x, b));
            }
            return Tree::node(Tree::node(left, mapping, a), x, b);
        }
        Tree::node(left, mapping, right)
    }

    /// The mappings that start below `at`, and the others.
    pub(crate) fn split(&self, at: u64) -> (Tree, Tree) {
        let Some((left, mapping, right)) = self.expose() else { return (Tree::default(), Tree::default()) };
        if mapping.start < at {
            let (below, above) = right.split(at);
            (Tree::join(left, mapping, below), above)
        } else {
            let (below, above) = left.split(at);
            (below, Tree::join(above, mapping, right))
        }
    }

    /// All but the last mapping, and the last one.
    pub(crate) fn split_last(&self) -> Option<(Tree, Mapping)> {
        let (left, mapping, right) = self.expose()?;
        Some(match right.split_last() {
            Some((rest, last)) => (Tree::join(left, mapping, rest), last),
            None => (left, mapping),
        })
    }

    /// All of `left`, then all of `right`.
    pub(crate) fn concat(left: &Tree, right: Tree) -> Tree {
        match left.split_last() {
            Some((rest, last)) => Tree::join(rest, last, right),
            None => right,
        }
    }

    /// The last mapping that starts at `at` or below.
    #[inline]
    pub(crate) fn last_from(&self, at: u64) -> Option<&Mapping> {
        let (mut here, mut found) = (self, None);
        while let Some(node) = &here.0 {
            if node.mapping.start <= at {
                found = Some(&node.mapping);
                here = &node.right;
            } else {
                here = &node.left;
            }
        }
        found
    }

    /// The mappings by address.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mapping> {
        let mut above = Vec::new();
        let mut here = self;
        std::iter::from_fn(move || {
            while let Some(node) = &here.0 {
                above.push(node);
                here = &node.left;
            }
            let node = above.pop()?;
            here = &node.right;
            Some(&node.mapping)
        })
    }

    /// Whether every node's sides differ by one level at most, and its height is right.
    #[cfg(test)]
    pub(crate) fn is_balanced(&self) -> bool {
        self.0.as_ref().is_none_or(|node| {
            let (left, right) = (node.left.height(), node.right.height());
            left.abs_diff(right) <= 1
                && node.height == left.max(right) + 1
                && node.left.is_balanced()
                && node.right.is_balanced()
        })
    }
}
