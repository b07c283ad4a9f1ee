//! What has no name, and why: by binary and reason.

use crate::addresses::AddressId;
use crate::profile::Profile;
use crate::stacks::StackId;
use readperf_session::BinaryId;
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

impl Profile {
    /// What has no name, most samples first; with `stacks` also what has none in the stacks alone.
    pub fn missing_names(&self, stacks: bool) -> Vec<Missing> {
        let causes = self.names.causes();
        let mut sums: Vec<Sums> = Vec::with_capacity(causes.len());
        for first in (0..causes.len()).step_by(AT_ONCE) {
            sums.extend(self.sums_of(&self.bits(first), stacks).into_iter().take(AT_ONCE));
        }
        let missing = |((binary, reason), Sums { samples, in_stacks }): ((Option<BinaryId>, &str), Sums)| {
            let remedy = self.names.remedy(reason).map(str::to_owned);
            Missing { binary, reason: reason.to_owned(), remedy, samples, in_stacks }
        };
        let mut missing: Vec<Missing> = causes.zip(sums).map(missing).collect();
        missing.retain(|missing| missing.samples.max(missing.in_stacks) > 0);
        missing.sort_by(|a, b| {
            let order = |m: &Missing| (Reverse((m.samples, m.in_stacks)), m.binary);
            order(a).cmp(&order(b)).then_with(|| a.reason.cmp(&b.reason))
        });
        missing
    }

    /// The sums of some causes, of which these are the bits.
    fn sums_of(&self, bits: &Bits, stacks: bool) -> [Sums; SUMS] {
        let (mut sums, mut room) = ([Sums::default(); SUMS], Vec::new());
        for row in self.rows.as_slice().of_stacks() {
            let taken_at = bits.at(row.address);
            if let Some(sums) = sums.get_mut(usize::from(taken_at)) {
                sums.samples = sums.samples.saturating_add(row.samples);
            }
            if !stacks {
                continue;
            }
            let mut in_stack = if row.stack == StackId::EMPTY { 1_u64 << taken_at } else { 0 };
            let places = self.stacks.places_in(row.stack, &mut room);
            places.iter().for_each(|place| in_stack |= 1 << bits.at(*place));
            // What is none of these has no sum. The others count once, however often they are there.
            in_stack &= !(1 << OTHER);
            while let Some(sums) = sums.get_mut(in_stack.trailing_zeros() as usize) {
                sums.in_stacks = sums.in_stacks.saturating_add(row.samples);
                in_stack &= in_stack - 1;
            }
        }
        sums
    }

    /// The bits of so many causes from this one on.
    fn bits(&self, first: usize) -> Bits {
        let bit = |address| {
            let behind =
                self.names.why_unnamed_at(address).and_then(|cause| cause.index().checked_sub(first));
            behind.and_then(|behind| u8::try_from(behind).ok()).map_or(OTHER, |behind| behind.min(OTHER))
        };
        Bits(self.addresses.ids().map(bit).collect())
    }
}

/// So many causes are added up at once: each has a bit of what is in a stack, so that a walk over all stacks decides nothing. Fewer in tests, so that there are
/// several walks.
const AT_ONCE: usize = if cfg!(debug_assertions) { 2 } else { 63 };

/// The bit of all that is none of these, and how many bits there are.
const OTHER: u8 = 63;
const SUMS: usize = OTHER as usize + 1;

/// For each address by its number the bit of its cause. Many stacks are walked, so what is looked up is small.
struct Bits(Vec<u8>);

impl Bits {
    #[inline]
    fn at(&self, address: AddressId) -> u8 {
        self.0.get(address.index()).copied().unwrap_or(OTHER)
    }
}

/// Samples for which something has no name for one cause.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    samples: u64,
    in_stacks: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::Addresses;
    use crate::groups::tests::{profile, samples};
    use crate::names::Names;
    use proptest::prelude::*;
    use readperf_session::{Binary, BinaryKind, CodeAddress, CpuMode, Session};
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    proptest! {
        #[test]
        fn a_sample_counts_once_for_each_cause(samples in samples(), known in 0..7_u32, in_stacks: bool) {
            let mut session = Session::default();
            let binaries = ["a", "b", "c"].map(|name| {
                let name = name.as_bytes();
                session.add_binary(Binary { name: name.into(), short_name: name.into(), kind: BinaryKind::User, build_id: None })
            });
            // Of those that are known each is in one of the binaries or in none.
            let of_address = |id: u32| (id < known).then(|| binaries.get(id as usize % 4).copied());
            let (mut addresses, mut names) = (Addresses::default(), Names::default());
            for id in (0..known).map(AddressId) {
                let address = u64::from(id.0);
                let code = CodeAddress { binary: of_address(id.0).flatten(), address, ip: address, mode: CpuMode::User };
                prop_assert_eq!(addresses.number(code), id);
            }
            names.learn(addresses.as_slice(), Vec::new());
            let profile = Profile { addresses: Arc::new(addresses), names: Arc::new(names), ..profile(&samples) };
            let mut expected: BTreeMap<Option<BinaryId>, (u64, u64)> = BTreeMap::new();
            for (_, _, places, address, _) in &samples {
                if let Some(binary) = of_address(*address) {
                    expected.entry(binary).or_default().0 += 1;
                }
                let stack = if places.is_empty() { std::slice::from_ref(address) } else { places };
                let causes: BTreeSet<Option<BinaryId>> = stack.iter().filter_map(|place| of_address(*place)).collect();
                causes.into_iter().filter(|_| in_stacks).for_each(|binary| expected.entry(binary).or_default().1 += 1);
            }
            let missing = profile.missing_names(in_stacks);
            let got: BTreeMap<_, _> = missing.iter().map(|of| (of.binary, (of.samples, of.in_stacks))).collect();
            prop_assert_eq!((got.len(), got), (missing.len(), expected));
            prop_assert!(missing.is_sorted_by_key(|of| Reverse((of.samples, of.in_stacks))));
        }
    }
}
