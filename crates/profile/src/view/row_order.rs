//! The order of rows. There may be a million, and most of them weigh the same: what decides are names. Each name is compared with others
//! once, for its rank; rows are then compared by one number that is made of ranks.

use super::column::{ADDRESSES, Column, beginning, compare, unnamed_address};
use super::facts::Facts;
use super::histogram::{Histogram, HistogramRow, Numbers, RowKey, RowValues};
use crate::counted::counted;
use crate::value::Value;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Ranks of all places are worked out, and kept for other rows of theirs, if rows have at least one in so many of them.
const WORTH_KEEPING: usize = 4;

impl Histogram {
    /// Sorts the rows: by the columns of `order`, the highest numbers first; then by names, so that the order does not
    /// depend on how these were numbered. Of the events of a group that with the index `lead` counts first.
    pub fn sort(&mut self, order: &[Column], lead: usize, facts: &Facts<'_>, values: &RowValues) {
        let names = NameOrder::new(self.rows.iter().map(|row| row.key), facts, values);
        let weights = ranks_of_weights(&self.rows, order, lead, &names.ranks);
        let rows = &self.rows;
        let key = |at: &u32| rows.get(*at as usize).map(|row| row.key);
        let mut order: Vec<(u128, u32)> = (0..)
            .zip(rows.iter().zip(weights))
            .map(|(at, (row, weight))| (u128::from(weight) << names.bits | names.rank(row.key), at))
            .collect();
        order.sort_unstable_by(|(a, first), (b, second)| {
            a.cmp(b).then_with(|| names.compare(key(first), key(second), values))
        });
        let from = order.into_iter().map(|(_, at)| at as usize).collect();
        put_in_order(&mut self.rows, from);
    }
}

/// The order of rows of one event by columns that follow from their sums and numbers of samples, where the rows are in the order of their
/// names. Most rows weigh the same as many others, so what they weigh is put in order, and rows are counted.
pub(super) fn by_weight<'n>(
    rows: impl Iterator<Item = (u32, &'n Numbers)> + Clone,
    order: &[Column],
) -> Vec<u32> {
    let mut different: FxHashMap<[u64; 3], u32> = FxHashMap::default();
    let weight = |numbers: &Numbers| [numbers.total_period, numbers.self_period, numbers.samples];
    let mut numbers: Vec<u32> = Vec::with_capacity(rows.size_hint().1.unwrap_or(0));
    for (_, row) in rows.clone() {
        let next = u32::try_from(different.len()).unwrap_or(u32::MAX);
        numbers.push(*different.entry(weight(row)).or_insert(next));
    }
    let mut weights: Vec<([u64; 3], u32)> = different.into_iter().collect();
    // The highest first.
    weights.sort_by_cached_key(|([total_period, self_period, samples], _)| {
        let row = Numbers {
            total_period: *total_period,
            self_period: *self_period,
            samples: *samples,
            ..Numbers::default()
        };
        let columns: Vec<u64> = order.iter().map(|column| !column.number(&row)).collect();
        (columns, !total_period, !self_period, !samples)
    });
    let mut ranks = vec![0; weights.len()];
    for (rank, (_, number)) in weights.iter().enumerate() {
        if let Some(slot) = ranks.get_mut(*number as usize) {
            *slot = rank;
        }
    }
    let rank = |number: u32| ranks.get(number as usize).copied().unwrap_or(0);
    let numbered = rows.map(|(row, _)| row).zip(numbers.iter().copied());
    counted(numbered, ranks.len(), |(_, number)| rank(*number)).into_iter().map(|(row, _)| row).collect()
}

/// The indices of rows in the order of their names.
pub(super) fn in_order_of_names(rows: &[RowKey], facts: &Facts<'_>, values: &RowValues) -> Vec<u32> {
    let names = NameOrder::new(rows.iter().copied(), facts, values);
    let row = |at: &u32| rows.get(*at as usize).copied();
    let mut order: Vec<u32> = (0..).zip(rows).map(|(at, _)| at).collect();
    // By the last key first: rows of which a key says the same stay in the order of those behind it.
    for ranks in names.ranks.iter().rev() {
        let rank = |at: &u32| row(at).map_or(0, |row| ranks.of(row) as usize);
        order = counted(order.iter().copied(), ranks.count(), rank);
    }
    for alike in order.chunk_by_mut(|a, b| names.are_alike(row(a), row(b))).filter(|alike| alike.len() > 1) {
        alike.sort_by(|a, b| names.compare(row(a), row(b), values));
    }
    order
}

/// The order of rows by names, as far as it fits into one number.
struct NameOrder<'r> {
    /// By key of rows.
    ranks: Vec<Ranks<'r>>,
    /// How many bits the number has.
    bits: u32,
}

impl<'r> NameOrder<'r> {
    fn new(
        rows: impl ExactSizeIterator<Item = RowKey> + Clone,
        facts: &Facts<'_>,
        values: &'r RowValues,
    ) -> Self {
        let ranks: Vec<Ranks<'_>> =
            (0..values.count()).map(|key| Ranks::of_key(rows.clone(), key, facts, values)).collect();
        let fitting = |left: &mut u32, ranks: &Ranks<'_>| {
            *left = left.saturating_sub(ranks.bits());
            Some(if *left >= u32::BITS { ranks.bits() } else { 0 })
        };
        let bits = ranks.iter().scan(u128::BITS, fitting).sum();
        NameOrder { ranks, bits }
    }

    fn rank(&self, row: RowKey) -> u128 {
        // What does not fit decides in `compare`.
        let mut bits = u128::BITS;
        self.ranks.iter().fold(0, |so_far: u128, ranks| {
            bits = bits.saturating_sub(ranks.bits());
            if bits >= u32::BITS { so_far << ranks.bits() | u128::from(ranks.of(row)) } else { so_far }
        })
    }

    /// Whether two rows have the same names.
    fn are_alike(&self, a: Option<RowKey>, b: Option<RowKey>) -> bool {
        a.zip(b).is_some_and(|(a, b)| self.ranks.iter().all(|ranks| ranks.of(a) == ranks.of(b)))
    }

    /// Two rows of which the number says nothing.
    fn compare(&self, a: Option<RowKey>, b: Option<RowKey>, values: &RowValues) -> Ordering {
        let (Some(a), Some(b)) = (a, b) else { return Ordering::Equal };
        let ranks =
            self.ranks.iter().map(|ranks| ranks.of(a)).cmp(self.ranks.iter().map(|ranks| ranks.of(b)));
        // What has the same names: by number, which only depends on the recording.
        ranks.then_with(|| values.values(a).cmp(values.values(b)))
    }
}

/// The order of two rows by names.
pub(super) fn compare_names(facts: &Facts<'_>, values: &RowValues, a: RowKey, b: RowKey) -> Ordering {
    let by_key = (0..values.count()).map(|key| compare(facts, values.value(a, key), values.value(b, key)));
    by_key.fold(Ordering::Equal, Ordering::then).then_with(|| values.values(a).cmp(values.values(b)))
}

/// Puts items where they belong, without room for a second list: `from` says for each place where the item is that belongs there.
fn put_in_order<T>(items: &mut [T], mut from: Vec<usize>) {
    for start in 0..from.len() {
        // Places that take each other's items are a ring; those that are done take their own.
        let mut here = start;
        while let Some(next) = from.get_mut(here).map(|next| std::mem::replace(next, here)) {
            if next == start || next == here || next >= items.len() {
                break;
            }
            items.swap(here, next);
            here = next;
        }
    }
}

/// For each row the rank of what is compared before names: the columns of the order, then what samples add up to.
fn ranks_of_weights(rows: &[HistogramRow], order: &[Column], lead: usize, ranks: &[Ranks<'_>]) -> Vec<u32> {
    let mut numbers: Vec<u64> = Vec::new();
    for row in rows {
        for column in order {
            match column {
                Column::Key(index) => {
                    numbers.push(ranks.get(*index).map_or(0, |ranks| ranks.of(row.key).into()));
                }
                // The highest first.
                column => numbers.extend(leading(row, lead).map(|row| !column.number(row))),
            }
        }
        let Numbers { samples, self_period, total_period, .. } = row.numbers;
        numbers.extend([!total_period, !self_period, !samples]);
    }
    let width = numbers.len().checked_div(rows.len()).unwrap_or(0).max(1);
    let mut different: FxHashMap<&[u64], u32> = FxHashMap::default();
    let next = |different: &FxHashMap<&[u64], u32>| u32::try_from(different.len()).unwrap_or(u32::MAX);
    let known: Vec<u32> = numbers
        .chunks_exact(width)
        .map(|weight| {
            let next = next(&different);
            *different.entry(weight).or_insert(next)
        })
        .collect();
    let mut sorted: Vec<(&[u64], u32)> = different.into_iter().collect();
    sorted.sort_unstable();
    let mut rank_of = vec![0; sorted.len()];
    for (rank, (_, number)) in (0..).zip(sorted) {
        if let Some(slot) = rank_of.get_mut(number as usize) {
            *slot = rank;
        }
    }
    known.into_iter().map(|number| rank_of.get(number as usize).copied().unwrap_or(u32::MAX)).collect()
}

/// The numbers of a row: of a group those of the leading event, then all from the first on.
fn leading(row: &HistogramRow, lead: usize) -> impl Iterator<Item = &Numbers> {
    let all = || std::iter::once(&row.numbers).chain(&row.others);
    let leading = all().nth(lead).filter(|_| !row.others.is_empty());
    leading.into_iter().chain(all())
}

/// The ranks of what one key says, by the number that rows have of their sample, or of their place. The last is that of what is not known.
#[derive(Debug)]
struct Ranks<'r> {
    of_place: bool,
    ranks: Cow<'r, [u32]>,
    highest: u32,
}

impl<'r> Ranks<'r> {
    /// The ranks of what a key says of rows.
    fn of_key(
        rows: impl ExactSizeIterator<Item = RowKey>,
        key: usize,
        facts: &Facts<'_>,
        values: &'r RowValues,
    ) -> Ranks<'r> {
        let of_place = values.is_of_place(key);
        let count = values.numbers(of_place);
        let row_of = |number: u32| match of_place {
            true => RowKey { sample: u32::MAX, place: number },
            false => RowKey { sample: number, place: u32::MAX },
        };
        let said_of = |number: u32| (values.value(row_of(number), key), number);
        if of_place && (values.has_ranks(key) || rows.len() >= count / WORTH_KEEPING) {
            return Ranks::new(of_place, Cow::Borrowed(values.ranks_of_places(key, facts)));
        }
        let mut is_used = vec![false; count + 1];
        for row in rows {
            if let Some(used) = is_used.get_mut(slot(row, of_place, count)) {
                *used = true;
            }
        }
        let said = is_used.iter().zip(0..).filter(|(used, _)| **used).map(|(_, number)| said_of(number));
        Ranks::new(of_place, Cow::Owned(ranks(said, count + 1, facts)))
    }

    fn new(of_place: bool, ranks: Cow<'r, [u32]>) -> Ranks<'r> {
        let highest = ranks.iter().max().copied().unwrap_or(0);
        Ranks { of_place, ranks, highest }
    }

    /// How many bits they have.
    fn bits(&self) -> u32 {
        u32::BITS - self.highest.leading_zeros()
    }

    /// A number that is higher than all of them.
    fn count(&self) -> usize {
        self.highest as usize + 1
    }

    #[inline]
    fn of(&self, row: RowKey) -> u32 {
        let unknown = self.ranks.len().saturating_sub(1);
        self.ranks.get(slot(row, self.of_place, unknown)).copied().unwrap_or(0)
    }
}

/// Where the rank of a row is: that of its place, or of its sample.
#[inline]
fn slot(row: RowKey, of_place: bool, unknown: usize) -> usize {
    let number = if of_place { row.place } else { row.sample };
    (number as usize).min(unknown)
}

/// The ranks of values, each in its slot; equal ones have the same.
pub(super) fn ranks(said: impl Iterator<Item = (Value, u32)>, slots: usize, facts: &Facts<'_>) -> Vec<u32> {
    let mut different = Different::default();
    // First the number of the value, then its rank.
    let mut ranks = vec![u32::MAX; slots];
    for (value, slot) in said {
        if let Some(number) = ranks.get_mut(slot as usize) {
            *number = different.number(value);
        }
    }
    let rank_of = different.ranks(facts);
    for number in &mut ranks {
        *number = rank_of.get(*number as usize).copied().unwrap_or(0);
    }
    ranks
}

/// Values, each with a number. Most often they are functions, which have small numbers themselves.
#[derive(Debug, Default)]
struct Different {
    values: Vec<Value>,
    /// By function, as itself and as an inlined one.
    of_functions: Vec<u32>,
    others: FxHashMap<Value, u32>,
}

impl Different {
    fn number(&mut self, value: Value) -> u32 {
        // There are no more than slots, whose numbers fit.
        let next = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        let number = match value {
            Value::Function { function, inlined } => {
                let slot = 2 * function.index() + usize::from(inlined);
                if self.of_functions.len() <= slot {
                    self.of_functions.resize(slot + 1, u32::MAX);
                }
                self.of_functions.get_mut(slot)
            }
            value => Some(self.others.entry(value).or_insert(u32::MAX)),
        };
        let Some(number) = number else { return u32::MAX };
        if *number == u32::MAX {
            *number = next;
            self.values.push(value);
        }
        *number
    }

    /// For each by its number the rank; those that compare as equal have the same.
    fn ranks(&self, facts: &Facts<'_>) -> Vec<u32> {
        let only_functions = self.others.keys().all(|value| *value == Value::Unknown);
        let address = |value: &Value| unnamed_address(facts, *value).filter(|_| only_functions);
        let begins = |value: &Value| if only_functions { beginning(facts, *value) } else { 0 };
        let (mut names, mut addresses) = (Vec::new(), Vec::new());
        for (value, number) in self.values.iter().zip(0_u32..) {
            match address(value) {
                Some(address) => addresses.push((address, number)),
                None => names.push((begins(value), number)),
            }
        }
        // Addresses stand for names of their own. They are together, unless something else is called as if it were one.
        let value = |number: u32| self.values.get(number as usize).copied().unwrap_or_default();
        if names.iter().any(|(beginning, _)| ADDRESSES.contains(beginning)) {
            names.extend(addresses.drain(..).map(|(_, number)| (begins(&value(number)), number)));
        }
        let by_value = |a: u32, b: u32| compare(facts, value(a), value(b));
        sort(&mut names, by_value);
        sort(&mut addresses, by_value);
        let (before, behind) =
            names.split_at(names.partition_point(|(beginning, _)| *beginning < ADDRESSES.start));
        let mut ranking = Ranking { ranks: vec![0; self.values.len()], next: 0 };
        ranking.add(before, by_value);
        ranking.add(&addresses, by_value);
        ranking.add(behind, by_value);
        ranking.ranks
    }
}

/// Puts values in order by the number that they come with, which says theirs as far as it goes. Addresses come in order already, binary by
/// binary, which a stable sort makes use of.
fn sort<K: Ord>(values: &mut [(K, u32)], by_value: impl Fn(u32, u32) -> Ordering) {
    values.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| by_value(a.1, b.1)));
}

/// Ranks of values by their numbers, and the one that is next.
struct Ranking {
    ranks: Vec<u32>,
    next: u32,
}

impl Ranking {
    /// Gives values that are in order the next ranks.
    fn add<K: Eq>(&mut self, values: &[(K, u32)], by_value: impl Fn(u32, u32) -> Ordering) {
        for alike in values.chunk_by(|a, b| a.0 == b.0 && by_value(a.1, b.1).is_eq()) {
            for (_, number) in alike {
                if let Some(slot) = self.ranks.get_mut(*number as usize) {
                    *slot = self.next;
                }
            }
            self.next = self.next.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::Assembly;
    use crate::names::FunctionId;
    use crate::profile::Profile;
    use crate::view::surroundings::Surroundings;
    use proptest::prelude::*;
    use readperf_session::{Binary, BinaryKind, Session};
    use readperf_symbols::FunctionName;

    /// The ranks of these values, as those of keys that say this.
    fn ranks_of(values: &[Value]) -> Vec<u32> {
        let (profile, session) = (Profile::default(), Session::default());
        let surroundings = Surroundings::default();
        let facts = Facts::new(&profile, &session, &surroundings);
        ranks(values.iter().copied().zip(0..), values.len(), &facts)
    }

    #[test]
    fn equal_values_have_one_rank_and_others_are_in_order() {
        let number = Value::Number;
        assert_eq!(ranks_of(&[number(5), Value::Unknown, number(2), number(5)]), [2, 0, 1, 2]);
        let function = |index, inlined| Value::Function { function: FunctionId::new(index), inlined };
        let functions = [
            function(3, true),
            function(3, false),
            Value::Unknown,
            function(1, false),
            function(3, true),
            function(1, false),
        ];
        assert_eq!(ranks_of(&functions), [3, 2, 0, 1, 3, 1]);
        assert_eq!(ranks_of(&[number(7), function(0, false), Value::Unknown, number(7)]), [2, 1, 0, 2]);
    }

    proptest! {
        /// Some functions have no name, and some are called as if they had none.
        #[test]
        fn ranks_are_the_order_of_values(functions in proptest::collection::vec(
            (proptest::option::of(prop_oneof![Just(""), Just("0"), Just("0x"), Just("0y"), Just("a"), Just("0x0000000000000010f"),
                Just("0x0000000000000011")]), prop_oneof![0x10f..0x113_u64, any::<u64>()]), 0..40),
            in_binary in proptest::collection::vec(any::<bool>(), 40),
        ) {
            let mut session = Session::default();
            let binary = session.add_binary(Binary {
                name: b"/bin/a".as_slice().into(),
                short_name: b"a".as_slice().into(),
                kind: BinaryKind::User,
                build_id: None,
            });
            let mut assembly = Assembly::default();
            let function = |((name, address), in_binary): (&(Option<&str>, u64), &bool)| {
                let name = name.map(|name| FunctionName::plain(name.to_owned()));
                let known = name.ok_or("no symbol covers the address");
                assembly.function(in_binary.then_some(binary), *address, known)
            };
            let functions: Vec<FunctionId> = functions.iter().zip(&in_binary).map(function).collect();
            let profile = assembly.finish(Vec::new());
            let surroundings = Surroundings::default();
            let facts = Facts::new(&profile, &session, &surroundings);
            let values: Vec<Value> = functions
                .iter()
                .enumerate()
                .map(|(nr, function)| Value::Function { function: *function, inlined: nr % 5 == 0 })
                .chain([Value::Unknown])
                .collect();
            let ranks = ranks(values.iter().copied().zip(0..), values.len(), &facts);
            for (a, rank) in values.iter().zip(&ranks) {
                for (b, other) in values.iter().zip(&ranks) {
                    prop_assert_eq!(rank.cmp(other), compare(&facts, *a, *b), "{:?} {:?}", a, b);
                }
            }
        }
    }

    #[test]
    fn items_go_where_they_belong() {
        for count in 0..40_usize {
            for step in [1, 3, 7, 11, 13] {
                // Rings of all lengths, and many equal keys.
                let key = |at: usize| (at * step + at / 5) % (count / 2 + 1);
                let mut from: Vec<usize> = (0..count).collect();
                from.sort_by_key(|at| key(*at));
                let wanted: Vec<(usize, usize)> = from.iter().map(|at| (key(*at), *at)).collect();
                let mut items: Vec<(usize, usize)> = (0..count).map(|at| (key(at), at)).collect();
                put_in_order(&mut items, from);
                assert_eq!(items, wanted);
            }
        }
    }
}
