//! A transform at work: what becomes of the stacks of some samples, and of the places in them.

use super::rule::{Fate, Rule, Way};
use crate::addresses::AddressId;
use crate::groups::Groups;
use crate::names::{Frame, FunctionId, Names};
use crate::profile::Profile;
use crate::stacks::{Node, StackId, Stacks, needed};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// What is kept of a tree.
#[derive(Clone, Debug, Default)]
struct Parts {
    /// By part, under the number that it had: what is kept of its innermost place, and the part behind which that comes. Nothing may be
    /// kept of it: then it is a gap, through which no stack goes, and has no place.
    nodes: Vec<Node>,
    /// What was met up to each, if the rule looks at that.
    ways: Vec<Way>,
}

impl Profile {
    /// What a rule makes of each address, if it says that.
    fn fates(&self, rule: &Rule) -> Vec<Fate> {
        let fate = |address| rule.fate(self.names.frames_at(address).map(|frame| frame.function));
        if rule.has_fates() { self.addresses.ids().map(fate).collect() } else { Vec::new() }
    }

    /// Changes the stacks of the rows.
    pub(super) fn apply(&mut self, rule: &Rule) {
        let (tree, of_row) = self.chosen_tree();
        let mut rows = std::mem::take(&mut self.rows);
        let mut changed = Changed::merged(self, rule, &tree);
        let mut of_row = of_row.into_iter();
        Arc::make_mut(&mut rows)
            .place_anew(|address| changed.sample(of_row.next().unwrap_or(StackId::EMPTY), address));
        let mut stacks = changed.into_stacks();
        stacks.freeze();
        self.rows = rows;
        self.stacks = Arc::new(stacks);
    }

    /// Changes the stacks of groups of samples, and of them alone: they become those that are returned. The stacks are a tree.
    pub(super) fn apply_to_groups(&mut self, rule: &Rule, groups: &Groups) -> Groups {
        let recorded = Arc::clone(&self.stacks);
        // Nobody asks groups for each stack once: views merge what is called the same.
        let mut changed = Changed::in_place(self, rule, recorded.nodes());
        let groups = groups.with_stacks(|stack, address| changed.sample(stack, address));
        self.stacks = Arc::new(changed.into_stacks());
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
        for rows in self.rows().chunks(AT_ONCE) {
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
        let way = stack.index().and_then(|index| self.ways.get(index)).copied();
        (nearest(&self.nodes, stack), way.unwrap_or_default())
    }

    /// Adds the next part: what is kept of its place, and the part behind which that comes.
    fn push(&mut self, place: Option<AddressId>, below: StackId) {
        self.nodes.push(Node { parent: below, address: place.unwrap_or(AddressId::NONE) });
    }
}

/// What is kept of a part: itself or, if it is a gap, the part behind which its callees come.
fn nearest(nodes: &[Node], stack: StackId) -> StackId {
    match stack.index().and_then(|index| nodes.get(index)) {
        Some(Node { parent, address: AddressId::NONE }) => *parent,
        Some(_) => stack,
        None => StackId::EMPTY,
    }
}

/// What became of a part.
fn image_of(images: &[StackId], stack: StackId) -> StackId {
    stack.index().and_then(|index| images.get(index)).copied().unwrap_or(StackId::EMPTY)
}

/// The stacks with each part once, and what became of each.
///
/// Two parts can become the same only behind one of which more than itself was made: behind one that comes to stand for those of whose
/// place nothing is kept. Only there what is there already is looked for; all others are taken for new, which is most of them.
fn merged(parts: &[Node]) -> (Stacks, Vec<StackId>) {
    // By part, behind a first one for the empty stack.
    let mut several = vec![false; parts.len() + 1];
    let at = |stack: StackId| stack.index().map_or(0, |index| index + 1);
    for part in parts.iter().filter(|part| part.address == AddressId::NONE) {
        if let Some(several) = several.get_mut(at(part.parent)) {
            *several = true;
        }
    }
    let (mut stacks, mut images) = (Stacks::default(), Vec::with_capacity(parts.len()));
    for (nr, part) in parts.iter().enumerate() {
        let node = Node { parent: image_of(&images, part.parent), address: part.address };
        let is_met = several.get(at(part.parent)) == Some(&true);
        images.push(match node.address {
            AddressId::NONE => node.parent,
            _ if is_met => {
                if let Some(several) = several.get_mut(nr + 1) {
                    *several = true;
                }
                stacks.push(node)
            }
            _ => stacks.push_new(node),
        });
    }
    (stacks, images)
}

/// A tree of stacks whose samples are changed one after the other.
struct Changed<'c> {
    change: Change<'c>,
    tree: &'c [Node],
    /// What is kept of each part.
    parts: Parts,
    /// Where parts that became equal were merged: the stacks as they are then, and what each part became. Else parts have their numbers.
    merged: Option<(Stacks, Vec<StackId>)>,
}

impl<'c> Changed<'c> {
    /// With each stack once.
    fn merged(profile: &'c mut Profile, rule: &'c Rule, tree: &'c [Node]) -> Changed<'c> {
        let changed = Changed::in_place(profile, rule, tree);
        let merged = merged(&changed.parts.nodes);
        Changed { merged: Some(merged), ..changed }
    }

    /// With the numbers that parts have, so that what is known of them can be taken over. Parts that become equal stay apart.
    fn in_place(profile: &'c mut Profile, rule: &'c Rule, tree: &'c [Node]) -> Changed<'c> {
        let fates = profile.fates(rule);
        let mut change = Change { profile, rule, fates, partial: FxHashMap::default(), kept: Vec::new() };
        let parts = change.parts(tree);
        Changed { change, tree, parts, merged: None }
    }

    /// The stacks as they are changed.
    fn into_stacks(self) -> Stacks {
        match self.merged {
            Some((stacks, _)) => stacks,
            None => Stacks::of_nodes(self.parts.nodes),
        }
    }

    /// What became of a part.
    fn image(&self, stack: StackId) -> StackId {
        let nearest = nearest(&self.parts.nodes, stack);
        self.merged.as_ref().map_or(nearest, |(_, images)| image_of(images, nearest))
    }

    /// The innermost place of what became of a part.
    fn place_of(&self, stack: StackId) -> Option<AddressId> {
        let nearest = nearest(&self.parts.nodes, stack);
        nearest.index().and_then(|index| self.parts.nodes.get(index)).map(|node| node.address)
    }

    /// What samples with a stack become that were taken at a place: nothing where they are left out.
    fn sample(&mut self, stack: StackId, address: AddressId) -> Option<(StackId, AddressId)> {
        let innermost = stack.index().and_then(|index| self.tree.get(index));
        let image = self.image(stack);
        let taken_at = if innermost.is_some_and(|node| node.address == address) {
            self.place_of(stack)
        } else {
            // Where the sample was taken is not where its stack begins, or there is none.
            let caller = innermost.map_or(stack, |node| node.parent);
            let (_, mut way) = self.parts.behind(caller);
            self.change.place(address, &mut way).or_else(|| self.place_of(caller))
        };
        match taken_at {
            Some(place) => Some((image, place)),
            None if self.change.rule.leaves_out_samples() => None,
            None => Some((image, self.change.nothing(address))),
        }
    }
}

/// A transform at work.
struct Change<'c> {
    profile: &'c mut Profile,
    rule: &'c Rule,
    /// By address what becomes of it, if the rule says that of each.
    fates: Vec<Fate>,
    /// Places of which some levels are kept, by these: their frames.
    partial: FxHashMap<(AddressId, Vec<u32>), AddressId>,
    /// The levels of the address at hand that are kept.
    kept: Vec<u32>,
}

impl<'c> Change<'c> {
    /// What is kept of each part of a tree.
    fn parts(&mut self, tree: &[Node]) -> Parts {
        let ways = if self.rule.looks_back() { tree.len() } else { 0 };
        let mut all = Parts { nodes: Vec::with_capacity(tree.len()), ways: Vec::with_capacity(ways) };
        for Node { parent, address } in tree {
            let (below, mut way) = all.behind(*parent);
            // A change before this one may have left gaps.
            let place = if *address == AddressId::NONE { None } else { self.place(*address, &mut way) };
            all.push(place, below);
            all.ways.extend((ways > 0).then_some(way));
        }
        all
    }

    /// What is kept of an address on the way along a stack.
    fn place(&mut self, address: AddressId, way: &mut Way) -> Option<AddressId> {
        if let Some(keeps) = self.rule.keeps_from_here(*way) {
            return keeps.then_some(address);
        }
        match self.fates.get(address.index()) {
            Some(Fate::Kept) => return Some(address),
            Some(Fate::Left) => return None,
            Some(Fate::Asked) | None => {}
        }
        let binary = self.profile.addresses().get(address).and_then(|code| code.binary);
        if let Some(function) = only_function(self.profile.names(), address) {
            return self.rule.keeps(way, function, binary).then_some(address);
        }
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
            let frames: Vec<Frame> = profile.names().frames_at(address).collect();
            let kept = outermost_first.iter().rev().filter_map(|nr| frames.iter().nth_back(*nr as usize));
            let kept: Vec<Frame> = kept.copied().collect();
            profile.make_place(address, &kept)
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

/// The function at an address where it is the only level.
fn only_function(names: &Names, address: AddressId) -> Option<FunctionId> {
    let mut levels = names.frames_at(address);
    levels.next().filter(|_| levels.len() == 0).map(|level| level.function)
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
                    nr => StackId(u32::try_from(nr).unwrap() - 1),
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
                all.push(is_kept.then_some(node.address), below);
                let caller = node.parent.index().map(|index| expected[index].clone()).unwrap_or_default();
                expected.push(is_kept.then_some(node.address).into_iter().chain(caller).collect());
            }
            let in_place = Stacks::of_nodes(all.nodes.clone());
            for (nr, places) in (0..).zip(&expected) {
                prop_assert_eq!(&in_place.places(nearest(&all.nodes, StackId(nr))).collect::<Vec<_>>(), places);
            }
            let (stacks, images) = merged(&all.nodes);
            let mut ids: HashMap<Vec<AddressId>, StackId> = HashMap::new();
            for (image, places) in images.into_iter().zip(expected) {
                prop_assert_eq!(stacks.places(image).collect::<Vec<_>>(), places.clone());
                prop_assert_eq!(*ids.entry(places).or_insert(image), image);
            }
            prop_assert_eq!(stacks.nodes().len(), ids.values().filter(|id| **id != StackId::EMPTY).count());
        }
    }
}
