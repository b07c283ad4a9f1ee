//! Who calls whom: functions with what they took themselves and with all that they called, and the calls between them. What is too
//! small for a picture is left out, and counted.
//!
//! A stack counts once for a function or call, however often it is in it. Where it leads through functions that are left out, the way
//! between those that are shown counts as a call that is not direct.

use crate::addresses::AddressId;
use crate::profile::{Profile, SampleRow};
use crate::rows::RowSlice;
use crate::weight::Weight;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Which functions and calls are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallGraphLimits {
    /// Functions with less than so many thousandths of the total are left out.
    pub least_function: u64,
    /// Calls with less than so many thousandths of the total are left out.
    pub least_call: u64,
    /// How many functions are shown at most.
    pub most_functions: usize,
    /// How many calls are shown at most.
    pub most_calls: usize,
}

/// A function that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallGraphFunction {
    /// Its number, of those that the caller of [`CallGraph::new`] gave.
    pub function: u32,
    /// The weight of samples in itself.
    pub own: u64,
    /// The weight of samples with it in their stack.
    pub total: u64,
}

/// A call that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Index of the caller in [`CallGraph::functions`].
    pub from: usize,
    /// Index of what is called.
    pub to: usize,
    /// The weight of samples with the call in their stack.
    pub weight: u64,
    /// Whether one called the other itself in some stack.
    pub direct: bool,
}

/// A graph of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    /// The functions that are shown, the greatest total first; ties by number.
    pub functions: Vec<CallGraphFunction>,
    /// The calls that are shown, the heaviest first; ties in the order of the functions.
    pub calls: Vec<Call>,
    /// The weight of all samples.
    pub total: u64,
    /// How many samples there are.
    pub samples: u64,
    /// How many functions are left out.
    pub functions_left_out: usize,
    /// The weight of samples in them.
    pub own_left_out: u64,
    /// How many calls are left out.
    pub calls_left_out: usize,
}

/// What is known of a function while stacks are added up.
#[derive(Clone, Copy, Debug, Default)]
struct FunctionSums {
    own: u64,
    total: u64,
    /// The last row that it was met in.
    met: Option<usize>,
    shown: bool,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, Default)]
struct CallSums {
    weight: u64,
    met: Option<usize>,
    direct: bool,
}

/// The stacks of an event as functions by number.
struct FunctionStacks<'s, F> {
    profile: &'s Profile,
    rows: RowSlice<'s>,
    functions_at: F,
}

impl<F: Fn(AddressId, &mut Vec<u32>)> FunctionStacks<'_, F> {
    /// Calls back with each row and the functions of its stack, the outermost first.
    fn each(&self, mut what: impl FnMut(usize, &SampleRow, &[u32])) {
        let (mut places, mut functions) = (Vec::new(), Vec::new());
        for (nr, row) in self.rows.iter().enumerate() {
            places.clear();
            places.extend(self.profile.places(&row));
            functions.clear();
            places.iter().rev().for_each(|place| (self.functions_at)(*place, &mut functions));
            what(nr, &row, &functions);
        }
    }
}

impl CallGraph {
    /// The calls in the stacks of an event. `functions_at` appends the functions at an address, the outermost first, as numbers below
    /// `count`.
    pub fn new(
        profile: &Profile,
        event: usize,
        weight: Weight,
        count: usize,
        functions_at: impl Fn(AddressId, &mut Vec<u32>),
        limits: CallGraphLimits,
    ) -> CallGraph {
        let stacks = FunctionStacks { profile, rows: profile.rows_of(event), functions_at };
        let mut graph = CallGraph::default();
        let mut sums = vec![FunctionSums::default(); count];
        stacks.each(|nr, row, functions| {
            let weight = weight.of_row(row);
            graph.total = graph.total.wrapping_add(weight);
            graph.samples = graph.samples.wrapping_add(row.samples);
            for function in functions {
                let Some(sums) = sums.get_mut(*function as usize) else { continue };
                if sums.met.replace(nr) != Some(nr) {
                    sums.total = sums.total.wrapping_add(weight);
                }
            }
            let innermost = functions.last().and_then(|innermost| sums.get_mut(*innermost as usize));
            if let Some(sums) = innermost {
                sums.own = sums.own.wrapping_add(weight);
            }
        });
        graph.choose_functions(&mut sums, limits);
        let mut calls: FxHashMap<(u32, u32), CallSums> = FxHashMap::default();
        stacks.each(|nr, row, functions| {
            let (mut caller, mut direct) = (None, true);
            for function in functions {
                if !sums.get(*function as usize).is_some_and(|sums| sums.shown) {
                    direct = false;
                    continue;
                }
                if let Some(caller) = caller {
                    let call = calls.entry((caller, *function)).or_default();
                    call.direct |= direct;
                    if call.met.replace(nr) != Some(nr) {
                        call.weight = call.weight.wrapping_add(weight.of_row(row));
                    }
                }
                (caller, direct) = (Some(*function), true);
            }
        });
        graph.choose_calls(&calls, limits);
        graph
    }

    fn choose_functions(&mut self, sums: &mut [FunctionSums], limits: CallGraphLimits) {
        let met: Vec<CallGraphFunction> = (0..)
            .zip(&*sums)
            .filter(|(_, sums)| sums.met.is_some())
            .map(|(function, sums)| CallGraphFunction { function, own: sums.own, total: sums.total })
            .collect();
        let reaches =
            |function: &&CallGraphFunction| reaches(function.total, limits.least_function, self.total);
        let mut shown: Vec<CallGraphFunction> = met.iter().filter(reaches).copied().collect();
        if shown.len() > limits.most_functions {
            shown.sort_unstable_by_key(|function| {
                (Reverse((function.total, function.own)), function.function)
            });
            shown.truncate(limits.most_functions);
        }
        shown.sort_unstable_by_key(|function| (Reverse(function.total), function.function));
        for function in &shown {
            if let Some(sums) = sums.get_mut(function.function as usize) {
                sums.shown = true;
            }
        }
        let left_out = sums.iter().filter(|sums| !sums.shown);
        self.own_left_out = left_out.fold(0u64, |sum, left_out| sum.wrapping_add(left_out.own));
        self.functions_left_out = met.len() - shown.len();
        self.functions = shown;
    }

    fn choose_calls(&mut self, calls: &FxHashMap<(u32, u32), CallSums>, limits: CallGraphLimits) {
        let index: FxHashMap<u32, usize> =
            self.functions.iter().enumerate().map(|(index, function)| (function.function, index)).collect();
        let reaching = calls.iter().filter(|(_, sums)| reaches(sums.weight, limits.least_call, self.total));
        let mut shown: Vec<Call> = reaching
            .filter_map(|((from, to), sums)| {
                let (from, to) = (*index.get(from)?, *index.get(to)?);
                Some(Call { from, to, weight: sums.weight, direct: sums.direct })
            })
            .collect();
        shown.sort_unstable_by_key(|call| (Reverse(call.weight), call.from, call.to));
        shown.truncate(limits.most_calls);
        self.calls_left_out = calls.len() - shown.len();
        self.calls = shown;
    }
}

/// Whether a weight is at least so many thousandths of the total.
fn reaches(weight: u64, thousandths: u64, total: u64) -> bool {
    u128::from(weight) * 1000 >= u128::from(total) * u128::from(thousandths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_met_exactly() {
        assert!(reaches(5, 5, 1000) && !reaches(4, 5, 1000));
        assert!(reaches(u64::MAX, 1000, u64::MAX) && reaches(0, 1, 0));
    }
}
