//! What lines and calls cost.

use super::code::Code;
use crate::export::Export;
use readperf_profile::{AddressId, SampleRow};
use rustc_hash::FxHashMap;

/// A call from a place: number of the place and of the function.
type Call = (u32, u32);

/// Costs by place and by call, a column an event.
#[derive(Debug)]
pub(super) struct Costs {
    columns: usize,
    own: Vec<u64>,
    calls: Vec<u64>,
    /// By call: how many samples saw it.
    counts: Vec<u64>,
    numbers: FxHashMap<Call, u32>,
    list: Vec<Call>,
    /// The last stack in which each function, and each call, was met. Stacks are counted from 1.
    met_functions: Vec<u64>,
    met_calls: Vec<u64>,
    stacks: u64,
    places: Vec<AddressId>,
}

impl Costs {
    /// No costs, in so many columns.
    pub(super) fn new(columns: usize) -> Costs {
        Costs {
            columns,
            own: Vec::new(),
            calls: Vec::new(),
            counts: Vec::new(),
            numbers: FxHashMap::default(),
            list: Vec::new(),
            met_functions: Vec::new(),
            met_calls: Vec::new(),
            stacks: 0,
            places: Vec::new(),
        }
    }

    /// How many there are of each.
    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Adds the samples of a row.
    pub(super) fn add_row(&mut self, export: &Export<'_>, code: &mut Code, column: usize, row: &SampleRow) {
        self.stacks += 1;
        let weight = export.weight(row);
        let mut here = code.root(export, row);
        meet(&mut self.met_functions, code.place(here).function, self.stacks);
        let mut places = std::mem::take(&mut self.places);
        places.clear();
        places.extend(export.places(row));
        for place in places.iter().rev().flat_map(|place| code.at(*place)) {
            let callee = code.place(*place).function;
            let next = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
            let call = *self.numbers.entry((here, callee)).or_insert(next);
            if call == next {
                self.list.push((here, callee));
            }
            if meet(&mut self.met_calls, call, self.stacks) {
                count(&mut self.counts, call as usize, row.samples);
                let outermost = meet(&mut self.met_functions, callee, self.stacks);
                let cost = if outermost { weight } else { 0 };
                count(&mut self.calls, call as usize * self.columns + column, cost);
            }
            here = *place;
        }
        count(&mut self.own, here as usize * self.columns + column, weight);
        self.places = places;
    }

    /// Forgets what is only needed to add more.
    pub(super) fn freeze(&mut self) {
        (self.met_functions, self.met_calls) = Default::default();
    }

    /// Places and what they cost themselves.
    pub(super) fn own(&self) -> impl Iterator<Item = (u32, &[u64])> {
        let count = self.own.len().div_ceil(self.columns);
        (0..u32::try_from(count).unwrap_or(u32::MAX)).map(|place| (place, self.own_at(place)))
    }

    /// What a place costs itself; columns at the end may be missing, which are 0.
    pub(super) fn own_at(&self, place: u32) -> &[u64] {
        part(&self.own, place, self.columns)
    }

    /// The calls: from which place, of which function.
    pub(super) fn calls(&self) -> impl Iterator<Item = (u32, u32)> {
        self.list.iter().copied()
    }

    /// How many samples saw a call, and what it cost; columns at the end may be missing, which are 0.
    pub(super) fn call(&self, place: u32, callee: u32) -> (u64, &[u64]) {
        let Some(number) = self.numbers.get(&(place, callee)) else { return (0, &[]) };
        let count = self.counts.get(*number as usize).copied().unwrap_or(0);
        (count, part(&self.calls, *number, self.columns))
    }
}

/// Adds costs to others. Periods wrap, as the totals of events do.
pub(super) fn add(sum: &mut [u64], costs: &[u64]) {
    for (sum, cost) in sum.iter_mut().zip(costs) {
        *sum = sum.wrapping_add(*cost);
    }
}

fn part(costs: &[u64], number: u32, columns: usize) -> &[u64] {
    let start = number as usize * columns;
    costs.get(start..costs.len().min(start + columns)).unwrap_or_default()
}

fn count(list: &mut Vec<u64>, index: usize, more: u64) {
    if list.len() <= index {
        list.resize(index + 1, 0);
    }
    if let Some(sum) = list.get_mut(index) {
        *sum = sum.wrapping_add(more);
    }
}

/// Whether something is met for the first time in this stack.
fn meet(last: &mut Vec<u64>, number: u32, stack: u64) -> bool {
    if last.len() <= number as usize {
        last.resize(number as usize + 1, 0);
    }
    last.get_mut(number as usize).is_some_and(|last| std::mem::replace(last, stack) != stack)
}
