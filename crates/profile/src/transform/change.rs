//! A transform at work: what becomes of the stacks of some samples, and of the places in them.

use super::rule::{Rule, Way};
use crate::addresses::AddressId;
use crate::groups::Groups;
use crate::names::Frame;
use crate::profile::Profile;
use crate::stacks::{Node, StackId, Stacks, needed};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// What is kept of a part of a stack.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// What is kept of its innermost place.
    place: Option<AddressId>,
    /// The part behind which that comes: its caller, or the next one of whose place something is kept.
    below: StackId,
}

/// What is kept of a tree.
#[derive(Clone, Debug, Default)]
struct Parts {
    parts: Vec<Part>,
    /// What was met up to each, if the rule looks at that.
    ways: Vec<Way>,
}

impl Profile {
    /// Changes the stacks of the rows.
    pub(super) fn apply(&mut self, rule: &Rule<'_>) {
        let (tree, of_row) = self.chosen_tree();
        let mut rows = std::mem::take(&mut self.rows);
        let mut changed = Changed::new(self, rule, &tree, Equal::Merged);
        let mut of_row = of_row.into_iter();
        Arc::make_mut(&mut rows).retain_mut(|row| {
            let sample = changed.sample(of_row.next().unwrap_or(StackId::EMPTY), row.address);
            sample.map(|(stack, address)| (row.stack, row.address) = (stack, address)).is_some()
        });
        let mut stacks = changed.stacks;
        stacks.freeze();
        self.rows = rows;
        self.stacks = Arc::new(stacks);
    }

    /// Changes the stacks of groups of samples, and of them alone: they become those that are returned. The stacks are a tree.
    pub(super) fn apply_to_groups(&mut self, rule: &Rule<'_>, groups: &Groups) -> Groups {
        let recorded = Arc::clone(&self.stacks);
        // Nobody asks groups for each stack once: views merge what is called the same.
        let mut changed = Changed::new(self, rule, recorded.nodes(), Equal::Apart);
        let groups = groups.with_stacks(|row| changed.sample(row.stack, row.address));
        self.stacks = Arc::new(changed.stacks);
        groups
    }

    /// The stacks of the rows as a tree, and which of it is that of each row.
    fn chosen_tree(&self) -> (Vec<Node>, Vec<StackId>) {
        if self.stacks.nodes().is_empty() {
            return self.tree_of_whole_stacks();
        }
        let of_row = || self.rows.iter().map(|row| row.stack);
        let (tree, numbers) = needed(self.stacks.nodes(), of_row());
        let number = |stack: StackId| stack.index().and_then(|index| numbers.get(index)).copied();
        (tree, of_row().map(|stack| number(stack).unwrap_or(StackId::EMPTY)).collect())
    }

    /// The same where whole stacks are kept.
    fn tree_of_whole_stacks(&self) -> (Vec<Node>, Vec<StackId>) {
        /// Stacks that are taken in at a time.
        const AT_ONCE: usize = 1024;
        let (mut tree, mut known) = (Stacks::default(), FxHashMap::default());
        let (mut places, mut ends, mut ids, mut asked) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for rows in self.rows.chunks(AT_ONCE) {
            for row in rows {
                if let Entry::Vacant(new) = known.entry(row.stack) {
                    new.insert(StackId::EMPTY);
                    asked.push(row.stack);
                    places.extend(self.stacks.places(row.stack));
                    ends.push(places.len());
                }
            }
            tree.number_all(&places, &ends, &mut ids);
            known.extend(asked.drain(..).zip(ids.drain(..)));
            places.clear();
            ends.clear();
        }
        let of_row = self.rows.iter().map(|row| known.get(&row.stack).copied().unwrap_or(StackId::EMPTY));
        let of_row = of_row.collect();
        (tree.nodes().to_vec(), of_row)
    }
}

impl Parts {
    /// What comes to stand below the callees of a part, and what was met up to there.
    fn behind(&self, stack: StackId) -> (StackId, Way) {
        let Some(index) = stack.index() else { return (stack, Way::default()) };
        let below = match self.parts.get(index) {
            None => StackId::EMPTY,
            Some(Part { place: Some(_), below: _ }) => stack,
            Some(Part { place: None, below }) => *below,
        };
        (below, self.ways.get(index).copied().unwrap_or_default())
    }
}

/// What became of a part.
fn image_of(images: &[StackId], stack: StackId) -> StackId {
    stack.index().and_then(|index| images.get(index)).copied().unwrap_or(StackId::EMPTY)
}

/// What becomes of parts that are equal once they are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Equal {
    /// They are one: each stack is there once.
    Merged,
    /// They stay parts of their own, and each part has the number it had: what is known of parts can be taken over.
    Apart,
}

/// The stacks as they are changed, and what became of each part.
///
/// Two parts can become the same only behind one of which more than itself was made: behind one that comes to stand for those of whose
/// place nothing is kept. Only there what is there already is looked for; all others are taken for new, which is most of them.
fn changed(parts: &[Part], equal: Equal) -> (Stacks, Vec<StackId>) {
    // By part, behind a first one for the empty stack.
    let mut several = vec![false; parts.len() + 1];
    let at = |stack: StackId| stack.index().map_or(0, |index| index + 1);
    let left_out = parts.iter().filter(|part| part.place.is_none() && equal == Equal::Merged);
    for part in left_out {
        if let Some(several) = several.get_mut(at(part.below)) {
            *several = true;
        }
    }
    let (mut stacks, mut images) =
        (Stacks::with_room(parts.len(), equal == Equal::Merged), Vec::with_capacity(parts.len()));
    for (nr, Part { place, below }) in parts.iter().enumerate() {
        let parent = image_of(&images, *below);
        let is_met = several.get(at(*below)) == Some(&true);
        images.push(match place {
            None if equal == Equal::Apart => {
                stacks.push_gap();
                parent
            }
            None => parent,
            Some(address) if is_met => {
                if let Some(several) = several.get_mut(nr + 1) {
                    *several = true;
                }
                stacks.push(Node { parent, address: *address })
            }
            Some(address) => stacks.push_new(Node { parent, address: *address }),
        });
    }
    (stacks, images)
}

/// A tree of stacks whose samples are changed one after the other.
struct Changed<'c> {
    change: Change<'c>,
    tree: &'c [Node],
    parts: Parts,
    stacks: Stacks,
    images: Vec<StackId>,
}

impl<'c> Changed<'c> {
    fn new(profile: &'c mut Profile, rule: &'c Rule<'c>, tree: &'c [Node], equal: Equal) -> Changed<'c> {
        let mut change = Change::new(profile, rule);
        let parts = change.parts(tree);
        let (stacks, images) = changed(&parts.parts, equal);
        Changed { change, tree, parts, stacks, images }
    }

    /// What samples with a stack become that were taken at a place: nothing where they are left out.
    fn sample(&mut self, stack: StackId, address: AddressId) -> Option<(StackId, AddressId)> {
        let Changed { change, tree, parts, stacks, images } = self;
        let innermost = stack.index().and_then(|index| tree.get(index));
        let image = image_of(images, stack);
        let taken_at = if innermost.is_some_and(|node| node.address == address) {
            stacks.node(image).map(|node| node.address)
        } else {
            // Where the sample was taken is not where its stack begins, or there is none.
            let (below, mut way) = parts.behind(innermost.map_or(stack, |node| node.parent));
            let place = change.place(address, &mut way);
            place.or_else(|| stacks.node(image_of(images, below)).map(|node| node.address))
        };
        match taken_at {
            Some(place) => Some((image, place)),
            None if change.rule.leaves_out_samples() => None,
            None => Some((image, change.nothing(address))),
        }
    }
}

/// A transform at work.
struct Change<'c> {
    profile: &'c mut Profile,
    rule: &'c Rule<'c>,
    /// By address whether all of it is kept, if that does not depend on what was met before.
    whole: Vec<bool>,
    /// Places of which some levels are kept, by these: their frames.
    partial: FxHashMap<(AddressId, Vec<u32>), AddressId>,
    /// The levels of the address at hand that are kept.
    kept: Vec<u32>,
}

impl<'c> Change<'c> {
    fn new(profile: &'c mut Profile, rule: &'c Rule<'c>) -> Change<'c> {
        let is_whole = |address| {
            let mut levels = profile.levels_at(address);
            levels.len() > 0 && levels.all(|level| rule.keeps(&mut Way::default(), level.function, None))
        };
        let whole = match rule.is_of_levels_alone() {
            true => profile.addresses().ids().map(is_whole).collect(),
            false => Vec::new(),
        };
        Change { profile, rule, whole, partial: FxHashMap::default(), kept: Vec::new() }
    }

    /// What is kept of each part of a tree.
    fn parts(&mut self, tree: &[Node]) -> Parts {
        let needs_ways = !self.rule.is_of_levels_alone();
        let mut all = Parts { parts: Vec::with_capacity(tree.len()), ways: Vec::new() };
        for Node { parent, address } in tree {
            let (below, mut way) = all.behind(*parent);
            let place = if *address == AddressId::NONE { None } else { self.place(*address, &mut way) };
            all.parts.push(Part { place, below });
            all.ways.extend(needs_ways.then_some(way));
        }
        all
    }

    /// What is kept of an address on the way along a stack.
    fn place(&mut self, address: AddressId, way: &mut Way) -> Option<AddressId> {
        if self.whole.get(address.index()) == Some(&true) {
            return Some(address);
        }
        let binary = self.profile.addresses().get(address).and_then(|code| code.binary);
        let mut kept = std::mem::take(&mut self.kept);
        kept.clear();
        let mut all = 0;
        for (nr, level) in (0..).zip(self.profile.levels_at(address).rev()) {
            if self.rule.keeps(way, level.function, binary) {
                kept.push(nr);
            }
            all += 1;
        }
        let place = match kept.len() {
            0 => None,
            len if len == all => Some(address),
            _ => Some(self.partial_place(address, kept.clone())),
        };
        self.kept = kept;
        place
    }

    fn partial_place(&mut self, address: AddressId, outermost_first: Vec<u32>) -> AddressId {
        let profile = &mut *self.profile;
        *self.partial.entry((address, outermost_first)).or_insert_with_key(|(_, outermost_first)| {
            let frames = profile.names().frames_at(address);
            let kept = outermost_first.iter().rev().filter_map(|nr| frames.iter().nth_back(*nr as usize));
            let frames: Vec<Frame> = kept.copied().collect();
            profile.make_place(address, &frames)
        })
    }

    /// The place of samples of whose stack nothing is kept.
    fn nothing(&mut self, address: AddressId) -> AddressId {
        let profile = &mut *self.profile;
        *self.partial.entry((address, Vec::new())).or_insert_with(|| {
            let function = profile.hidden_function();
            profile.make_place(address, &[Frame { function, file: None, line: 0 }])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// A tree in which no two parts are the same, and of which places something is kept.
    fn tree() -> impl Strategy<Value = (Vec<Node>, Vec<bool>)> {
        let nodes = proptest::collection::vec((any::<prop::sample::Index>(), 0..4_u32), 0..60);
        (nodes, proptest::collection::vec(any::<bool>(), 60)).prop_map(|(nodes, kept)| {
            let mut tree = Stacks::default();
            for (parent, address) in nodes {
                // One more than there are is the empty stack.
                let parent = match parent.index(tree.nodes().len() + 1) {
                    0 => StackId::EMPTY,
                    nr => StackId(nr as u32 - 1),
                };
                tree.push(Node { parent, address: AddressId(address) });
            }
            (tree.nodes().to_vec(), kept)
        })
    }

    proptest! {
        #[test]
        fn stacks_have_what_is_kept_and_each_is_there_once((tree, kept) in tree()) {
            let mut all = Parts::default();
            let mut expected: Vec<Vec<AddressId>> = Vec::new();
            for (node, is_kept) in tree.iter().zip(&kept) {
                let (below, _) = all.behind(node.parent);
                all.parts.push(Part { place: is_kept.then_some(node.address), below });
                let caller = node.parent.index().map(|index| expected[index].clone()).unwrap_or_default();
                expected.push(is_kept.then_some(node.address).into_iter().chain(caller).collect());
            }
            let (stacks, images) = changed(&all.parts, Equal::Merged);
            let mut ids: HashMap<Vec<AddressId>, StackId> = HashMap::new();
            for (image, places) in images.into_iter().zip(expected) {
                prop_assert_eq!(stacks.places(image).collect::<Vec<_>>(), places.clone());
                prop_assert_eq!(*ids.entry(places).or_insert(image), image);
            }
            prop_assert_eq!(stacks.nodes().len(), ids.values().filter(|id| **id != StackId::EMPTY).count());
        }
    }
}
