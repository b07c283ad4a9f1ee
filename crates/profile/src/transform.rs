//! Stacks that are changed to be read: what is left out of them, put together, or where they begin.
//!
//! A transform goes along each stack from the outermost level to the innermost and keeps some of them; what a function that is
//! left out took is its caller's. Stacks are a tree, so each part is gone through once: the work is that of the stacks of the
//! samples that are chosen, and no other pass over the recording is needed.
//!
//! Inlined functions are levels, too. An address of which only some levels are kept becomes a place of its own, with the names
//! of those ([`Profile::recorded_place`] tells which it was).

use crate::addresses::AddressId;
use crate::names::{Frame, FunctionId, Names};
use crate::profile::Profile;
use crate::select::is_called;
use crate::stacks::{Node, StackId, Stacks};
use readperf_session::{BinaryId, Session};
use regex::Regex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Some functions.
#[derive(Clone, Debug)]
pub enum Functions {
    /// Those whose names match a pattern.
    Matching(Regex),
    /// These.
    These(BTreeSet<FunctionId>),
}

/// A change of stacks.
#[derive(Clone, Debug, PartialEq)]
pub enum Transform {
    /// These functions are left out.
    Hide(Functions),
    /// All other functions are left out.
    Show(Functions),
    /// Stacks begin at the outermost of these functions. Samples without one are left out.
    ShowFrom(Functions),
    /// Only stacks that begin with these functions, the outermost first; they begin with the last of them. Other samples are
    /// left out.
    Subtree(Vec<FunctionId>),
    /// A function that calls itself is there once.
    CollapseRecursion,
    /// What one of these binaries, by short name or path, calls in itself is left out.
    CollapseBinaries(Vec<String>),
    /// Names of functions lose this beginning.
    DropPrefix(String),
}

/// Patterns are the same if they are written the same.
impl PartialEq for Functions {
    fn eq(&self, other: &Functions) -> bool {
        match (self, other) {
            (Functions::Matching(a), Functions::Matching(b)) => a.as_str() == b.as_str(),
            (Functions::These(a), Functions::These(b)) => a == b,
            (Functions::Matching(_), Functions::These(_)) | (Functions::These(_), Functions::Matching(_)) => {
                false
            }
        }
    }
}

impl Transform {
    /// Whether it looks at whole stacks, so that these have to be kept.
    pub fn needs_stacks(&self) -> bool {
        match self {
            Transform::Hide(_)
            | Transform::Show(_)
            | Transform::ShowFrom(_)
            | Transform::Subtree(_)
            | Transform::CollapseRecursion
            | Transform::CollapseBinaries(_) => true,
            Transform::DropPrefix(_) => false,
        }
    }
}

impl Functions {
    /// For each function by number, whether it is one of them.
    fn among(&self, names: &Names) -> Vec<bool> {
        let functions = names.functions().iter();
        match self {
            Functions::Matching(pattern) => {
                functions.map(|function| function.name().is_some_and(|name| pattern.is_match(name))).collect()
            }
            Functions::These(these) => {
                let mut among = vec![false; functions.len()];
                for function in these {
                    if let Some(is_one) = among.get_mut(function.index()) {
                        *is_one = true;
                    }
                }
                among
            }
        }
    }
}

/// What a transform does at each level, made ready.
enum Rule<'t> {
    Keep {
        wanted: Vec<bool>,
        is_wanted: bool,
    },
    From {
        roots: Vec<bool>,
    },
    Below {
        path: &'t [FunctionId],
    },
    /// With the function that stands for each, whether inlined or not.
    Recursion {
        one_of: Vec<FunctionId>,
    },
    Binaries {
        binaries: FxHashSet<BinaryId>,
    },
}

/// What was met on the way along a stack.
#[derive(Clone, Copy, Debug, Default)]
struct Way {
    /// The function of the last level.
    function: Option<FunctionId>,
    /// The binary of the last level.
    binary: Option<BinaryId>,
    /// How far the beginning that is wanted has been met.
    met: usize,
    /// Whether the stack begins with something else.
    astray: bool,
}

impl Rule<'_> {
    /// Whether a level is kept.
    fn keeps(&self, way: &mut Way, function: FunctionId, binary: Option<BinaryId>) -> bool {
        let among = |functions: &[bool]| functions.get(function.index()).copied().unwrap_or(false);
        let keeps = match self {
            Rule::Keep { wanted, is_wanted } => among(wanted) == *is_wanted,
            Rule::From { roots } => {
                way.met |= usize::from(among(roots));
                way.met > 0
            }
            Rule::Below { path } => match path.get(way.met) {
                _ if way.astray => false,
                None => true,
                Some(next) => {
                    way.astray = *next != function;
                    way.met += usize::from(!way.astray);
                    way.met == path.len()
                }
            },
            Rule::Recursion { one_of } => {
                let one = one_of.get(function.index()).copied();
                let repeats = one.is_some() && way.function == one;
                way.function = one;
                !repeats
            }
            Rule::Binaries { binaries } => {
                way.binary != binary || !binary.is_some_and(|binary| binaries.contains(&binary))
            }
        };
        way.binary = binary;
        keeps
    }

    /// Whether samples of whose stack nothing is kept do not count at all.
    fn leaves_out_samples(&self) -> bool {
        match self {
            Rule::From { .. } | Rule::Below { .. } => true,
            Rule::Keep { .. } | Rule::Recursion { .. } | Rule::Binaries { .. } => false,
        }
    }
}

impl Profile {
    /// Changes the stacks, one transform after the other. The totals of the events become those of the samples that are left.
    pub fn transform(&mut self, transforms: &[Transform], session: &Session) {
        for transform in transforms {
            let rule = match transform {
                Transform::Hide(functions) => {
                    Rule::Keep { wanted: functions.among(&self.names), is_wanted: false }
                }
                Transform::Show(functions) => {
                    Rule::Keep { wanted: functions.among(&self.names), is_wanted: true }
                }
                Transform::ShowFrom(functions) => Rule::From { roots: functions.among(&self.names) },
                Transform::Subtree(path) => Rule::Below { path },
                Transform::CollapseRecursion => Rule::Recursion { one_of: self.names.one_of_name() },
                Transform::CollapseBinaries(wanted) => {
                    Rule::Binaries { binaries: self.binaries_called(wanted, session) }
                }
                Transform::DropPrefix(prefix) => {
                    Arc::make_mut(&mut self.names).drop_prefix(prefix);
                    continue;
                }
            };
            self.apply(&rule);
        }
        self.add_up();
    }

    /// The binaries of places that have one of these names.
    fn binaries_called(&self, wanted: &[String], session: &Session) -> FxHashSet<BinaryId> {
        let binaries = self.addresses.as_slice().iter().filter_map(|code| code.binary);
        let mut binaries: FxHashSet<BinaryId> = binaries.collect();
        binaries.retain(|id| session.binary(*id).is_some_and(|binary| is_called(binary, wanted)));
        binaries
    }

    fn apply(&mut self, rule: &Rule<'_>) {
        let (tree, of_row) = self.chosen_tree();
        let (stacks, partial) = (Stacks::default(), FxHashMap::default());
        let mut change = Change { profile: self, rule, stacks, partial, hidden: None, kept: Vec::new() };
        // By part of a stack: what became of it, and what was met up to there.
        let mut images: Vec<(StackId, Way)> = Vec::with_capacity(tree.len());
        let image_of = |images: &[(StackId, Way)], stack: StackId| {
            let image = stack.index().and_then(|index| images.get(index));
            image.copied().unwrap_or((StackId::EMPTY, Way::default()))
        };
        for Node { parent, address } in &tree {
            let (below, mut way) = image_of(&images, *parent);
            let place = change.place(*address, &mut way);
            images.push((change.push(below, place), way));
        }
        let mut rows = std::mem::take(&mut change.profile.rows);
        let mut of_row = of_row.into_iter();
        Arc::make_mut(&mut rows).retain_mut(|row| {
            let stack = of_row.next().unwrap_or(StackId::EMPTY);
            let innermost = stack.index().and_then(|index| tree.get(index));
            let caller = innermost.map_or(stack, |node| node.parent);
            let image = image_of(&images, stack).0;
            let taken_at = if innermost.is_some_and(|node| node.address == row.address) {
                change.stacks.node(image).map(|node| node.address)
            } else {
                // Where the sample was taken is not where its stack begins, or there is none.
                let (below, mut way) = image_of(&images, caller);
                let place = change.place(row.address, &mut way);
                place.or_else(|| change.stacks.node(below).map(|node| node.address))
            };
            row.stack = image;
            row.address = match taken_at {
                Some(place) => place,
                None if rule.leaves_out_samples() => return false,
                None => change.nothing(row.address),
            };
            true
        });
        let Change { mut stacks, .. } = change;
        stacks.freeze();
        self.rows = rows;
        self.stacks = Arc::new(stacks);
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

    /// Of a place that a transform made: the one that was recorded.
    pub fn recorded_place(&self, address: AddressId) -> AddressId {
        let made = address.index().checked_sub(self.addresses.len() - self.made_of.len());
        made.and_then(|made| self.made_of.get(made)).copied().unwrap_or(address)
    }

    /// A place with other levels than the one it is made of.
    fn make_place(&mut self, of: AddressId, levels: &[Frame]) -> AddressId {
        let recorded = self.recorded_place(of);
        let Some(code) = self.addresses.get(recorded).copied() else { return of };
        let place = Arc::make_mut(&mut self.addresses).again(code);
        Arc::make_mut(&mut self.names).add_place(levels);
        self.made_of.push(recorded);
        place
    }
}

/// A transform at work.
struct Change<'c> {
    profile: &'c mut Profile,
    rule: &'c Rule<'c>,
    stacks: Stacks,
    /// Places of which some levels are kept, by these: their frames.
    partial: FxHashMap<(AddressId, Vec<u32>), AddressId>,
    /// The function that stands for those that are left out.
    hidden: Option<FunctionId>,
    /// The levels of the address at hand that are kept.
    kept: Vec<u32>,
}

impl Change<'_> {
    /// What is kept of an address on the way along a stack.
    fn place(&mut self, address: AddressId, way: &mut Way) -> Option<AddressId> {
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
            let function = *self.hidden.get_or_insert_with(|| Arc::make_mut(&mut profile.names).hidden());
            profile.make_place(address, &[Frame { function, file: None, line: 0 }])
        })
    }

    fn push(&mut self, below: StackId, place: Option<AddressId>) -> StackId {
        place.map_or(below, |address| self.stacks.push(Node { parent: below, address }))
    }
}

/// The part of a tree that some stacks need, and for each node of the whole its number there.
pub(crate) fn needed(nodes: &[Node], stacks: impl Iterator<Item = StackId>) -> (Vec<Node>, Vec<StackId>) {
    let mut is_needed = vec![false; nodes.len()];
    for stack in stacks {
        if let Some(needed) = stack.index().and_then(|index| is_needed.get_mut(index)) {
            *needed = true;
        }
    }
    for (index, node) in nodes.iter().enumerate().rev() {
        if is_needed.get(index) == Some(&true)
            && let Some(caller) = node.parent.index().and_then(|caller| is_needed.get_mut(caller))
        {
            *caller = true;
        }
    }
    let (mut part, mut numbers): (Vec<Node>, Vec<StackId>) = (Vec::new(), Vec::with_capacity(nodes.len()));
    for (node, is_needed) in nodes.iter().zip(is_needed) {
        if !is_needed {
            numbers.push(StackId::EMPTY);
            continue;
        }
        let parent = node.parent.index().and_then(|caller| numbers.get(caller)).copied();
        let number = u32::try_from(part.len()).map_or(StackId::EMPTY, StackId);
        part.push(Node { parent: parent.unwrap_or(StackId::EMPTY), address: node.address });
        numbers.push(number);
    }
    (part, numbers)
}
