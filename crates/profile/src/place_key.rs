//! What a place is known by before it has a number, in tables of what came last.

use crate::index;
use readperf_session::{Mapping, SpaceVersion};

/// An address, what it is in, and where it is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlaceKey {
    pub(crate) address: u64,
    pub(crate) space: u32,
    /// The bucket of the table that it is looked for in.
    pub(crate) bucket: u32,
}

/// What an address is in. Of some places that is not told: they are not remembered.
mod space {
    pub(super) const NOT_TOLD: u32 = 0;
    /// A binary.
    pub(super) const BINARIES: u32 = 1;
    /// The memory, in a state of its mappings.
    pub(super) const STATES: u32 = 1 << 31;
    /// The memory of a process, where nothing is mapped, in whatever state.
    pub(super) const NOWHERE: u32 = u32::MAX;
}

impl PlaceKey {
    /// A free slot of a table is of this space, in which nothing is.
    pub(crate) const FREE: u32 = space::NOT_TOLD;

    /// No bucket has this number.
    const NO_BUCKET: u32 = u32::MAX;

    /// That of a place which is not remembered.
    const NONE: PlaceKey = PlaceKey { address: 0, space: space::NOT_TOLD, bucket: PlaceKey::NO_BUCKET };

    /// An address in a state of the mappings. Without mappings modes share a state, but not their places.
    #[inline(always)]
    pub(crate) fn in_state(version: SpaceVersion, ip: u64) -> PlaceKey {
        let version = u32::try_from(version.number()).ok().filter(|number| *number != 0);
        let space = version.and_then(|version| space::STATES.checked_add(version));
        PlaceKey::of(ip, space.filter(|space| *space < space::NOWHERE))
    }

    /// An address of user code, where it does not matter when the code ran and where it was then: all processes have the same key for it.
    #[inline(always)]
    pub(crate) fn of_user(mapping: Option<&Mapping>, ip: u64) -> PlaceKey {
        let Some(mapping) = mapping else { return PlaceKey::nowhere(ip) };
        let binary = u32::try_from(mapping.binary.index()).unwrap_or(u32::MAX);
        let space = binary.checked_add(space::BINARIES).filter(|space| *space < space::STATES);
        PlaceKey::of(mapping.address_in_binary(ip), space)
    }

    /// An address of user code where nothing is mapped.
    #[inline(always)]
    pub(crate) fn nowhere(ip: u64) -> PlaceKey {
        PlaceKey::of(ip, Some(space::NOWHERE))
    }

    #[inline(always)]
    fn of(address: u64, space: Option<u32>) -> PlaceKey {
        space.map_or(PlaceKey::NONE, |space| PlaceKey { address, space, ..PlaceKey::NONE })
    }

    /// Whether it is known that nothing is mapped there.
    #[inline(always)]
    pub(crate) fn is_nowhere(self) -> bool {
        self.space == space::NOWHERE
    }

    /// Whether it can be remembered.
    #[inline(always)]
    pub(crate) fn is_told(self) -> bool {
        self.space != space::NOT_TOLD
    }

    /// The same in a table of so many buckets.
    #[inline(always)]
    pub(crate) fn among(self, buckets: usize) -> PlaceKey {
        let bucket = match self.is_told() {
            true => index::bucket(self.address, self.space.into(), buckets),
            false => PlaceKey::NO_BUCKET,
        };
        PlaceKey { bucket, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_session::{Binary, BinaryKind, Session};

    #[test]
    fn the_key_of_user_code_is_its_address_in_its_binary() {
        let mut session = Session::default();
        let mut mapping = |name: &[u8], start: u64, file_offset: u64| {
            let binary =
                Binary { name: name.into(), short_name: name.into(), kind: BinaryKind::User, build_id: None };
            let binary = session.add_binary(binary);
            Mapping { start, end: start + 0x1000, bias: start.wrapping_sub(file_offset), binary, data: false }
        };
        let (here, there) = (mapping(b"/a", 0x5000, 0x2000), mapping(b"/a", 0x9000, 0x2000));
        let other = mapping(b"/b", 0x9000, 0x2000);
        let place = PlaceKey::of_user(Some(&here), 0x5010);
        assert_eq!(place, PlaceKey::of_user(Some(&there), 0x9010), "mapped elsewhere");
        let nowhere = PlaceKey::of_user(None, 0x2010);
        assert!(nowhere.is_nowhere() && !place.is_nowhere());
        let of_no_state = PlaceKey::in_state(SpaceVersion::default(), 0x2010);
        assert!(place.is_told() && nowhere.is_told());
        assert!(!of_no_state.is_told(), "of a state without mappings modes are not told apart");
        let others = [
            PlaceKey::of_user(Some(&here), 0x5011),
            PlaceKey::of_user(Some(&other), 0x9010),
            nowhere,
            of_no_state,
        ];
        for other in others {
            assert_ne!((place.address, place.space), (other.address, other.space), "{other:?}");
            assert_eq!(other.among(64).bucket < 64, other.is_told(), "{other:?}");
        }
    }
}
