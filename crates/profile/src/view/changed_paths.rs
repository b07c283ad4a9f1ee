//! The ways to rows behind a change of stacks, made of those before it. Parts of stacks stay what they are; what may become another one is to
//! which rows they add. Most stay as they were: a row that no part has lost or got is met first where it was.

use super::calls::NONE;
use super::facts::Facts;
use super::histogram::{HistogramOptions, RowKey};
use super::key::Part;
use super::ordered_rows::OrderedRows;
use super::part_rows::PartRows;
use super::place_rows::PlaceRows;
use super::row_order::compare_names;
use super::row_paths::RowPaths;
use super::taken::Taken;
use crate::addresses::AddressId;
use crate::groups::Groups;
use crate::stacks::Node;
use perffile::wire::head::CpuMode;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Whether rows depend on samples and places alone, so that a change of stacks leaves what the keys say of samples.
pub fn are_for_any_stacks(options: &HistogramOptions) -> bool {
    !options.keys.iter().any(|key| matches!(key.key.part, Part::Stack(_)))
}

/// Samples whose stacks were changed, with what they were before.
#[derive(Clone, Copy, Debug)]
pub struct Before<'b> {
    /// The ways to rows.
    pub paths: &'b RowPaths,
    /// The parts of stacks.
    pub nodes: &'b [Node],
    /// The groups; they are the same in another order of stacks.
    pub groups: &'b Groups,
}

/// What may have other rows than before.
struct Touched {
    rows: MovedRows,
    /// By part of a stack of the profile.
    nodes: Vec<bool>,
    /// Groups by their numbers among those of the event, with the row of the place and the mode where their samples are taken now.
    groups: Vec<(u32, u32, CpuMode)>,
}

impl Touched {
    fn new(before: Before<'_>, after: (&[Node], &Groups), places: &PlaceRows, addresses: usize) -> Touched {
        let rows = MovedRows::new(before, after.0, places, addresses);
        let has_moved_row = |address: u32| {
            places.levels_of_index(address as usize).iter().any(|row| rows.is_met_elsewhere(*row))
        };
        let in_moved: Vec<bool> = (0..).map(has_moved_row).take(addresses).collect();
        let is_touched = |(old, new): (&Node, &Node)| {
            old.address != new.address || in_moved.get(new.address.index()) == Some(&true)
        };
        let nodes = before.nodes.iter().zip(after.0).map(is_touched).collect();
        let mut groups: Vec<(u32, u32, CpuMode)> = Vec::new();
        for (group, number) in before.paths.groups.clone().zip(0..) {
            let (old, new) = (before.groups.address_of(group), after.1.address_of(group));
            let (row, mode) = places.taken_at(new);
            // Samples that are left out are nowhere.
            if new != AddressId::NONE && (old != new || rows.has_moved(row)) {
                groups.push((number, row, mode));
            }
        }
        Touched { rows, nodes, groups }
    }

    #[inline]
    fn has_node(&self, node: u32) -> bool {
        self.nodes.get(node as usize) == Some(&true)
    }
}

/// The rows of places that parts have lost or got.
struct MovedRows {
    moved: Vec<bool>,
    /// Those that may be in a stack more than once. A row that was in each stack at most once is still met first where it is, whatever other
    /// parts have lost; one that a part has got may now be there twice.
    repeated: Vec<bool>,
}

impl MovedRows {
    fn new(before: Before<'_>, after: &[Node], places: &PlaceRows, addresses: usize) -> MovedRows {
        let mut rows =
            MovedRows { moved: vec![false; places.len()], repeated: before.paths.repeated.clone() };
        // What was not there before may be anywhere.
        rows.repeated.resize(places.len(), true);
        // Many parts may have lost the same place, and its rows lie anywhere: they are marked once.
        let mut gone = vec![false; addresses];
        for (old, new) in before.nodes.iter().zip(after).filter(|(old, new)| old.address != new.address) {
            if new.address == AddressId::NONE {
                mark(&mut gone, old.address.index());
                continue;
            }
            let (lost, got) = (places.levels_of(old.address), places.levels_of(new.address));
            for row in lost.iter().filter(|row| !got.contains(row)) {
                mark(&mut rows.moved, *row as usize);
            }
            for row in got.iter().filter(|row| !lost.contains(row)) {
                mark(&mut rows.moved, *row as usize);
                mark(&mut rows.repeated, *row as usize);
            }
        }
        for (address, _) in gone.iter().enumerate().filter(|(_, gone)| **gone) {
            for row in places.levels_of_index(address) {
                mark(&mut rows.moved, *row as usize);
            }
        }
        rows
    }

    /// Whether a part has lost or got a row.
    #[inline]
    fn has_moved(&self, row: u32) -> bool {
        self.moved.get(row as usize).copied().unwrap_or(true)
    }

    /// Whether the outermost part with a row may be another one in some stack.
    #[inline]
    fn is_met_elsewhere(&self, row: u32) -> bool {
        self.has_moved(row) && self.repeated.get(row as usize).copied().unwrap_or(true)
    }
}

fn mark(marks: &mut [bool], at: usize) {
    if let Some(marked) = marks.get_mut(at) {
        *marked = true;
    }
}

/// The rows that what is touched may have.
struct RowIndex {
    /// By what they are.
    known: FxHashMap<RowKey, u32>,
    /// How many there were before.
    count: usize,
    new: Vec<RowKey>,
}

impl RowIndex {
    fn new(rows: &OrderedRows, touched: &Touched, nodes: &[Node], places: &PlaceRows) -> RowIndex {
        // The last stands for places that are not known.
        let mut wanted = vec![false; places.len() + 1];
        let mut want = |row: u32| {
            if let Some(wanted) = wanted.get_mut((row as usize).min(places.len())) {
                *wanted = true;
            }
        };
        for (node, _) in nodes.iter().zip(&touched.nodes).filter(|(_, is_touched)| **is_touched) {
            places.levels_of(node.address).iter().for_each(|row| want(*row));
        }
        touched.groups.iter().for_each(|(_, row, _)| want(*row));
        let is_wanted = |key: &RowKey| wanted.get((key.place as usize).min(places.len())) == Some(&true);
        let known = rows.by_number().zip(0..).filter(|(key, _)| is_wanted(key)).collect();
        RowIndex { known, count: rows.len(), new: Vec::new() }
    }

    /// The row of a place.
    fn row(&mut self, key: RowKey) -> u32 {
        let RowIndex { known, count, new } = self;
        *known.entry(key).or_insert_with(|| {
            new.push(key);
            u32::try_from(*count + new.len() - 1).unwrap_or(NONE)
        })
    }
}

impl RowPaths {
    /// The ways behind a change of stacks whose parts kept their numbers, to the rows that places are in now. These are all rows of
    /// `before`, and more.
    pub fn with_changed_stacks(
        before: Before<'_>,
        mut facts: Facts<'_>,
        options: &HistogramOptions,
        places: Arc<PlaceRows>,
        groups: &Groups,
    ) -> RowPaths {
        facts.settle(options);
        let (paths, profile) = (before.paths, facts.profile);
        let nodes = profile.stacks.nodes();
        let touched = Touched::new(before, (nodes, groups), &places, profile.addresses.len());
        let is_touched =
            |part: u32| paths.ways.nodes.get(part as usize).is_some_and(|node| touched.has_node(*node));
        let mut changing = Changing {
            rows: RowIndex::new(&paths.rows, &touched, nodes, &places),
            before: paths,
            nodes,
            places: &places,
            touched: &touched,
            parts: paths.parts.changing(is_touched),
            met: Vec::new(),
        };
        let mut samples = paths.ways.samples.iter().peekable();
        let mut sample = NONE;
        for part in changing.parts.changed() {
            while let Some((_, next)) = samples.next_if(|(first, _)| *first <= part) {
                sample = *next;
            }
            changing.part(part, sample);
        }
        let taken = touched.groups.iter().filter_map(|(group, place, mode)| {
            let taken = paths.taken.get(*group)?;
            Some((*group, changing.take((*place, *mode), taken)))
        });
        let taken = paths.taken.with(taken.collect());
        let Changing { parts, rows: RowIndex { new, .. }, .. } = changing;
        let values = paths.values.with_places(places);
        let (event, groups, ways) = (paths.event, paths.groups.clone(), Arc::clone(&paths.ways));
        let rows = paths.rows.with(new, |a, b| compare_names(&facts, &values, a, b));
        let memory = facts.into_memory();
        let repeated = touched.rows.repeated;
        RowPaths { event, groups, taken, ways, parts, repeated, rows, values, memory }
    }
}

/// Finds the rows of each part anew, as far as they may be others.
struct Changing<'c> {
    rows: RowIndex,
    before: &'c RowPaths,
    nodes: &'c [Node],
    places: &'c PlaceRows,
    touched: &'c Touched,
    parts: PartRows,
    /// Those of the part at hand.
    met: Vec<u32>,
}

impl Changing<'_> {
    /// Whether a part or what is below it has a row.
    fn has(&self, part: u32, row: u32) -> bool {
        self.before.ways.from(part).any(|part| self.parts.of(part).contains(&row))
    }

    /// The rows of the next part, of samples of which the keys say this.
    fn part(&mut self, part: u32, sample: u32) {
        let known = || self.before.parts.of(part);
        let node = self.before.ways.nodes.get(part as usize).copied().unwrap_or(NONE);
        let Some(here) = self.nodes.get(node as usize).filter(|_| self.touched.has_node(node)) else {
            return self.parts.push(known());
        };
        let caller = self.before.ways.callers.get(part as usize).copied().unwrap_or(NONE);
        self.met.clear();
        for place in self.places.levels_of(here.address) {
            let row = self.rows.row(RowKey { sample, place: *place });
            let is_first = match self.touched.rows.is_met_elsewhere(*place) {
                true => !self.has(caller, row),
                false => known().contains(&row),
            };
            if is_first && !self.met.contains(&row) {
                self.met.push(row);
            }
        }
        self.parts.push(&self.met);
    }

    /// Where the samples of a group are taken.
    fn take(&mut self, (place, mode): (u32, CpuMode), taken: Taken) -> Taken {
        let sample = self.before.rows.get(taken.row).map_or(NONE, |row| row.sample);
        let row = self.rows.row(RowKey { sample, place });
        Taken { part: taken.part, row, mode, apart: !self.has(taken.part, row) }
    }
}
