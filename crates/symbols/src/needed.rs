//! The part of a symbol table that tells what covers some addresses. Symbol tables are large, and not sorted: what takes longest is to
//! read all of one. That is done once, and little more is kept of a symbol than where it starts.

use std::borrow::Cow;
use std::sync::OnceLock;

use crate::table::{Entry, Table, skip_ahead};

/// Symbols for which there is room at first, at most: how many there are is what a file says.
const MOST_AT_FIRST: usize = 1 << 20;

/// No real table has more symbols that reach beyond the next one, nor are more of them needed for an address, and besides. Of one that does, made
/// to be slow, a table of all symbols is made once.
const MOST_REACHING: usize = 1 << 16;
const MOST_NEEDED: usize = 8;
const MOST_BESIDES: usize = 1 << 12;

/// The symbols of a table, numbered in the order of the file.
pub(crate) trait Symbols {
    /// How many there are, about.
    fn count(&self) -> usize;

    /// Shows all, with their numbers.
    fn for_each(&self, take: impl FnMut(u32, Entry));

    /// The one with this number.
    fn get(&self, number: u32) -> Option<Entry>;
}

/// Entries that are in memory.
impl Symbols for Vec<Entry> {
    fn count(&self) -> usize {
        self.len()
    }

    fn for_each(&self, mut take: impl FnMut(u32, Entry)) {
        (0..).zip(self).for_each(|(number, entry)| take(number, *entry));
    }

    fn get(&self, number: u32) -> Option<Entry> {
        self.as_slice().get(usize::try_from(number).ok()?).copied()
    }
}

/// A symbol table that is read when it is asked for the first time.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    extents: OnceLock<Extents>,
    /// All of it, where that takes less.
    whole: OnceLock<Table>,
}

impl OnDemand {
    /// A table that answers for these addresses, which are sorted. `make` makes one of symbols that are sorted by start, and then in the order of the
    /// file.
    pub(crate) fn covering(
        &self,
        addresses: &[u64],
        symbols: &impl Symbols,
        make: impl Fn(Vec<Entry>) -> Table,
    ) -> Cow<'_, Table> {
        if let Some(whole) = self.whole.get() {
            return Cow::Borrowed(whole);
        }
        let extents = self.extents.get_or_init(|| Extents::of(symbols));
        let needed = extents.needed(addresses, symbols);
        let most = addresses.len().saturating_mul(MOST_NEEDED).saturating_add(MOST_BESIDES);
        match needed.len() > most || extents.reaching.len() > MOST_REACHING {
            true => Cow::Borrowed(self.whole.get_or_init(|| make(extents.entries(symbols)))),
            false => Cow::Owned(make(needed)),
        }
    }
}

/// Where symbols are.
#[derive(Debug)]
struct Extents {
    /// By start, and then in the order of the file.
    all: Vec<Extent>,
    /// Start and end of those that reach beyond the next start.
    reaching: Vec<(u64, u64)>,
}

/// Where a symbol is, and its number.
#[derive(Clone, Copy, Debug)]
struct Extent {
    start: u64,
    number: u32,
    /// How long it is; [`u32::MAX`] if it is longer.
    size: u32,
}

impl Extents {
    fn of(symbols: &impl Symbols) -> Extents {
        let mut all = Vec::with_capacity(symbols.count().min(MOST_AT_FIRST));
        symbols.for_each(|number, Entry { start, end, .. }| {
            let size = u32::try_from(end.saturating_sub(start)).unwrap_or(u32::MAX);
            all.push(Extent { start, number, size });
        });
        // They are in the order of the file, and those at one start stay so. A kernel's list is sorted.
        if !all.is_sorted_by_key(|extent| extent.start) {
            radsort::sort_by_key(&mut all, |extent| extent.start);
        }
        let mut reaching = Vec::new();
        // From the last one on, behind whose start there is no other.
        let (mut start, mut next) = (all.last().map_or(0, |last| last.start), None);
        for extent in all.iter().rev() {
            if extent.start != start {
                (start, next) = (extent.start, Some(start));
            }
            let reaches = |next| extent.size == u32::MAX || u64::from(extent.size) > next - start;
            if next.is_some_and(reaches) {
                reaching.extend(symbols.get(extent.number).map(|symbol| (symbol.start, symbol.end)));
            }
        }
        reaching.reverse();
        Extents { all, reaching }
    }

    /// All symbols.
    fn entries(&self, symbols: &impl Symbols) -> Vec<Entry> {
        self.all.iter().filter_map(|extent| symbols.get(extent.number)).collect()
    }

    /// The symbols that tell what covers these addresses.
    ///
    /// That is the last symbol that starts at an address or before it, or one that starts earlier and reaches beyond it. Of each start all
    /// symbols are needed, to choose among them, and where the next one starts, since symbols without a size end there. (Before a border they
    /// reach further; lists with borders have no sizes at all, and then the later symbol reaches as far.) Symbols that start right behind an
    /// address are needed, too: one of them may be the trampoline that a signal handler returns to.
    fn needed(&self, addresses: &[u64], symbols: &impl Symbols) -> Vec<Entry> {
        let wanted = self.wanted(addresses);
        let get = |extent: &Extent| symbols.get(extent.number);
        let (mut needed, mut at) = (Vec::new(), 0);
        for (nr, start) in wanted.iter().enumerate() {
            skip_ahead(&self.all, &mut at, |extent| extent.start < *start);
            let rest = self.all.get(at..).unwrap_or_default();
            let behind = rest.iter().position(|extent| extent.start > *start).unwrap_or(rest.len());
            let (there, behind) = rest.split_at(behind);
            needed.extend(there.iter().filter_map(get));
            // The next one only ends what is before it.
            let next = behind.first().filter(|next| wanted.get(nr + 1) != Some(&next.start));
            needed.extend(next.and_then(get));
        }
        needed
    }

    /// Where the symbols start that may cover one of these addresses, sorted.
    fn wanted(&self, addresses: &[u64]) -> Vec<u64> {
        let (mut wanted, mut at) = (Vec::new(), 0);
        for address in addresses {
            skip_ahead(&self.all, &mut at, |extent| extent.start <= *address);
            let before = at.checked_sub(1).and_then(|before| self.all.get(before));
            let right_behind = self.all.get(at).filter(|extent| Some(extent.start) == address.checked_add(1));
            for Extent { start, .. } in before.into_iter().chain(right_behind) {
                if wanted.last() != Some(start) {
                    wanted.push(*start);
                }
            }
        }
        let mut at = 0;
        wanted.extend(self.reaching.iter().filter_map(|(start, end)| {
            skip_ahead(addresses, &mut at, |address| address < start);
            addresses.get(at).is_some_and(|address| address < end).then_some(*start)
        }));
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Binding;

    /// More than the size of an [`Extent`] can say.
    const FAR: u64 = 1 << 33;

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
            let start = u64::from(self.below(60) * 4) + self.one_of(&[0, 0, 0, 0, FAR]);
            let size = self.one_of(&[0, 0, 0, 4, 4, 12, 100, FAR - 40, FAR + 90]);
            let binding = self.one_of(&[Binding::Local, Binding::Global, Binding::Weak]);
            let (name, is_label) = (self.below(4), self.below(4) == 0);
            Entry { start, end: start + size, name, binding, is_label }
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
            let address =
                |numbers: &mut Numbers| u64::from(numbers.below(300)) + numbers.one_of(&[0, 0, FAR]);
            let mut addresses: Vec<u64> = (0..=numbers.below(6)).map(|_| address(&mut numbers)).collect();
            addresses.sort_unstable();
            let make = |entries| match has_sizes {
                true => Table::build_lazily(entries, |_, _| false, name),
                false => Table::build(entries, is_border, name),
            };
            let whole = make(entries.clone());
            let on_demand = OnDemand::default();
            // Asked for the first time, and once more for some of the same and others.
            let others = addresses.iter().map(|address| address / 7 * 7).collect();
            for addresses in [addresses, others] {
                let table = on_demand.covering(&addresses, &entries, make);
                for address in &addresses {
                    let found = |table: &Table| {
                        let found = table.find(*address)?;
                        Some((*found, table.has_choice(found), table.choice(found, name)))
                    };
                    assert_eq!(found(&table), found(&whole), "{address} in {entries:?}");
                    let behind = |table: &Table| {
                        let found = table.find(address + 1).filter(|found| found.start == address + 1)?;
                        Some((*found, table.choice(found, name)))
                    };
                    assert_eq!(behind(&table), behind(&whole), "behind {address} in {entries:?}");
                }
            }
        }
    }

    #[test]
    fn of_what_is_made_to_be_slow_all_is_put_in_order_once() {
        let name = |_: &Entry| b"f".as_slice();
        let make = |entries| Table::build_lazily(entries, |_, _| false, name);
        let entry =
            |start: u64, end: u64| Entry { start, end, name: 0, binding: Binding::Global, is_label: false };
        let count = |most: usize| 0..most as u64;
        let nested = |most| count(most).map(|nr| entry(nr * 4, FAR)).collect::<Vec<_>>();
        let same = |most| count(most).map(|_| entry(8, 12)).collect::<Vec<_>>();
        let asked = [2_u64, 9, 9 + FAR];
        for (entries, is_whole) in [
            (nested(MOST_REACHING + 1), false),
            (nested(MOST_REACHING + 2), true),
            (same(MOST_BESIDES + 3 * MOST_NEEDED), false),
            (same(MOST_BESIDES + 3 * MOST_NEEDED + 1), true),
        ] {
            let (on_demand, whole) = (OnDemand::default(), make(entries.clone()));
            for _ in 0..2 {
                let table = on_demand.covering(&asked, &entries, make);
                assert!(asked.iter().all(|address| table.find(*address) == whole.find(*address)));
                assert_eq!(matches!(table, Cow::Borrowed(_)), is_whole, "{}", entries.len());
            }
        }
    }
}
