//! The part of a symbol table that tells what covers some addresses. Symbol tables are not sorted, and large; to sort all of one for a
//! few addresses takes longest of all.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use crate::table::{Entry, Table};

/// So many times more entries than addresses make it worth looking for those that are needed.
const WORTH_IT: usize = 2;

/// So many questions are answered from tables of their own: for the samples of a recording, and for a look at some code, where each
/// function is and what it calls. To go through all entries takes a tenth of the time that it takes to sort them.
const MOST_PARTS: usize = 4;

/// Entries for which a whole table has room at first, at most: how many there are is what a file says.
const MOST_AT_FIRST: usize = 1 << 20;

/// Tables of at most so many entries are held in memory while those that are needed are looked for: 6 MiB. A kernel has as many.
const MOST_HELD: usize = 1 << 18;

/// A table that is made when it is asked: for the first questions what each needs, for those after them all of it.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    asked: AtomicUsize,
    whole: OnceLock<Table>,
    /// What each of the first questions needed.
    parts: [OnceLock<Table>; MOST_PARTS],
}

impl OnDemand {
    /// A table that answers for these addresses, which are sorted. `count` is about how many entries there are; `make` makes a table of
    /// entries in the order of the file.
    pub(crate) fn for_addresses<I: Iterator<Item = Entry>>(
        &self,
        addresses: &[u64],
        count: usize,
        entries: impl Fn() -> I,
        make: impl Fn(Vec<Entry>) -> Table,
    ) -> &Table {
        let is_worth_it = addresses.len() < count / WORTH_IT;
        if self.whole.get().is_none()
            && is_worth_it
            && let Some(part) = self.parts.get(self.asked.fetch_add(1, Relaxed))
        {
            return part.get_or_init(|| make(needed_of(addresses, count, entries)));
        }
        self.whole.get_or_init(|| {
            let mut all = Vec::with_capacity(count.min(MOST_AT_FIRST));
            all.extend(entries());
            make(all)
        })
    }
}

/// The entries that tell which symbols cover these addresses. All are looked at twice: a table that is not large is held meanwhile,
/// since to read it takes longer than to keep it.
fn needed_of<I: Iterator<Item = Entry>>(
    addresses: &[u64],
    count: usize,
    entries: impl Fn() -> I,
) -> Vec<Entry> {
    if count > MOST_HELD {
        return needed(addresses, entries);
    }
    let mut held = Vec::with_capacity(count);
    held.extend(entries());
    needed(addresses, || held.iter().copied())
}

/// The entries that tell which symbols cover these addresses, which are sorted; in the order of the file.
///
/// What covers an address is the last symbol that starts at it or before it, or one that starts earlier and reaches beyond it. Of each
/// start all symbols are needed, to choose among them, and where the next one starts, since symbols without a size end there. (Before a
/// border they reach further; lists with borders have no sizes at all, and then the later symbol reaches as far.) Symbols that start right
/// behind an address are needed, too: one of them may be the trampoline that a signal handler returns to.
fn needed<I: Iterator<Item = Entry>>(addresses: &[u64], entries: impl Fn() -> I) -> Vec<Entry> {
    let wanted = wanted_starts(addresses, entries());
    let mut places = Places::of(&wanted);
    let mut needed = Vec::new();
    // For each wanted start, the first symbol at the next one.
    let mut next: Vec<Option<Entry>> = vec![None; wanted.len()];
    for entry in entries() {
        // The first wanted start behind this one.
        let behind = places.below(entry.start.saturating_add(1));
        let Some(index) = behind.checked_sub(1) else { continue };
        if wanted.get(index) == Some(&entry.start) {
            needed.push(entry);
        } else if let Some(next) = next.get_mut(index)
            && next.is_none_or(|next| entry.start < next.start)
        {
            *next = Some(entry);
        }
    }
    // Those only end what is before them: they are not asked about, and must not get a size.
    let ends = next.into_iter().flatten();
    needed.extend(ends.map(|entry| Entry { end: entry.end.max(entry.start.saturating_add(1)), ..entry }));
    needed
}

/// Where the symbols start that may cover one of the addresses, sorted.
fn wanted_starts(addresses: &[u64], entries: impl Iterator<Item = Entry>) -> Vec<u64> {
    let mut places = Places::of(addresses);
    // Of the symbols that start between an address and the one before it, the last.
    let mut last: Vec<Option<u64>> = vec![None; addresses.len()];
    let mut wanted = Vec::new();
    for entry in entries {
        let index = places.below(entry.start);
        let before = index.checked_sub(1).and_then(|before| addresses.get(before));
        if before.is_some_and(|before| before.saturating_add(1) == entry.start) {
            wanted.push(entry.start);
        }
        let (Some(address), Some(last)) = (addresses.get(index), last.get_mut(index)) else { continue };
        *last = (*last).max(Some(entry.start));
        if entry.end > *address {
            wanted.push(entry.start);
        }
    }
    wanted.extend(last.into_iter().flatten());
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// Most parts that a sorted list is seen as.
const MOST_RANGES: usize = 1 << 16;

/// Finds places in a sorted list. Symbols are mostly near the one before; where the others are is told by their upper bits.
struct Places<'s> {
    sorted: &'s [u64],
    last: usize,
    /// The lowest number; what is above it, moved by so many bits, is the number of a range.
    first: u64,
    shift: u32,
    /// How many numbers of the list lie before each range, and behind the last.
    before: Vec<u32>,
}

impl<'s> Places<'s> {
    fn of(sorted: &'s [u64]) -> Places<'s> {
        let first = sorted.first().copied().unwrap_or(0);
        let reach = sorted.last().map_or(0, |last| last.wrapping_sub(first));
        let ranges = sorted.len().next_power_of_two().min(MOST_RANGES);
        let shift = (u64::BITS - reach.leading_zeros()).saturating_sub(ranges.trailing_zeros());
        let mut places = Places { sorted, last: 0, first, shift, before: Vec::with_capacity(ranges + 2) };
        for (index, number) in (0_u32..).zip(sorted) {
            let range = places.range(*number);
            while places.before.len() <= range {
                places.before.push(index);
            }
        }
        places.before.push(crate::ids::number(sorted.len()));
        places
    }

    /// The range in which a number is that is not below the first.
    #[inline]
    fn range(&self, number: u64) -> usize {
        usize::try_from(number.wrapping_sub(self.first).checked_shr(self.shift).unwrap_or(0))
            .unwrap_or(usize::MAX)
    }

    /// How many numbers of the list are below this one.
    #[inline]
    fn below(&mut self, number: u64) -> usize {
        let is_below = |index: usize| self.sorted.get(index).is_some_and(|other| *other < number);
        let is_same = (self.last == 0 || is_below(self.last - 1)) && !is_below(self.last);
        if !is_same {
            self.last = self.search(number);
        }
        self.last
    }

    fn search(&self, number: u64) -> usize {
        if number <= self.first {
            return 0;
        }
        let range = self.range(number);
        let before =
            |range: usize| self.before.get(range).map_or(self.sorted.len(), |before| *before as usize);
        let (start, end) = (before(range), before(range.saturating_add(1)));
        start + self.sorted.get(start..end).unwrap_or_default().partition_point(|other| *other < number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Binding;

    const NAMES: [&str; 4] = ["f", "__f", "long_f", "longer_f"];

    /// Numbers that are always the same, and look like none.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: u32) -> u32 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u32::try_from(self.0 >> 33).unwrap() % limit
        }

        fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
            of[self.below(u32::try_from(of.len()).unwrap()) as usize]
        }

        fn entry(&mut self) -> Entry {
            let start = u64::from(self.below(60) * 4);
            let size = self.one_of(&[0, 0, 4, 12, 100]);
            let binding = self.one_of(&[Binding::Local, Binding::Global, Binding::Weak]);
            let (name, is_label) = (self.below(4), self.below(4) == 0);
            Entry { start, end: start + size, name, binding, is_label }
        }
    }

    #[test]
    fn places_in_a_sorted_list_are_found() {
        let mut numbers = Numbers(2);
        for round in 0..2000_u64 {
            let reach = numbers.one_of(&[1, 7, 1000, u32::MAX]);
            let high = numbers.one_of(&[0, 1 << 40, u64::MAX - u64::from(u32::MAX) * 2]);
            let number = |numbers: &mut Numbers| high + u64::from(numbers.below(reach)) * (round % 2 + 1);
            let mut sorted: Vec<u64> = (0..numbers.below(40)).map(|_| number(&mut numbers)).collect();
            sorted.sort_unstable();
            let mut places = Places::of(&sorted);
            let ends = [0, high, high.saturating_sub(1), u64::MAX];
            for number in (0..60).map(|_| number(&mut numbers)).chain(sorted.iter().copied()).chain(ends) {
                let expected = sorted.iter().filter(|other| **other < number).count();
                assert_eq!(places.below(number), expected, "{number} in {sorted:?}");
            }
        }
    }

    #[test]
    fn a_part_answers_as_the_whole() {
        let name = |entry: &Entry| NAMES[entry.name as usize].as_bytes();
        // As between modules of a kernel.
        let is_border = |left: &Entry, right: &Entry| left.start / 64 != right.start / 64;
        let mut numbers = Numbers(1);
        for round in 0..3000 {
            let count = 1 + numbers.below(30);
            let has_sizes = round % 2 == 0;
            let entry = |entry: Entry| if has_sizes { entry } else { Entry { end: entry.start, ..entry } };
            let entries: Vec<Entry> = (0..count).map(|_| entry(numbers.entry())).collect();
            let mut addresses: Vec<u64> =
                (0..=numbers.below(6)).map(|_| u64::from(numbers.below(300))).collect();
            addresses.sort_unstable();
            let make = |entries| match has_sizes {
                true => Table::build_lazily(entries, |_, _| false, name),
                false => Table::build(entries, is_border, name),
            };
            let whole = make(entries.clone());
            // Held or read twice; asked for the first time or once more.
            let (held, read_twice) = (OnDemand::default(), OnDemand::default());
            let asked = [(&held, MOST_HELD), (&read_twice, usize::MAX)];
            for (on_demand, count) in asked.into_iter().chain(asked) {
                let table = on_demand.for_addresses(&addresses, count, || entries.iter().copied(), make);
                for address in &addresses {
                    let found = |table: &Table| {
                        let found = table.find(*address)?;
                        Some((*found, table.has_choice(found), table.choice(found, name)))
                    };
                    assert_eq!(found(table), found(&whole), "{address} in {entries:?}");
                    let behind = |table: &Table| {
                        let found = table.find(address + 1).filter(|found| found.start == address + 1)?;
                        Some((*found, table.choice(found, name)))
                    };
                    assert_eq!(behind(table), behind(&whole), "behind {address} in {entries:?}");
                }
            }
        }
    }
}
