//! The ways to rows behind a change of stacks, made of those before it. Parts of stacks stay what they are; what may become another one is to
//! which rows they add. Most stay as they were: a row that no part has lost or got is met first where it was.

use super::calls::NONE;
use super::facts::{FactMemory, Facts};
use super::histogram::{HistogramOptions, RowKey};
use super::key::Part;
use super::place_rows::PlaceRows;
use super::row_order::compare_names;
use super::row_paths::{PartRows, RowPaths, Taken, Ways};
use crate::addresses::AddressId;
use crate::groups::Groups;
use crate::stacks::Node;
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

/// Which rows of places are met elsewhere than before.
struct Moved {
    /// By row of places.
    rows: Vec<bool>,
    /// By place, whether it is in one of these.
    places: Vec<bool>,
}

impl Moved {
    fn new(places: &PlaceRows, (before, after): (&[Node], &[Node]), count: usize) -> Moved {
        let mut rows = vec![false; places.len()];
        for (before, after) in before.iter().zip(after).filter(|(a, b)| a.address != b.address) {
            let (lost, got) = (places.levels_of(before.address), places.levels_of(after.address));
            let not_in_both = lost.iter().filter(|row| !got.contains(row));
            for row in not_in_both.chain(got.iter().filter(|row| !lost.contains(row))) {
                if let Some(moved) = rows.get_mut(*row as usize) {
                    *moved = true;
                }
            }
        }
        let mut moved = Moved { rows, places: Vec::new() };
        let in_one =
            |address: u32| places.levels_of_index(address as usize).iter().any(|row| moved.has(*row));
        moved.places = (0..).map(in_one).take(count).collect();
        moved
    }

    #[inline]
    fn has(&self, row: u32) -> bool {
        self.rows.get(row as usize).copied().unwrap_or(true)
    }

    #[inline]
    fn is_in(&self, node: &Node) -> bool {
        self.places.get(node.address.index()).copied().unwrap_or(true)
    }
}

/// Rows by place, for samples of which the keys say the same.
struct RowsOf<'r> {
    rows: &'r mut Vec<RowKey>,
    sample: u32,
    run: u32,
    /// By row of places: in which run which row; the last is that of places that are not known.
    of_places: Vec<(u32, u32)>,
}

impl RowsOf<'_> {
    /// The row of a place.
    fn row(&mut self, place: u32) -> u32 {
        let last = self.of_places.len().saturating_sub(1);
        let Some(slot) = self.of_places.get_mut((place as usize).min(last)) else { return NONE };
        if slot.0 != self.run {
            *slot = (self.run, u32::try_from(self.rows.len()).unwrap_or(NONE));
            self.rows.push(RowKey { sample: self.sample, place });
        }
        slot.1
    }

    /// Others follow, whose rows up to now are these.
    fn next(&mut self, sample: u32, known: &[u32]) {
        (self.sample, self.run) = (sample, self.run + 1);
        let last = self.of_places.len().saturating_sub(1);
        for row in known {
            let place = self.rows.get(*row as usize).map_or(NONE, |key| key.place);
            if let Some(slot) = self.of_places.get_mut((place as usize).min(last)) {
                *slot = (self.run, *row);
            }
        }
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
        let moved = Moved::new(&places, (before.nodes, nodes), profile.addresses.len());
        let mut rows = paths.rows.clone();
        let of_places = vec![(0, NONE); places.len() + 1];
        let mut changing = Changing {
            rows: RowsOf { rows: &mut rows, sample: NONE, run: 0, of_places },
            before,
            nodes,
            places: &places,
            moved: &moved,
            parts: PartRows::with_room_of(&paths.parts),
        };
        let at = |groups: &Groups, at: u32| groups.address_of(paths.groups.start.saturating_add(at as usize));
        let mut taken = paths.taken.clone();
        let by_sample = BySample::new(paths);
        let mut first = 0;
        for (sample, of_sample) in by_sample.groups() {
            changing.rows.next(sample, by_sample.rows_of(sample));
            let last = of_sample.iter().filter_map(|at| taken.get(*at as usize)).map(|taken| taken.part);
            let end = last.filter(|part| *part != NONE).max().map_or(first, |last| first.max(last + 1));
            (first..end).for_each(|part| changing.part(part));
            first = end;
            for nr in of_sample {
                if let Some(taken) = taken.get_mut(nr as usize) {
                    changing.take(at(before.groups, nr), at(groups, nr), taken);
                }
            }
        }
        let parts = changing.parts;
        let values = paths.values.with_places(places);
        let (event, groups, ways) = (paths.event, paths.groups.clone(), Arc::clone(&paths.ways));
        let memory = FactMemory::default();
        let mut paths = RowPaths { event, groups, taken, ways, parts, rows, values, memory };
        paths.put_last_in_order(before.paths.rows.len(), &facts);
        paths.memory = facts.into_memory();
        paths
    }

    /// Puts the rows that are behind so many others, which are in order, between these.
    fn put_last_in_order(&mut self, ordered: usize, facts: &Facts<'_>) {
        if self.rows.len() == ordered {
            return;
        }
        let in_order = |a: &RowKey, b: &RowKey| compare_names(facts, &self.values, *a, *b);
        let (known, new) = self.rows.split_at(ordered);
        let mut new: Vec<(usize, RowKey, u32)> = new
            .iter()
            .zip((0..).skip(ordered))
            .map(|(row, number)| (known.partition_point(|known| in_order(known, row).is_lt()), *row, number))
            .collect();
        new.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| in_order(&a.1, &b.1)));
        let mut numbers = vec![NONE; self.rows.len()];
        let mut rows: Vec<RowKey> = Vec::with_capacity(self.rows.len());
        let mut new = new.into_iter().peekable();
        let old = known.iter().zip(0..).map(|(row, number)| (*row, number));
        for (at, next) in old.map(Some).chain([None]).enumerate() {
            let between = std::iter::from_fn(|| new.next_if(|(before, ..)| *before <= at));
            let between = between.map(|(_, row, number)| (row, number));
            for (row, number) in between.chain(next) {
                if let Some(slot) = numbers.get_mut(number as usize) {
                    *slot = u32::try_from(rows.len()).unwrap_or(NONE);
                }
                rows.push(row);
            }
        }
        self.renumber(&numbers);
        self.rows = rows;
    }
}

/// The groups and rows of samples of which the keys say the same.
struct BySample {
    /// Which samples, and which group; in the order in which their parts were made.
    groups: Vec<(u32, u32)>,
    /// Where the rows of each sample begin.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl BySample {
    fn new(paths: &RowPaths) -> BySample {
        let sample_of = |row: u32| paths.rows.get(row as usize).map_or(NONE, |row| row.sample);
        let groups = paths.taken.iter().zip(0..).map(|(taken, at)| (sample_of(taken.row), at));
        let mut groups: Vec<(u32, u32)> = groups.collect();
        groups.sort_by_key(|(sample, _)| *sample);
        let samples = paths.rows.iter().map(|row| row.sample as usize + 1).max().unwrap_or(0);
        let mut starts = vec![0; samples + 1];
        for row in &paths.rows {
            if let Some(count) = starts.get_mut(row.sample as usize + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
        let (mut next, mut rows) = (starts.clone(), vec![0; paths.rows.len()]);
        for (row, number) in paths.rows.iter().zip(0..) {
            if let Some(next) = next.get_mut(row.sample as usize) {
                if let Some(slot) = rows.get_mut(*next as usize) {
                    *slot = number;
                }
                *next += 1;
            }
        }
        BySample { groups, starts, rows }
    }

    /// The groups of each.
    fn groups(&self) -> impl Iterator<Item = (u32, Vec<u32>)> + '_ {
        let of_sample = self.groups.chunk_by(|a, b| a.0 == b.0);
        of_sample.filter_map(|of| Some((of.first()?.0, of.iter().map(|(_, at)| *at).collect())))
    }

    fn rows_of(&self, sample: u32) -> &[u32] {
        let start = |sample: usize| self.starts.get(sample).copied().unwrap_or(0) as usize;
        self.rows.get(start(sample as usize)..start(sample as usize + 1)).unwrap_or_default()
    }
}

/// Finds the rows of each part anew, as far as they may be others.
struct Changing<'c> {
    rows: RowsOf<'c>,
    before: Before<'c>,
    nodes: &'c [Node],
    places: &'c PlaceRows,
    moved: &'c Moved,
    parts: PartRows,
}

impl Changing<'_> {
    fn ways(&self) -> &Ways {
        &self.before.paths.ways
    }

    /// Whether a part or what is below it has a row.
    fn has(&self, part: u32, row: u32) -> bool {
        self.ways().from(part).any(|part| self.parts.of(part).contains(&row))
    }

    /// The rows of the next part.
    fn part(&mut self, part: u32) {
        let index = self.ways().nodes.get(part as usize).map_or(usize::MAX, |node| *node as usize);
        let (Some(old), Some(new)) = (self.before.nodes.get(index), self.nodes.get(index)) else {
            return self.parts.end();
        };
        let known = self.before.paths.parts.of(part);
        if old.address == new.address && !self.moved.is_in(new) {
            self.parts.rows.extend_from_slice(known);
            return self.parts.end();
        }
        let caller = self.ways().callers.get(part as usize).copied().unwrap_or(NONE);
        let first = self.parts.rows.len();
        for place in self.places.levels_of(new.address) {
            let row = self.rows.row(*place);
            let is_met = |known: &[u32]| known.contains(&row);
            let is_first = match self.moved.has(*place) {
                true => !self.has(caller, row),
                false => is_met(known),
            };
            if is_first && !is_met(self.parts.rows.get(first..).unwrap_or_default()) {
                self.parts.rows.push(row);
            }
        }
        self.parts.end();
    }

    /// Where the samples of a group are taken.
    fn take(&mut self, old: AddressId, new: AddressId, taken: &mut Taken) {
        let (place, mode) = self.places.taken_at(new);
        if old == new && !self.moved.has(place) {
            return;
        }
        let row = self.rows.row(place);
        *taken = Taken { part: taken.part, row, mode, apart: !self.has(taken.part, row) };
    }
}
