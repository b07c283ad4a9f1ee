//! Which units have code at an address, and whether it is safe to read them.

use std::sync::OnceLock;

use gimli::UnitHeader;
use rayon::prelude::*;

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
    /// Whether all of those nest within bounds, once one address was asked about.
    rangeless_bounded: OnceLock<bool>,
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
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            headers.push(header);
        }
        let stated: Vec<Stated> =
            headers.par_iter().with_min_len(16).map(|header| Stated::read(dwarf, *header)).collect();
        let rangeless = stated.iter().enumerate().filter(|(_, stated)| stated.may_have_more());
        let rangeless = rangeless.map(|(unit, _)| unit).collect();
        let ranges = stated
            .into_iter()
            .enumerate()
            .flat_map(|(unit, stated)| stated.ranges.into_iter().map(move |(begin, end)| (begin, end, unit)));
        let ranges = ranges.collect();
        let bounded = headers.iter().map(|_| OnceLock::new()).collect();
        let (stretches, members) = join(ranges);
        Units { headers, bounded, stretches, members, rangeless, rangeless_bounded: OnceLock::new() }
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
        let all = |units: &[usize]| units.iter().all(|unit| self.is_bounded(dwarf, *unit));
        *self.rangeless_bounded.get_or_init(|| all(&self.rangeless)) && all(self.stated_at(address))
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

/// The ranges that a unit states.
struct Stated {
    ranges: Vec<(u64, u64)>,
    /// Whether all of them could be read.
    is_complete: bool,
}

impl Stated {
    fn read(dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>) -> Stated {
        let mut stated = Stated { ranges: Vec::new(), is_complete: true };
        stated.is_complete = stated.add_all(dwarf, header).is_ok();
        stated
    }

    fn add_all(&mut self, dwarf: &Dwarf<'_>, header: UnitHeader<Slice<'_>>) -> gimli::Result<()> {
        let unit = dwarf.unit(header)?;
        let mut ranges = dwarf.unit_ranges(&unit)?;
        while let Some(range) = ranges.next()? {
            if range.begin < range.end {
                self.ranges.push((range.begin, range.end));
            }
        }
        Ok(())
    }

    fn may_have_more(&self) -> bool {
        !self.is_complete || self.ranges.is_empty()
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
        let rangeless_bounded = OnceLock::new();
        Units { headers, bounded, stretches, members, rangeless, rangeless_bounded }
            .stated_at(address)
            .to_vec()
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
