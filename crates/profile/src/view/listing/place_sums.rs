//! What samples were taken at each place.

use crate::addresses::AddressId;
use crate::profile::Profile;
use crate::view::flame_tree::Sum;

/// Marks a place where no sample was taken.
const NONE: u32 = u32::MAX;

/// For each place what the samples taken there add up to, for each event.
#[derive(Clone, Debug)]
pub struct PlaceSums {
    events: usize,
    /// For each place by number where its sums are.
    slots: Vec<u32>,
    sums: Vec<Sum>,
}

impl PlaceSums {
    /// The sums of a profile.
    pub fn new(profile: &Profile) -> PlaceSums {
        let events = profile.events().len();
        let mut slots = vec![NONE; profile.addresses().len()];
        let mut sums: Vec<Sum> = Vec::new();
        let mut places = 0;
        for row in profile.rows() {
            let Some(slot) = slots.get_mut(row.address.index()) else { continue };
            if *slot == NONE {
                *slot = places;
                places += 1;
                sums.resize(sums.len() + events, Sum::default());
            }
            let at = (*slot as usize).saturating_mul(events).saturating_add(row.event as usize);
            if let Some(sum) = sums.get_mut(at) {
                sum.add(Sum::of(&row));
            }
        }
        PlaceSums { events, slots, sums }
    }

    /// How many events there are.
    pub fn events(&self) -> usize {
        self.events
    }

    /// The sums at a place, one an event; none if no sample was taken there.
    #[inline]
    pub fn at(&self, place: AddressId) -> &[Sum] {
        let slot = self.slots.get(place.index()).copied().unwrap_or(NONE);
        let start = (slot as usize).saturating_mul(self.events);
        match slot {
            NONE => &[],
            _ => self.sums.get(start..start.saturating_add(self.events)).unwrap_or_default(),
        }
    }
}

/// Adds sums to others, event by event.
pub(super) fn add_all(to: &mut [Sum], sums: &[Sum]) {
    to.iter_mut().zip(sums).for_each(|(to, sum)| to.add(*sum));
}
