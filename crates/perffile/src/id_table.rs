//! Which event a counter id belongs to: asked once a sample.
//!
//! The kernel numbers counters one after the other, so that the ids of a recording lie close together: then an array does.

use rustc_hash::FxHashMap;

/// How many places an array may have: so many, and so many for each id.
const MOST_PLACES: u64 = 1024;
const MOST_SPREAD: u64 = 8;

/// A place in the array without an id.
const NONE: u32 = u32::MAX;

/// Event indices by id.
#[derive(Clone, Debug, Default)]
pub(crate) struct IdTable {
    all: FxHashMap<u64, u32>,
    lowest: u64,
    highest: u64,
    /// The id of the first place of `dense`.
    first: u64,
    /// Every id, by its distance from `first`; empty if they lie too far apart.
    dense: Vec<u32>,
}

impl IdTable {
    /// The event of an id.
    #[inline]
    pub(crate) fn event(&self, id: u64) -> Option<usize> {
        if self.dense.is_empty() {
            return self.all.get(&id).map(|event| *event as usize);
        }
        let at = usize::try_from(id.wrapping_sub(self.first)).ok()?;
        self.dense.get(at).filter(|event| **event != NONE).map(|event| *event as usize)
    }

    /// Says which event an id belongs to, whatever was known of it; returns whether it is new.
    pub(crate) fn put(&mut self, id: u64, event: usize) -> bool {
        let Ok(event) = u32::try_from(event) else { return false };
        if self.all.is_empty() {
            (self.lowest, self.highest) = (id, id);
        }
        (self.lowest, self.highest) = (self.lowest.min(id), self.highest.max(id));
        let is_new = self.all.insert(id, event).is_none();
        match usize::try_from(id.wrapping_sub(self.first)).ok().and_then(|at| self.dense.get_mut(at)) {
            Some(place) => *place = event,
            None => self.spread(),
        }
        is_new
    }

    /// Makes the array anew, with as much room beside the ids as they take, so that this seldom happens.
    fn spread(&mut self) {
        self.dense = Vec::new();
        let span = self.highest - self.lowest;
        let places = span.saturating_mul(2).saturating_add(2);
        if places > MOST_PLACES + self.all.len() as u64 * MOST_SPREAD {
            return;
        }
        self.first = self.lowest.saturating_sub(span / 2);
        self.dense = vec![NONE; usize::try_from(places).unwrap_or(0)];
        for (id, event) in &self.all {
            let at = usize::try_from(id - self.first).ok().and_then(|at| self.dense.get_mut(at));
            at.into_iter().for_each(|place| *place = *event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_and_far_ids() {
        for step in [1, 5, 1 << 20, 1 << 61] {
            let mut table = IdTable::default();
            for event in (0..3).rev() {
                assert!(table.put(event as u64 * step + 7, event));
            }
            assert_eq!(table.dense.is_empty(), step > 5);
            assert_eq!(table.event(step + 7), Some(1));
            assert_eq!(table.event(2 * step + 7), Some(2));
            for unknown in [0, 6, 3 * step + 7, u64::MAX] {
                assert_eq!(table.event(unknown), None, "{unknown} with step {step}");
            }
        }
    }

    #[test]
    fn as_a_map() {
        // Rising, falling, at the ends of the numbers, and over and over.
        let rising = (0..3000u64).map(|nr| nr * 3 % 4001);
        let falling = (0..3000u64).map(|nr| u64::MAX - nr * 2);
        let ends = [0, u64::MAX, 1, u64::MAX - 1];
        let (mut table, mut map) = (IdTable::default(), std::collections::BTreeMap::new());
        for (event, id) in rising.chain(ends).chain(falling).enumerate() {
            assert_eq!(table.put(id, event), map.insert(id, event).is_none());
        }
        assert!(map.iter().all(|(id, event)| table.event(*id) == Some(*event)));
        assert_eq!(table.event(4002), None);
    }
}
