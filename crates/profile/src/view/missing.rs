//! What has no name, and why: by binary and reason.

use crate::addresses::AddressId;
use crate::profile::Profile;
use crate::stacks::StackId;
use readperf_session::BinaryId;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Samples without a name in one binary, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The binary; `None` where no mapping covers the address.
    pub binary: Option<BinaryId>,
    /// Why, in plain words.
    pub reason: String,
    /// What a user can do about it.
    pub remedy: Option<String>,
    /// How many samples were taken there, over all events.
    pub samples: u64,
    /// How many samples were taken there or in what was called from there; 0 if that was not asked for.
    pub in_stacks: u64,
}

/// Where something has no name, and why.
type Cause<'p> = (Option<BinaryId>, &'p str);

impl Profile {
    /// What has no name, most samples first; with `stacks` also what has none in the stacks alone.
    pub fn missing_names(&self, stacks: bool) -> Vec<Missing> {
        let causes = self.causes();
        let mut sums = vec![Sums::default(); causes.all.len()];
        for (nr, row) in (1..).zip(self.rows.iter().filter(|_| !causes.all.is_empty())) {
            if let Some(sums) = sums.get_mut(causes.at(row.address)) {
                sums.samples = sums.samples.saturating_add(row.samples);
                if stacks && row.stack == StackId::EMPTY {
                    sums.add_stack(nr, row.samples);
                }
            }
            if stacks {
                self.stacks.places(row.stack).for_each(|place| {
                    if let Some(sums) = sums.get_mut(causes.at(place)) {
                        sums.add_stack(nr, row.samples);
                    }
                });
            }
        }
        let missing = |((binary, reason), Sums { samples, in_stacks, .. }): (Cause<'_>, Sums)| Missing {
            binary,
            reason: reason.to_owned(),
            remedy: self.names.remedy(reason).map(str::to_owned),
            samples,
            in_stacks,
        };
        let mut missing: Vec<Missing> = causes.all.iter().copied().zip(sums).map(missing).collect();
        missing.retain(|missing| missing.samples.max(missing.in_stacks) > 0);
        missing.sort_by(|a, b| {
            let order = |m: &Missing| (Reverse((m.samples, m.in_stacks)), m.binary);
            order(a).cmp(&order(b)).then_with(|| a.reason.cmp(&b.reason))
        });
        missing
    }

    fn causes(&self) -> Causes<'_> {
        let mut causes = Causes { all: Vec::new(), of_address: Vec::new() };
        let mut numbers: FxHashMap<Cause<'_>, u32> = FxHashMap::default();
        // Neighbours mostly have the same one, and a reason is held once.
        let mut last: Option<(Cause<'_>, u32)> = None;
        for address in self.addresses.ids() {
            let function = self.names.function_at(address).and_then(|id| self.function(id));
            let cause = function.filter(|function| !function.has_name()).map(|function| {
                let cause = (function.binary, function.reason().unwrap_or("its names were not looked up"));
                let is_last = |last: Cause<'_>| last.0 == cause.0 && std::ptr::eq(last.1, cause.1);
                if let Some((_, number)) = last.filter(|(last, _)| is_last(*last)) {
                    return number;
                }
                let number = *numbers.entry(cause).or_insert_with(|| {
                    causes.all.push(cause);
                    u32::try_from(causes.all.len() - 1).unwrap_or(NAMED)
                });
                last = Some((cause, number));
                number
            });
            causes.of_address.push(cause.unwrap_or(NAMED));
        }
        causes
    }
}

/// Stands for an address with a name: many stacks are walked, so what is looked up is small.
const NAMED: u32 = u32::MAX;

/// Why addresses have no name.
struct Causes<'p> {
    all: Vec<Cause<'p>>,
    /// For each address by its number; [`NAMED`] where there is a name.
    of_address: Vec<u32>,
}

impl Causes<'_> {
    /// The index of the cause at an address; where there is a name, one behind all of them.
    #[inline]
    fn at(&self, address: AddressId) -> usize {
        self.of_address.get(address.index()).copied().unwrap_or(NAMED) as usize
    }
}

/// Samples for which something has no name for one cause.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    samples: u64,
    in_stacks: u64,
    /// The number of the row that was added last, from 1.
    last: usize,
}

impl Sums {
    /// Adds the samples of a row with this in their stack: once, however often it is there.
    #[inline]
    fn add_stack(&mut self, row: usize, samples: u64) {
        if self.last != row {
            self.last = row;
            self.in_stacks = self.in_stacks.saturating_add(samples);
        }
    }
}
