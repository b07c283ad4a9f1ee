//! Which units have code at an address, and whether it is safe to read them.

use std::sync::OnceLock;

use gimli::UnitHeader;

use super::nesting;
use super::{Dwarf, Slice};

/// The units of a file by address.
pub(super) struct Units<'f> {
    headers: Vec<UnitHeader<Slice<'f>>>,
    /// Whether each unit nests within bounds, once it was asked.
    bounded: Vec<OnceLock<bool>>,
    /// Disjoint stretches of addresses, by address.
    stretches: Vec<Stretch>,
    /// The units of all stretches, one after the other.
    members: Vec<usize>,
    /// Units that do not say where their code is: they may be asked about any address.
    rangeless: Vec<usize>,
}

/// Addresses that belong together because the ranges of some units overlap there. Mostly that is one unit.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    begin: u64,
    end: u64,
    /// Where its units are in `members`.
    first: usize,
    last: usize,
}

impl<'f> Units<'f> {
    pub(super) fn read(dwarf: &Dwarf<'f>) -> Units<'f> {
        let mut headers = Vec::new();
        let mut ranges: Vec<(u64, u64, usize)> = Vec::new();
        let mut rangeless = Vec::new();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let number = headers.len();
            headers.push(header);
            let before = ranges.len();
            let complete = add_ranges(dwarf, header, number, &mut ranges);
            if !complete || ranges.len() == before {
                rangeless.push(number);
            }
        }
        let bounded = headers.iter().map(|_| OnceLock::new()).collect();
        let (stretches, members) = join(ranges);
        Units { headers, bounded, stretches, members, rangeless }
    }

    /// How many units there are.
    pub(super) fn len(&self) -> usize {
        self.headers.len()
    }

    /// The first of the units that may have code at the address.
    pub(super) fn first_at(&self, address: u64) -> Option<usize> {
        self.stated_at(address).iter().chain(&self.rangeless).next().copied()
    }

    /// Whether every unit that may have code at the address nests within bounds.
    pub(super) fn are_bounded_at(&self, dwarf: &Dwarf<'f>, address: u64) -> bool {
        self.stated_at(address).iter().chain(&self.rangeless).all(|unit| self.is_bounded(dwarf, *unit))
    }

    fn is_bounded(&self, dwarf: &Dwarf<'f>, unit: usize) -> bool {
        let (Some(known), Some(header)) = (self.bounded.get(unit), self.headers.get(unit)) else {
            return false;
        };
        *known.get_or_init(|| nesting::is_bounded(dwarf, *header))
    }

    fn stated_at(&self, address: u64) -> &[usize] {
        let after = self.stretches.partition_point(|stretch| stretch.begin <= address);
        let stretch = after.checked_sub(1).and_then(|at| self.stretches.get(at));
        let stretch = stretch.filter(|stretch| address < stretch.end);
        stretch.and_then(|stretch| self.members.get(stretch.first..stretch.last)).unwrap_or(&[])
    }
}

/// Adds the ranges that a unit states; whether all of them could be read.
fn add_ranges(
    dwarf: &Dwarf<'_>,
    header: UnitHeader<Slice<'_>>,
    number: usize,
    ranges: &mut Vec<(u64, u64, usize)>,
) -> bool {
    let Ok(unit) = dwarf.unit(header) else { return true };
    let Ok(mut stated) = dwarf.unit_ranges(&unit) else { return false };
    loop {
        match stated.next() {
            Ok(Some(range)) if range.begin < range.end => ranges.push((range.begin, range.end, number)),
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Joins ranges that overlap.
fn join(mut ranges: Vec<(u64, u64, usize)>) -> (Vec<Stretch>, Vec<usize>) {
    ranges.sort_unstable();
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut members: Vec<usize> = Vec::new();
    for (begin, end, unit) in ranges {
        match stretches.last_mut() {
            Some(last) if begin < last.end => last.end = last.end.max(end),
            // Ranges of one unit that follow one another are one.
            Some(last) if begin == last.end && members.get(last.first..) == Some(&[unit]) => last.end = end,
            _ => stretches.push(Stretch { begin, end, first: members.len(), last: members.len() }),
        }
        if let Some(last) = stretches.last_mut() {
            if members.get(last.first..).is_none_or(|known| known.last() != Some(&unit)) {
                members.push(unit);
            }
            last.last = members.len();
        }
    }
    (stretches, members)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ranges: &[(u64, u64, usize)], address: u64) -> Vec<usize> {
        let (stretches, members) = join(ranges.to_vec());
        let (headers, bounded, rangeless) = (Vec::new(), Vec::new(), Vec::new());
        Units { headers, bounded, stretches, members, rangeless }.stated_at(address).to_vec()
    }

    #[test]
    fn units_by_address() {
        let ranges = [(0x10, 0x20, 0), (0x20, 0x30, 0), (0x30, 0x40, 1), (0x38, 0x50, 2), (0x60, 0x61, 0)];
        assert_eq!(at(&ranges, 0xf), []);
        assert_eq!(at(&ranges, 0x1f), [0]);
        assert_eq!(at(&ranges, 0x20), [0]);
        assert_eq!(at(&ranges, 0x30), [1, 2]);
        assert_eq!(at(&ranges, 0x4f), [1, 2]);
        assert_eq!(at(&ranges, 0x50), []);
        assert_eq!(at(&ranges, 0x60), [0]);
        assert_eq!(at(&ranges, 0x61), []);
    }
}
