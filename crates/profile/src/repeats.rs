//! Samples that come again: they are added up before anything is looked up of them.
//!
//! Most samples agree in all that is kept of them with one that came before: they were taken in the same place, and are of the same event and
//! thread. Where sums are all that is wanted, such a sample needs neither the number of its place nor its row: it is added to what is
//! remembered of the others, in one line of the cache. What is remembered goes to its row when something else takes its place.

mod remembered;

use self::remembered::Remembered;
use crate::addresses::{AddressId, Addresses, Lookup};
use crate::place_key::PlaceKey;
use crate::recent_mappings::RecentMappings;
use crate::recorded_chains::RecordedChains;
use crate::rows::NumberedRow;
use readperf_session::{CodeAddress, CpuMode};

/// Adds samples up.
#[derive(Debug, Default)]
pub(crate) struct Repeats {
    remembered: Remembered,
    mappings: RecentMappings,
    /// Where the samples at hand were taken.
    keys: Vec<PlaceKey>,
    /// Those that did not come again, their places and the numbers of these.
    new: Vec<(PlaceKey, NumberedRow)>,
    codes: Vec<CodeAddress>,
    numbers: Vec<u32>,
}

impl Repeats {
    /// Adds samples up, each of which has its number in place of its place. Leaves none; what is to go to rows is appended to `out`.
    pub(crate) fn add_up(
        &mut self,
        samples: &mut Vec<NumberedRow>,
        recorded: &RecordedChains,
        addresses: &mut Addresses,
        out: &mut Vec<NumberedRow>,
    ) {
        let Repeats { remembered, mappings, keys, new, codes, numbers } = self;
        let of_binaries = addresses.are_of_binaries();
        let lookups = recorded.places();
        keys.clear();
        keys.extend(lookups.iter().map(|lookup| {
            let Lookup { version, mode, ip } = *lookup;
            remembered.key(match of_binaries && mode == CpuMode::User {
                true => PlaceKey::of_user(mappings.find(recorded, *lookup), ip),
                false => PlaceKey::in_state(version, ip),
            })
        }));
        remembered.touch(keys);
        new.clear();
        codes.clear();
        debug_assert!(
            samples.iter().all(|sample| sample.address.index() < lookups.len()),
            "it is known where each was taken"
        );
        for sample in samples.iter() {
            let number = sample.address.index();
            let (Some(key), Some(lookup)) = (keys.get(number), lookups.get(number)) else { continue };
            if !remembered.add(*key, sample) {
                new.push((*key, *sample));
                let Lookup { mode, ip, .. } = *lookup;
                codes.push(CodeAddress::of(mappings.find(recorded, *lookup), mode, ip));
            }
        }
        samples.clear();
        numbers.clear();
        addresses.number_all(codes, numbers);
        for ((key, sample), number) in new.iter().zip(numbers) {
            let sample = NumberedRow { address: AddressId(*number), ..*sample };
            out.extend(remembered.put(*key, sample));
        }
    }

    /// Forgets all samples: their rows are appended to `out`.
    pub(crate) fn take(&mut self, out: &mut Vec<NumberedRow>) {
        out.extend(std::mem::take(&mut self.remembered).rows());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::detail::DetailId;
    use crate::stacks::StackId;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Where a sample was taken, and its rows: what each comes from, its detail, its samples and its period.
    type Sample = ((bool, u64), Vec<(u32, u32, u64, u64)>);

    fn samples() -> impl Strategy<Value = Vec<Sample>> {
        let many = Just(u64::from(u32::MAX));
        let samples = prop_oneof![20 => Just(1_u64), 2 => many, 1 => many.prop_map(|many| many + 1)];
        let detail = prop_oneof![9 => Just(0_u32), 1 => Just(1_u32)];
        let row = (0..3_u32, detail, samples, any::<u64>());
        let rows = prop_oneof![8 => proptest::collection::vec(row.clone(), 1), 1 => proptest::collection::vec(row, 0..3)];
        proptest::collection::vec(((any::<bool>(), 0..12_u64), rows), 0..300)
    }

    proptest! {
        #[test]
        fn whatever_comes_again_all_samples_are_in_the_sums(all in samples(), at_once in 1..40_usize, of_binaries: bool) {
            let mode = |is_user| if is_user { CpuMode::User } else { CpuMode::Kernel };
            let mut addresses = Addresses::default().of_binaries(of_binaries);
            let (mut repeats, mut out) = (Repeats::default(), Vec::new());
            // By place, origin and detail.
            let mut expected: BTreeMap<(CodeAddress, u32, u32), (u64, u64)> = BTreeMap::new();
            for some in all.chunks(at_once) {
                let recorded = RecordedChains::places_for_test(some.iter().map(|((is_user, ip), _)| (mode(*is_user), *ip)));
                let mut rows = Vec::new();
                for (number, ((is_user, ip), of_sample)) in (0..).zip(some) {
                    let code = CodeAddress::of(None, mode(*is_user), *ip);
                    for (origin, detail, samples, period) in of_sample.iter().copied() {
                        let sum = expected.entry((code, origin, detail)).or_default();
                        *sum = (sum.0 + samples, sum.1.wrapping_add(period));
                        let (stack, address, detail) = (StackId::EMPTY, AddressId(number), DetailId::for_test(detail));
                        rows.push(NumberedRow { origin, stack, address, detail, samples, period });
                    }
                }
                repeats.add_up(&mut rows, &recorded, &mut addresses, &mut out);
                prop_assert!(rows.is_empty());
            }
            repeats.take(&mut out);
            let before = out.len();
            repeats.take(&mut out);
            prop_assert_eq!(out.len(), before, "none is left");
            let mut sums: BTreeMap<(CodeAddress, u32, u32), (u64, u64)> = BTreeMap::new();
            for row in out {
                let code = addresses.get(row.address).expect("each row has its place");
                let sum = sums.entry((code, row.origin, row.detail.number())).or_default();
                *sum = (sum.0 + row.samples, sum.1.wrapping_add(row.period));
            }
            prop_assert_eq!(sums, expected);
        }
    }

    #[test]
    fn samples_that_come_again_have_one_row() {
        let recorded = RecordedChains::places_for_test((0..100).map(|nr| (CpuMode::User, nr % 2)));
        let mut addresses = Addresses::default().of_binaries(true);
        let (mut repeats, mut out) = (Repeats::default(), Vec::new());
        for round in 0..3 {
            let rows = (0..100).map(|number| NumberedRow {
                origin: 7,
                stack: StackId::EMPTY,
                address: AddressId(number),
                detail: DetailId::default(),
                samples: 1,
                period: 10,
            });
            repeats.add_up(&mut rows.collect(), &recorded, &mut addresses, &mut out);
            assert!(out.is_empty(), "{round}: all are remembered");
        }
        repeats.take(&mut out);
        let mut sums: Vec<_> = out.iter().map(|row| (row.address, row.samples, row.period)).collect();
        sums.sort_unstable();
        assert_eq!(sums, [(AddressId(0), 150, 1500), (AddressId(1), 150, 1500)]);
    }
}
