//! What samples add up to: their stacks and rows, each once.

use crate::block::Block;
use crate::grain::Grain;
use crate::rows::{NumberedRow, Origins, Rows};
use crate::rows_of_stacks::RowsOfStacks;
use crate::stacks::{StackId, Stacks};
use crate::summed_rows::SummedRows;
use crate::timed_rows::TimedRows;
use crate::together::{Moved, Together};

/// The tables that samples are taken into.
#[derive(Debug)]
pub(crate) struct Gathering {
    stacks: Stacks,
    /// The stacks by the numbers that they have on the way.
    ids: Vec<StackId>,
    rows: Kept,
}

/// All stacks, and all rows with their sums.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) stacks: Stacks,
    pub(crate) rows: Rows,
}

/// Rows of samples.
#[derive(Debug)]
enum Kept {
    /// One for all samples that agree.
    Summed(SummedRows),
    /// One a sample.
    Single(Rows),
    /// One for all samples that agree and are in one cell of all maps.
    OfMap(TimedRows),
    /// One for those that agree and have a chain that came shortly before. Of so many rows; if there are more, memory is to grow
    /// with what differs.
    OfStacks(RowsOfStacks, usize),
}

/// Which samples share a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sharing {
    /// None: each has a row of its own.
    None,
    /// Those that agree, up to so many rows only if their chains come soon after each other: to look for the others takes longer than to
    /// add them up later.
    Soon(usize),
    /// Those that agree, and that no map tells apart by their times.
    OfMap(Grain),
    /// All that agree.
    All,
}

impl Gathering {
    /// An empty table for so many samples.
    pub(crate) fn new(mut stacks: Stacks, sharing: Sharing, expected: usize) -> Gathering {
        stacks.reserve(expected);
        let rows = match sharing {
            Sharing::None => Kept::Single(Rows::with_capacity(expected)),
            Sharing::OfMap(grain) => Kept::OfMap(TimedRows::new(grain)),
            Sharing::Soon(most) => Kept::OfStacks(RowsOfStacks::expecting(expected), most),
            Sharing::All => Kept::Summed(SummedRows::expecting(expected)),
        };
        Gathering { stacks, ids: Vec::new(), rows }
    }

    /// Looks up the stacks and rows of a block, and adds its periods. Leaves the block empty.
    pub(crate) fn take_in(&mut self, block: &mut Block) {
        let Gathering { stacks, ids, rows } = self;
        if block.begins_anew {
            ids.clear();
            if let Kept::OfStacks(of_stacks, _) = rows {
                of_stacks.begin();
            }
        }
        stacks.number_all(&block.places, &block.ends, ids);
        let with_stack = |row: &NumberedRow| {
            let stack = row.stack.index().and_then(|number| ids.get(number));
            NumberedRow { stack: stack.copied().unwrap_or(StackId::EMPTY), ..*row }
        };
        let times_ns = block.times_ns.iter().copied().chain(std::iter::repeat(0));
        let timed = block.rows.iter().zip(times_ns).map(|(row, time_ns)| (with_stack(row), time_ns));
        match rows {
            Kept::Single(single) => timed.for_each(|(row, time_ns)| single.push_numbered(row, time_ns)),
            Kept::OfMap(of_map) => of_map.add_all(timed),
            Kept::Summed(summed) => {
                if !ids.is_empty() {
                    block.rows.iter_mut().for_each(|row| *row = with_stack(row));
                }
                summed.add_all(&block.rows);
            }
            Kept::OfStacks(of_stacks, most) => {
                of_stacks.add_all(block.rows.iter().map(|row| (with_stack(row), row.stack)));
                if of_stacks.len() > *most {
                    *rows = Kept::Summed(SummedRows::of(std::mem::take(of_stacks).into_rows()));
                }
            }
        }
        block.clear();
    }

    /// Gives places their new numbers, and has each stack and row once from now on.
    pub(crate) fn put_together(&mut self, together: &Together) {
        let moved = Moved { places: together, stacks: self.stacks.put_together(together) };
        match &mut self.rows {
            Kept::Single(rows) => rows.renumber(&moved),
            Kept::OfMap(rows) => rows.renumber(&moved),
            Kept::Summed(summed) => summed.renumber(&moved),
            Kept::OfStacks(of_stacks, _) => {
                let mut summed = SummedRows::of(std::mem::take(of_stacks).into_rows());
                summed.renumber(&moved);
                self.rows = Kept::Summed(summed);
            }
        }
    }

    /// No block follows. `origins` are what the rows come from.
    pub(crate) fn finish(self, origins: Origins) -> Gathered {
        let Gathering { mut stacks, rows, .. } = self;
        stacks.freeze();
        let in_order = |mut rows: Rows, origins, sort: fn(&mut Rows)| {
            rows.set_origins(origins);
            sort(&mut rows);
            rows.shrink();
            rows
        };
        let rows = match rows {
            Kept::Single(rows) => in_order(rows, origins, Rows::sort_by_time),
            Kept::OfMap(of_map) => in_order(of_map.into_rows(), origins, Rows::sort_by_time),
            Kept::OfStacks(of_stacks, _) => in_order(of_stacks.into_rows(), origins, Rows::sort_by_origin),
            Kept::Summed(summed) => summed.into_rows(origins),
        };
        Gathered { stacks, rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::AddressId;
    use crate::block::StackNumbers;
    use crate::detail::DetailId;
    use crate::known_chains::ChainId;
    use crate::rows::Origin;
    use readperf_session::Session;
    use std::collections::BTreeMap;

    /// A sample: its places, what names its chain, its CPU, and where it was taken.
    type Sample = (Vec<AddressId>, Option<ChainId>, u32, AddressId);

    /// Takes 3000 samples in, whose period is their number.
    fn gathered(stacks: Stacks, sharing: Sharing, sample: impl Fn(u32) -> Sample) -> Gathered {
        let (gathering, origins) = gathering(stacks, sharing, sample);
        gathering.finish(origins)
    }

    fn gathering(stacks: Stacks, sharing: Sharing, sample: impl Fn(u32) -> Sample) -> (Gathering, Origins) {
        let mut gathering = Gathering::new(stacks, sharing, 0);
        let comm = Session::default().add_comm(b"a");
        let mut origins = Origins::default();
        let (mut numbers, mut block) = (StackNumbers::default(), Block::default());
        for nr in 0..3000 {
            let (places, chain, cpu, address) = sample(nr);
            if numbers.are_over(chain) {
                gathering.take_in(&mut block);
                numbers.begin(&mut block, chain);
            }
            let origin = origins.number(Origin { event: 0, comm, thread: None, cpu: Some(cpu) });
            let stack = numbers.number(&mut block, &places, chain);
            let detail = DetailId::default();
            let row = NumberedRow { origin, stack, address, detail, samples: 1, period: u64::from(nr) };
            block.rows.push(row);
            if nr % 100 == 99 {
                gathering.take_in(&mut block);
            }
        }
        (gathering, origins)
    }

    /// Samples and periods by CPU and places.
    type Sums = BTreeMap<(u32, Vec<u32>), (u64, u64)>;

    /// What samples add up to, and in how many rows.
    fn sums(whole: bool, sharing: Sharing, unsought: usize) -> (Sums, usize) {
        let stacks = if whole { Stacks::whole(unsought) } else { Stacks::default() };
        let Gathered { stacks, rows } = gathered(stacks, sharing, |nr| {
            let of_stack = nr * 7 % 97;
            let places = (0..of_stack % 4).map(|level| AddressId(of_stack % 11 + level)).collect();
            // Chains are forgotten now and then, and some samples have none.
            let chain = ChainId { epoch: nr / 700, number: of_stack };
            (places, Some(chain).filter(|_| nr % 13 > 0), nr % 2, AddressId(of_stack % 11))
        });
        assert!(rows.iter().is_sorted_by_key(|row| row.cpu), "one after the other");
        let mut sums = Sums::new();
        for row in rows.iter() {
            let places = stacks.places(row.stack).map(|place| place.0);
            let key = (row.cpu.unwrap(), std::iter::once(row.address.0).chain(places).collect());
            let sum = sums.entry(key).or_default();
            *sum = (sum.0 + row.samples, sum.1 + row.period);
        }
        (sums, rows.len())
    }

    #[test]
    fn rows_add_up_to_the_same_however_many_share_one() {
        let (expected, least) = sums(false, Sharing::All, 0);
        for unsought in [0, 50, 700, 10_000] {
            let (got, rows) = sums(true, Sharing::Soon(unsought), unsought);
            assert_eq!(got, expected, "{unsought}");
            assert!(
                (least..=least.max(unsought * 2) + 200).contains(&rows),
                "{unsought}: {rows}, at least {least}"
            );
        }
    }

    #[test]
    fn places_put_together_make_stacks_and_rows_one() {
        let place = |nr: u32| nr / 3;
        let sample = |nr: u32| {
            let of_stack = nr * 7 % 97;
            let places = (0..of_stack % 4).map(|level| AddressId(of_stack % 11 + level)).collect();
            (places, Some(ChainId { epoch: nr / 700, number: of_stack }), nr % 2, AddressId(of_stack % 11))
        };
        let mut expected = Sums::new();
        for nr in 0..3000 {
            let (places, _, cpu, address) = sample(nr);
            let places = std::iter::once(address).chain(places).map(|AddressId(at)| place(at)).collect();
            let sum = expected.entry((cpu, places)).or_default();
            *sum = (sum.0 + 1, sum.1 + u64::from(nr));
        }
        for (whole, sharing) in [
            (true, Sharing::Soon(10_000)),
            (true, Sharing::Soon(50)),
            (false, Sharing::All),
            (false, Sharing::None),
        ] {
            let stacks = if whole { Stacks::whole(10_000) } else { Stacks::default() };
            let (mut gathering, origins) = gathering(stacks, sharing, sample);
            gathering.put_together(&Together::for_test(20, place));
            let count = match &gathering.rows {
                Kept::Summed(rows) => rows.len(),
                Kept::OfStacks(rows, _) => rows.len(),
                Kept::Single(rows) => rows.len(),
                Kept::OfMap(rows) => rows.len(),
            };
            let wanted = if sharing == Sharing::None { 3000 } else { expected.len() };
            assert_eq!(count, wanted, "{sharing:?}");
            let Gathered { stacks, rows } = gathering.finish(origins);
            assert_eq!(rows.len(), count, "{sharing:?}");
            let mut found = Sums::new();
            for row in rows.iter() {
                let places = stacks.places(row.stack).chain([row.address]).map(|AddressId(at)| at);
                let mut places: Vec<u32> = places.collect();
                places.rotate_right(1);
                let sum = found.entry((row.cpu.unwrap(), places)).or_default();
                *sum = (sum.0 + row.samples, sum.1 + row.period);
            }
            assert_eq!(found, expected, "{sharing:?}");
        }
    }

    #[test]
    fn stacks_are_the_same_with_and_without_the_ids_of_their_chains() {
        let stack =
            |nr: u32| -> Vec<AddressId> { (0..nr % 5).map(|level| AddressId(nr % 11 + level)).collect() };
        // Chains are forgotten now and then: the same numbers stand for others.
        let chain = |nr: u32| ChainId { epoch: nr / 700, number: (nr % 55 + nr / 700 * 20) % 55 };
        let of_chain = |nr: u32| Some(chain(nr)).filter(|_| !nr.is_multiple_of(13));
        let with = |chain: &dyn Fn(u32) -> Option<ChainId>| {
            gathered(Stacks::default(), Sharing::None, |nr| (stack(nr % 55), chain(nr), 0, AddressId(0)))
        };
        let (named, plain) = (with(&of_chain), with(&|_| None));
        assert_eq!(named.rows.iter().collect::<Vec<_>>(), plain.rows.iter().collect::<Vec<_>>());
        assert_eq!(named.stacks.nodes(), plain.stacks.nodes());
    }
}
