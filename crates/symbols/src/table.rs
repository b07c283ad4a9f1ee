//! A table of symbols by address: sizes completed, one symbol chosen where several start, and looked up.
//!
//! The rules are those of `perf`, so that the same address has the same name in both.

use std::cmp::Ordering;

use crate::demangle::{Demangle, demangle};
use crate::name::as_name;

/// How many enclosing symbols are tried for an address behind the end of the symbol before it. Real code nests one
/// or two deep; the bound is for files made to be slow.
const MAX_NESTING: usize = 64;

/// Code is mapped in pages; the last symbol of a run is taken to reach to the end of a page.
const PAGE_BYTES: u64 = 4096;

/// No entry.
const NONE: u32 = u32::MAX;

/// Who can see a symbol (`STB_*` of the ELF specification).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binding {
    /// Only its own object file.
    Local,
    /// Everyone.
    Global,
    /// Everyone, unless someone else defines it.
    Weak,
}

/// A symbol before its name is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) start: u64,
    /// Address behind the last byte; equal to `start` while the size is unknown.
    pub(crate) end: u64,
    /// Where the name is; what that means is known to whoever made the table.
    pub(crate) name: u32,
    pub(crate) binding: Binding,
    /// Whether it is a mere label (STT_NOTYPE): any other symbol at the address is preferred.
    pub(crate) is_label: bool,
}

/// Symbols sorted by start, one for each start.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    entries: Vec<Entry>,
    /// For each entry the nearest one before it that reaches beyond its start; [`NONE`] if there is none.
    enclosing: Vec<u32>,
    /// Where only the names can tell which of several symbols at a start is meant: all of them, by start and then in
    /// the order of the file. They all end at the same address.
    rivals: Vec<Entry>,
}

impl Table {
    /// Makes a table of entries in the order of the file. `is_border` tells whether a symbol without size must not
    /// reach up to the next one; `name` reads the name of an entry.
    pub(crate) fn build<'n>(
        entries: Vec<Entry>,
        is_border: impl Fn(&Entry, &Entry) -> bool,
        name: impl Fn(&Entry) -> &'n [u8],
    ) -> Table {
        let mut table = Table::build_lazily(entries, is_border, &name);
        let chosen: Vec<Entry> = table.entries.iter().map(|entry| table.choice(entry, &name)).collect();
        table.entries = chosen;
        table.rivals = Vec::new();
        table
    }

    /// Builds a table in which the choice between symbols at one start, where it takes their names, is left to
    /// [`Self::choice`]: it is slow, and most starts are never asked about.
    pub(crate) fn build_lazily<'n>(
        mut entries: Vec<Entry>,
        is_border: impl Fn(&Entry, &Entry) -> bool,
        name: impl Fn(&Entry) -> &'n [u8],
    ) -> Table {
        // Stable: where several start at one address their order in the file counts.
        entries.sort_by_key(|entry| entry.start);
        complete_sizes(&mut entries, is_border);
        let rivals = choose(&mut entries, name);
        let enclosing = enclosing(&entries);
        Table { entries, enclosing, rivals }
    }

    /// Makes a table of entries whose sizes are known and which do not overlap.
    pub(crate) fn of_disjoint(mut entries: Vec<Entry>) -> Table {
        entries.sort_by_key(|entry| entry.start);
        entries.dedup_by_key(|entry| entry.start);
        let enclosing = enclosing(&entries);
        Table { entries, enclosing, rivals: Vec::new() }
    }

    /// Makes a table of entries that may overlap; the last one in order counts where several start.
    pub(crate) fn of_latest(mut entries: Vec<Entry>) -> Table {
        entries.reverse();
        entries.sort_by_key(|entry| entry.start);
        entries.dedup_by_key(|entry| entry.start);
        complete_sizes(&mut entries, |_, _| false);
        let enclosing = enclosing(&entries);
        Table { entries, enclosing, rivals: Vec::new() }
    }

    /// The symbol that covers the address: the innermost one, if they nest. A symbol of no length covers its start.
    pub(crate) fn find(&self, address: u64) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.start <= address);
        self.last_before(after, address)
    }

    /// The same for addresses that are asked for in their order: what follows is mostly near. `after` is 0 for the first one.
    pub(crate) fn find_ahead(&self, address: u64, after: &mut usize) -> Option<&Entry> {
        skip_ahead(&self.entries, after, |entry| entry.start <= address);
        self.last_before(*after, address)
    }

    /// The symbol that covers an address, before which so many begin.
    fn last_before(&self, after: usize, address: u64) -> Option<&Entry> {
        let mut at = after.checked_sub(1)?;
        for _ in 0..MAX_NESTING {
            let entry = self.entries.get(at)?;
            if address < entry.end || address == entry.start {
                return Some(entry);
            }
            at = usize::try_from(*self.enclosing.get(at).filter(|before| **before != NONE)?).ok()?;
        }
        None
    }

    /// Whether [`Self::choice`] may be another symbol.
    pub(crate) fn has_choice(&self, found: &Entry) -> bool {
        self.rivals.binary_search_by_key(&found.start, |rival| rival.start).is_ok()
    }

    /// The symbol that is meant by one that was found: another one at the same address may have the better name.
    pub(crate) fn choice<'n>(&self, found: &Entry, name: impl Fn(&Entry) -> &'n [u8]) -> Entry {
        let first = self.rivals.partition_point(|rival| rival.start < found.start);
        let rivals = self.rivals.get(first..).unwrap_or(&[]).iter();
        let rivals = rivals.take_while(|rival| rival.start == found.start);
        best_named(rivals, name).unwrap_or(*found)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many symbols there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// All symbols, by address.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

/// Moves on in a sorted list, over those that are before what is looked for, which is mostly near.
pub(crate) fn skip_ahead<T>(sorted: &[T], at: &mut usize, is_before: impl Fn(&T) -> bool) {
    let ahead = sorted.get(*at..).unwrap_or_default();
    // Twice as far each time, and then back.
    let mut far = 1;
    while ahead.get(far - 1).is_some_and(&is_before) {
        far *= 2;
    }
    let near = ahead.get(far / 2..ahead.len().min(far)).unwrap_or_default();
    *at += far / 2 + near.partition_point(is_before);
}

/// A symbol without a size reaches to the next symbol, the last one over the rest of its page and one page more.
fn complete_sizes(entries: &mut [Entry], is_border: impl Fn(&Entry, &Entry) -> bool) {
    let mut rest = entries;
    while let Some((entry, following)) = rest.split_first_mut() {
        if entry.end <= entry.start {
            entry.end = match following.first() {
                Some(next) if is_border(entry, next) => page_end(entry.start.saturating_add(PAGE_BYTES)),
                Some(next) => next.start,
                None => page_end(entry.start).saturating_add(PAGE_BYTES),
            };
        }
        rest = following;
    }
}

fn page_end(address: u64) -> u64 {
    address.checked_next_multiple_of(PAGE_BYTES).unwrap_or(u64::MAX)
}

/// How many symbols at one address are compared by name. Real files have a handful.
const MAX_RIVALS: usize = 256;

/// Keeps one symbol for each start, and returns the rivals between which only names decide. Tables are large, so what is kept moves to the
/// front.
fn choose<'n>(entries: &mut Vec<Entry>, name: impl Fn(&Entry) -> &'n [u8]) -> Vec<Entry> {
    let mut rivals: Vec<Entry> = Vec::new();
    let mut best: Vec<Entry> = Vec::new();
    let (mut kept, mut from) = (0, 0);
    while let Some(first) = entries.get(from) {
        let group = entries.get(from..).unwrap_or_default();
        let count = group.iter().take_while(|entry| entry.start == first.start).count();
        let chosen = choose_one(group.get(..count).unwrap_or_default(), &name, &mut best, &mut rivals);
        if let (Some(chosen), Some(slot)) = (chosen, entries.get_mut(kept)) {
            *slot = chosen;
            kept += 1;
        }
        from += count;
    }
    entries.truncate(kept);
    rivals
}

/// Chooses one of the symbols at a start. Where that takes their names but all cover the same, the best of them are added to `rivals`.
fn choose_one<'n>(
    group: &[Entry],
    name: impl Fn(&Entry) -> &'n [u8],
    best: &mut Vec<Entry>,
    rivals: &mut Vec<Entry>,
) -> Option<Entry> {
    if let [alone] = group {
        return Some(*alone);
    }
    best.clear();
    for entry in group {
        match best.first().map_or(Ordering::Greater, |first| by_kind(entry, first)) {
            Ordering::Less => continue,
            Ordering::Greater => best.clear(),
            Ordering::Equal => {}
        }
        if best.len() < MAX_RIVALS {
            best.push(*entry);
        }
    }
    let (first, others) = best.split_first()?;
    if others.iter().any(|other| other.end != first.end) {
        // Which addresses are covered depends on the choice.
        return best_named(best.iter(), name);
    }
    if !others.is_empty() {
        rivals.extend_from_slice(best);
    }
    Some(*first)
}

/// Whether the kind of `new` is better than that of `old`.
fn by_kind(new: &Entry, old: &Entry) -> Ordering {
    let has_size = |entry: &Entry| entry.end > entry.start;
    has_size(new)
        .cmp(&has_size(old))
        .then_with(|| old.is_label.cmp(&new.is_label))
        .then_with(|| (new.binding != Binding::Weak).cmp(&(old.binding != Binding::Weak)))
        .then_with(|| (new.binding == Binding::Global).cmp(&(old.binding == Binding::Global)))
}

/// The symbol with the best name among those of one kind at one address, which are in the order of the file.
fn best_named<'e, 'n>(
    symbols: impl Iterator<Item = &'e Entry>,
    name: impl Fn(&Entry) -> &'n [u8],
) -> Option<Entry> {
    let mut rivals = symbols.map(|entry| Rival { entry: *entry, name: name(entry), shown: None });
    let mut best = rivals.next()?;
    for mut new in rivals {
        if new.is_better_than(&mut best) {
            best = new;
        }
    }
    Some(best.entry)
}

/// A symbol that is compared with others by its name.
struct Rival<'n> {
    entry: Entry,
    name: &'n [u8],
    /// The name as it is shown, once that was asked for: to demangle it takes longest.
    shown: Option<String>,
}

impl Rival<'_> {
    fn shown(&mut self) -> &str {
        self.shown.get_or_insert_with(|| demangle(&as_name(self.name), Demangle::default()).into_owned())
    }

    /// Whether the name is preferred over that of `old`, which comes earlier in the file.
    fn is_better_than(&mut self, old: &mut Rival<'_>) -> bool {
        // Most symbols at one address are the variants of a constructor, and demangling is slow.
        if are_variants(self.name, old.name) {
            return false;
        }
        // Names are compared as they are shown.
        let (new, old) = (self.shown(), old.shown());
        let underscores = |name: &str| name.bytes().take_while(|byte| *byte == b'_').count();
        let by_name = underscores(old)
            .cmp(&underscores(new))
            .then_with(|| new.len().cmp(&old.len()))
            .then_with(|| is_syscall_alias(old).cmp(&is_syscall_alias(new)));
        by_name == Ordering::Greater
    }
}

/// Whether two mangled names differ only in the variant of a constructor or destructor (`C1E`, `C2E`). They are shown
/// alike; and if these bytes are part of an identifier, at least equally long and with as many underscores.
fn are_variants(left: &[u8], right: &[u8]) -> bool {
    if left.len() != right.len() || !left.starts_with(b"_ZN") {
        return false;
    }
    let Some(at) = left.iter().zip(right).position(|(left, right)| left != right) else { return true };
    let variant = |name: &[u8]| {
        let part = at.checked_sub(1).and_then(|start| name.get(start..at.saturating_add(2)));
        matches!(part, Some([b'C', b'1' | b'2', b'E'] | [b'D', b'0' | b'1' | b'2', b'E']))
    };
    let rest = at.saturating_add(1)..;
    variant(left) && variant(right) && left.get(rest.clone()) == right.get(rest)
}

/// Old kernels name a system call a second time in this way.
fn is_syscall_alias(name: &str) -> bool {
    name.starts_with("SyS") || name.starts_with("compat_SyS")
}

fn enclosing(entries: &[Entry]) -> Vec<u32> {
    let mut open: Vec<(u32, u64)> = Vec::new();
    let mut result = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        while open.last().is_some_and(|(_, end)| *end <= entry.start) {
            open.pop();
        }
        result.push(open.last().map_or(NONE, |(number, _)| *number));
        open.push((crate::ids::number(number), entry.end));
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: &[&str] = &["f", "__f", "long_f", "weak_longer_f", "SyS_x", "sys_x"];

    fn entry(start: u64, end: u64, name: u32, binding: Binding) -> Entry {
        Entry { start, end, name, binding, is_label: false }
    }

    fn build(entries: Vec<Entry>) -> Table {
        Table::build(entries, |_, _| false, |entry| NAMES[entry.name as usize].as_bytes())
    }

    fn chosen(entries: Vec<Entry>) -> u32 {
        let table = build(entries);
        assert_eq!(table.entries().len(), 1);
        table.entries()[0].name
    }

    #[test]
    fn one_of_several_at_a_start() {
        use Binding::{Global, Local, Weak};
        // A size beats everything; the first of two without size stays without.
        assert_eq!(chosen(vec![entry(16, 16, 2, Global), entry(16, 32, 0, Local)]), 0);
        assert_eq!(chosen(vec![entry(16, 16, 2, Global), entry(16, 16, 0, Local)]), 0);
        // Not weak, then global.
        assert_eq!(chosen(vec![entry(16, 32, 3, Weak), entry(16, 32, 0, Local)]), 0);
        assert_eq!(chosen(vec![entry(16, 32, 0, Global), entry(16, 32, 2, Local)]), 0);
        // Fewer underscores, then the longer name, then no old alias, then the earlier one.
        assert_eq!(chosen(vec![entry(16, 32, 1, Global), entry(16, 32, 0, Global)]), 0);
        assert_eq!(chosen(vec![entry(16, 32, 0, Global), entry(16, 32, 2, Global)]), 2);
        assert_eq!(chosen(vec![entry(16, 32, 4, Global), entry(16, 32, 5, Global)]), 5);
        assert_eq!(chosen(vec![entry(16, 32, 5, Global), entry(16, 32, 4, Global)]), 5);
    }

    #[test]
    fn what_is_asked_for_in_order_is_the_same() {
        let numbers = |nr: u64| nr.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        for count in [0, 1, 2, 3, 7, 100] {
            let entries = (0..count).map(|nr| {
                let start = numbers(nr) % (count * 8);
                entry(start, start + numbers(nr + 1000) % 30, 0, Binding::Local)
            });
            let table = Table::of_disjoint(entries.collect());
            for step in [1, 3, 50, 1000] {
                let mut after = 0;
                for address in (0..count * 8 + 50).step_by(step) {
                    let found = table.find_ahead(address, &mut after);
                    assert_eq!(found, table.find(address), "{count} symbols, {address} of each {step}");
                }
            }
        }
    }

    #[test]
    fn sizes_are_completed() {
        let table = build(vec![
            entry(0x20, 0x20, 1, Binding::Local),
            entry(0x10, 0x10, 0, Binding::Local),
            entry(0x30, 0x30, 2, Binding::Local),
        ]);
        let ends: Vec<u64> = table.entries().iter().map(|entry| entry.end).collect();
        assert_eq!(ends, [0x20, 0x30, 0x2000]);
    }

    #[test]
    fn a_border_ends_a_run() {
        let entries =
            vec![entry(0x1010, 0x1010, 0, Binding::Local), entry(0x9000, 0x9000, 1, Binding::Local)];
        let table = Table::build(entries, |_, _| true, |_| b"");
        assert_eq!(table.entries()[0].end, 0x3000);
        assert!(table.find(0x5000).is_none());
    }

    #[test]
    fn nested_symbols() {
        let table = build(vec![
            entry(0x10, 0x100, 0, Binding::Local),
            entry(0x20, 0x30, 1, Binding::Local),
            entry(0x40, 0x50, 2, Binding::Local),
            entry(0x200, 0x210, 3, Binding::Local),
        ]);
        let name = |address| table.find(address).map(|entry| entry.name);
        assert_eq!(name(0xf), None);
        assert_eq!(name(0x10), Some(0));
        assert_eq!(name(0x2f), Some(1));
        assert_eq!(name(0x30), Some(0));
        assert_eq!(name(0x4f), Some(2));
        assert_eq!(name(0xff), Some(0));
        assert_eq!(name(0x100), None);
        assert_eq!(name(0x20f), Some(3));
        assert_eq!(name(0x210), None);
    }

    #[test]
    fn variants_of_a_constructor() {
        assert!(are_variants(b"_ZN1aC1Ev", b"_ZN1aC2Ev") && are_variants(b"_ZN1aD0Ev", b"_ZN1aD2Ev"));
        for (left, right) in
            [("_ZN1aC1Ev", "_ZN1bC2Ev"), ("_ZN1aC1Ev", "_ZN1aD1Ev"), ("_ZN1aC1Ev", "_ZN1aC2Ei")]
        {
            assert!(!are_variants(left.as_bytes(), right.as_bytes()));
        }
    }
}
