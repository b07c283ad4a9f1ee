//! Which rows of a histogram each part of a stack adds to. That depends on names and keys alone, and is worked out once for all samples of
//! a profile; the histogram of any choice of them is then two walks over arrays: from where samples were taken down to the outermost
//! callers, and over the rows.
//!
//! Each part of a stack adds to the rows that it is the outermost of, so that a row gets each sample once however often it is in its stack.

use super::calls::NONE;
use super::column::Column;
use super::facts::{FactMemory, Facts};
use super::flame_tree::Sum;
use super::graph::least;
use super::histogram::{
    Frames, Histogram, HistogramOptions, HistogramRow, HistogramTables, LeftOut, Numbers,
};
use super::ordered_rows::OrderedRows;
use super::part_rows::{PartRows, RowLists};
use super::place_rows::PlaceRows;
use super::row_order::{by_weight, in_order_of_names};
use super::row_sums::{Adding, StackSums};
use super::rows::{RowKey, RowValues};
use super::sample_numbers::SampleNumbers;
use super::taken::{Taken, TakenAt};
use crate::groups::Groups;
use crate::profile::{EventTotal, SampleRow};
use perffile::wire::head::CpuMode;
use std::ops::Range;
use std::sync::Arc;

/// The rows of one event, and the ways of its samples to them.
#[derive(Clone, Debug, Default)]
pub struct RowPaths {
    pub(super) event: usize,
    /// Which groups of samples are those of the event.
    pub(super) groups: Range<usize>,
    /// Where the samples of each of these groups were taken.
    pub(super) taken: TakenAt,
    /// The parts of stacks: the same where only stacks were changed.
    pub(super) ways: Arc<Ways>,
    pub(super) parts: PartRows,
    /// The rows of places that may be in a stack more than once: only their outermost part may become another one.
    pub(super) repeated: Vec<bool>,
    pub(super) rows: OrderedRows,
    pub(super) values: RowValues,
    pub(super) memory: FactMemory,
}

/// Room for tables: memory that the system has to clear first costs more than what is done with it, so a viewer keeps that of tables
/// that are gone.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// For sums on the way.
    pub(super) sums: Vec<Sum>,
    over_stacks: StackSums,
    numbers: Vec<Option<Numbers>>,
    /// For the rows of a histogram.
    rows: Vec<HistogramRow>,
}

impl Room {
    /// Takes back the room of a histogram that is gone.
    pub fn take_back(&mut self, histogram: Histogram) {
        if histogram.rows.capacity() > self.rows.capacity() {
            self.rows = histogram.rows;
            self.rows.clear();
        }
    }
}

/// Makes room for so many, of which none is there yet; and for some more, so that what a change of stacks brings fits the next time.
pub(super) fn make_room<T>(room: &mut Vec<T>, count: usize) {
    room.clear();
    if room.capacity() < count {
        *room = Vec::with_capacity(count + count / 8);
    }
}

/// Parts of stacks, from the outermost level on: those of samples that differ in what the keys of the sample say are others. Callers come
/// before what they call.
#[derive(Clone, Debug, Default)]
pub(super) struct Ways {
    /// The caller; [`NONE`] for the outermost.
    pub(super) callers: Vec<u32>,
    /// Which part of a stack of the profile it is.
    pub(super) nodes: Vec<u32>,
    /// From which part on they are those of which samples: what the keys of the sample say of them.
    pub(super) samples: Vec<(u32, u32)>,
}

impl Ways {
    /// No parts yet, with room for so many.
    pub(super) fn with_room(parts: usize) -> Ways {
        Ways { callers: Vec::with_capacity(parts), nodes: Vec::with_capacity(parts), samples: Vec::new() }
    }

    /// A part and the callers below it.
    pub(super) fn from(&self, part: u32) -> impl Iterator<Item = u32> + '_ {
        let known = |part: u32| Some(part).filter(|part| *part != NONE);
        std::iter::successors(known(part), move |part| known(*self.callers.get(*part as usize)?))
    }
}

/// Finds the ways of samples to their rows.
struct Finding<'f> {
    facts: &'f Facts<'f>,
    places: &'f PlaceRows,
    ways: Ways,
    parts: RowLists,
    rows: Vec<RowKey>,
    /// What the keys of the sample say of the samples at hand, and in which run of such samples they are.
    sample: u32,
    run: u32,
    /// By place, its row in a run; the last is that of places that are not known.
    of_places: Vec<(u32, u32)>,
    /// By part of a stack of the profile, its part here in a run.
    of_stacks: Vec<(u32, u32)>,
    /// By row, the last group of samples that has it in its stack.
    seen: Vec<u32>,
    /// See [`RowPaths`].
    repeated: Vec<bool>,
    new: Vec<usize>,
}

impl Finding<'_> {
    /// The row of a place for the samples at hand.
    fn row(&mut self, place: u32) -> u32 {
        let last = self.of_places.len().saturating_sub(1);
        let Some(slot) = self.of_places.get_mut((place as usize).min(last)) else { return NONE };
        if slot.0 != self.run {
            *slot = (self.run, u32::try_from(self.rows.len()).unwrap_or(NONE));
            self.rows.push(RowKey { sample: self.sample, place });
            self.seen.push(NONE);
        }
        slot.1
    }

    /// The number of the next part.
    fn next(&self) -> u32 {
        u32::try_from(self.ways.callers.len()).unwrap_or(NONE)
    }

    /// Whether a group of samples, whose number this is, has not had a row before.
    fn sees(&mut self, row: u32, group: u32) -> bool {
        self.seen.get_mut(row as usize).is_some_and(|seen| std::mem::replace(seen, group) != group)
    }

    /// The way of a group of samples, whose number is another for each.
    fn take(&mut self, sample: &SampleRow, group: u32) -> Taken {
        let part = if self.places.has_levels() { self.climb(sample, group) } else { NONE };
        let (place, mode) = self.places.taken_at(sample.address);
        let row = self.row(place);
        Taken { part, row, mode, apart: self.sees(row, group) }
    }

    /// The part that is the whole stack of a group; all rows on the way are seen.
    fn climb(&mut self, sample: &SampleRow, group: u32) -> u32 {
        let stacks = &self.facts.profile.stacks;
        let mut new = std::mem::take(&mut self.new);
        let (mut below, mut here) = (sample.stack, NONE);
        while let Some(index) = below.index() {
            match self.of_stacks.get(index) {
                Some((run, part)) if *run == self.run => {
                    here = *part;
                    break;
                }
                _ => new.push(index),
            }
            let Some(node) = stacks.node(below) else { break };
            below = node.parent;
        }
        for part in self.ways.from(here) {
            for row in self.parts.of(part) {
                if let Some(seen) = self.seen.get_mut(*row as usize) {
                    *seen = group;
                }
            }
        }
        let places = self.places;
        for index in new.drain(..).rev() {
            let Some(node) = stacks.nodes().get(index) else { continue };
            for place in places.levels_of(node.address) {
                let row = self.row(*place);
                if self.sees(row, group) {
                    self.parts.push(row);
                } else if let Some(repeated) = self.repeated.get_mut(*place as usize) {
                    *repeated = true;
                }
            }
            self.parts.end();
            let next = self.next();
            self.ways.callers.push(here);
            self.ways.nodes.push(u32::try_from(index).unwrap_or(NONE));
            here = next;
            if let Some(slot) = self.of_stacks.get_mut(index) {
                *slot = (self.run, here);
            }
        }
        self.new = new;
        here
    }
}

impl RowPaths {
    /// The ways of the samples of an event in a profile whose stacks are a tree, to the rows that these places are in.
    pub fn new(
        mut facts: Facts<'_>,
        options: &HistogramOptions,
        places: Arc<PlaceRows>,
        groups: &Groups,
        event: usize,
    ) -> RowPaths {
        facts.settle(options);
        let mut values = RowValues::new(&options.keys, Arc::clone(&places));
        let mut numbers = SampleNumbers::new(&options.keys);
        let of_event = groups.of_event(event);
        let mut number = |row| numbers.number(&mut facts, &options.keys, &mut values.samples, &row);
        let mut order: Vec<(u32, u32)> = groups.rows_of(of_event.clone()).map(&mut number).zip(0..).collect();
        // Most of those of which the keys say the same are together already.
        order.sort_by_key(|(sample, _)| *sample);
        let mut finding = Finding {
            facts: &facts,
            places: &places,
            ways: Ways::with_room(facts.profile.stacks.nodes().len()),
            parts: RowLists::default(),
            rows: Vec::new(),
            sample: NONE,
            run: 0,
            of_places: vec![(0, NONE); places.len() + 1],
            of_stacks: vec![(0, NONE); facts.profile.stacks.nodes().len()],
            seen: Vec::new(),
            repeated: vec![false; places.len()],
            new: Vec::new(),
        };
        let nowhere = Taken { part: NONE, row: NONE, mode: CpuMode::Unknown, apart: false };
        let mut taken = vec![nowhere; of_event.len()];
        for of_sample in order.chunk_by(|a, b| a.0 == b.0) {
            finding.sample = of_sample.first().map_or(NONE, |(sample, _)| *sample);
            finding.run += 1;
            finding.ways.samples.push((finding.next(), finding.sample));
            for (_, group) in of_sample {
                let at = *group as usize;
                if let (Some(sample), Some(slot)) = (groups.row(of_event.start + at), taken.get_mut(at)) {
                    *slot = finding.take(&sample, *group);
                }
            }
        }
        let Finding { ways, mut parts, rows, repeated, .. } = finding;
        // Rows get the numbers that they have in the order of their names.
        let order = in_order_of_names(&rows, &facts, &values);
        let mut numbers = vec![NONE; order.len()];
        for (at, nr) in order.iter().zip(0..) {
            if let Some(number) = numbers.get_mut(*at as usize) {
                *number = nr;
            }
        }
        for taken in &mut taken {
            taken.row = numbers.get(taken.row as usize).copied().unwrap_or(NONE);
        }
        parts.renumber(&numbers);
        let rows = order.iter().filter_map(|at| rows.get(*at as usize).copied()).collect();
        let (rows, parts, ways) = (OrderedRows::new(rows), PartRows::new(parts), Arc::new(ways));
        let taken = TakenAt::new(taken);
        let memory = facts.into_memory();
        RowPaths { event, groups: of_event, taken, ways, parts, repeated, rows, values, memory }
    }

    /// Whether these are the ways to rows of places, of the samples of an event.
    pub fn lead_to(&self, places: &Arc<PlaceRows>, event: usize) -> bool {
        Arc::ptr_eq(self.values.places(), places) && self.event == event
    }

    /// What the keys of rows say.
    pub fn values(&self) -> &RowValues {
        &self.values
    }

    /// What facts worked out on the way.
    pub fn memory(&self) -> &FactMemory {
        &self.memory
    }

    /// What is needed to show rows.
    pub fn tables(&self) -> HistogramTables {
        HistogramTables {
            memory: self.memory.clone(),
            values: self.values.clone(),
            frames: Frames::default(),
        }
    }

    /// The histogram of some samples, sorted; `None` if there are none. `sums` has what the samples of each group of the profile add up to,
    /// and `total` all of them. A viewer keeps the room for the next time.
    pub fn histogram(
        &self,
        facts: &Facts<'_>,
        options: &HistogramOptions,
        order: &[Column],
        (sums, total): (&[Sum], EventTotal),
        room: &mut Room,
    ) -> Option<Histogram> {
        let sums = sums.get(self.groups.clone()).unwrap_or_default();
        let Room { sums: of_parts, over_stacks, numbers: rows, rows: shown } = room;
        make_room(rows, self.rows.len());
        rows.resize(self.rows.len(), None);
        make_room(of_parts, self.ways.callers.len());
        of_parts.resize(self.ways.callers.len(), Sum::default());
        let HistogramOptions { by_mode, children, threads, .. } = *options;
        self.add_up(sums, Adding { by_mode, children, threads }, (of_parts, over_stacks), rows);
        self.histogram_of(facts, options, order, (rows, shown), total)
    }

    fn histogram_of(
        &self,
        facts: &Facts<'_>,
        options: &HistogramOptions,
        order: &[Column],
        (rows, room): (&mut [Option<Numbers>], &mut Vec<HistogramRow>),
        total: EventTotal,
    ) -> Option<Histogram> {
        let whole = options.whole.get(self.event).copied().unwrap_or(0);
        let least = least(options.percent_limit, whole);
        let mut left_out = LeftOut::default();
        for row in rows.iter_mut() {
            if let Some(numbers) = row.take_if(|numbers| numbers.total_period < least) {
                left_out.rows += 1;
                left_out.self_period = left_out.self_period.wrapping_add(numbers.self_period);
            }
        }
        let in_order = self.rows.in_order();
        let shown = in_order.filter_map(|at| Some((at, rows.get(at as usize)?.as_ref()?)));
        if left_out.rows == 0 && shown.clone().next().is_none() {
            return None;
        }
        // These two are not among what rows are put in order by here.
        let by_other = |column: &Column| matches!(column, Column::Key(_)) || column.is_by_mode();
        let sorts = order.iter().any(by_other);
        let places = if sorts { shown.map(|(at, _)| at).collect() } else { by_weight(shown, order) };
        let row = |at: u32| {
            let numbers = rows.get_mut(at as usize)?.take()?;
            Some(HistogramRow::new(self.rows.get(at)?, numbers))
        };
        let mut shown = std::mem::take(room);
        make_room(&mut shown, self.rows.len());
        shown.extend(places.into_iter().filter_map(row));
        let mut histogram =
            Histogram { event: self.event, total, rows: shown, left_out, ..Histogram::default() };
        if sorts {
            histogram.sort(order, 0, facts, &self.values);
        }
        Some(histogram)
    }
}
