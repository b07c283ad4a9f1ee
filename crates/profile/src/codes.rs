//! Places in code, a column each: there may be millions.

use crate::interner::Store;
use readperf_session::{BinaryId, CodeAddress, CpuMode};

/// Places in code, by index.
#[derive(Clone, Debug)]
pub struct Codes {
    places: Vec<Place>,
    /// Where they were when they ran; none if nobody asks, and their address in the binary stands for it.
    ips: Option<Vec<u64>>,
}

/// A place, but for where it was when it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    address: u64,
    binary: Option<BinaryId>,
    mode: CpuMode,
}

/// Some places, one behind the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodesSlice<'c> {
    places: &'c [Place],
    ips: Option<&'c [u64]>,
}

impl Default for Codes {
    fn default() -> Codes {
        Codes { places: Vec::new(), ips: Some(Vec::new()) }
    }
}

impl Codes {
    /// Without places, of which nobody asks where they were when they ran ([`CodeAddress::ip`]): their address in the binary stands for it.
    pub(crate) fn of_binaries() -> Codes {
        Codes { places: Vec::new(), ips: None }
    }

    /// Without places, and like these.
    pub(crate) fn like(&self) -> Codes {
        if self.are_of_binaries() { Codes::of_binaries() } else { Codes::default() }
    }

    /// Whether nobody asks where they were when they ran.
    pub(crate) fn are_of_binaries(&self) -> bool {
        self.ips.is_none()
    }

    /// All of them.
    #[inline]
    pub fn as_slice(&self) -> CodesSlice<'_> {
        CodesSlice { places: &self.places, ips: self.ips.as_deref() }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

impl Extend<CodeAddress> for Codes {
    fn extend<I: IntoIterator<Item = CodeAddress>>(&mut self, codes: I) {
        codes.into_iter().for_each(|code| self.push(code));
    }
}

impl FromIterator<CodeAddress> for Codes {
    fn from_iter<I: IntoIterator<Item = CodeAddress>>(codes: I) -> Codes {
        let mut all = Codes::default();
        all.extend(codes);
        all
    }
}

impl Store for Codes {
    type Value = CodeAddress;

    #[inline]
    fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    fn value(&self, index: usize) -> Option<CodeAddress> {
        self.as_slice().get(index)
    }

    #[inline]
    fn push(&mut self, code: CodeAddress) {
        let CodeAddress { binary, address, ip, mode } = code;
        self.places.push(Place { address, binary, mode });
        if let Some(ips) = &mut self.ips {
            ips.push(ip);
        }
    }

    fn reserve(&mut self, more: usize) {
        self.places.reserve(more);
        self.ips.iter_mut().for_each(|ips| ips.reserve(more));
    }

    fn clear(&mut self) {
        self.places.clear();
        self.ips.iter_mut().for_each(Vec::clear);
    }

    fn shrink_to_fit(&mut self) {
        self.places.shrink_to_fit();
        self.ips.iter_mut().for_each(Vec::shrink_to_fit);
    }
}

impl<'c> CodesSlice<'c> {
    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.places.is_empty()
    }

    /// The place with this index.
    #[inline]
    pub fn get(self, index: usize) -> Option<CodeAddress> {
        Some(self.code(index, *self.places.get(index)?))
    }

    /// A place and its index, with where it was when it ran.
    #[inline]
    fn code(self, index: usize, place: Place) -> CodeAddress {
        let Place { address, binary, mode } = place;
        let ip = self.ips.and_then(|ips| ips.get(index)).copied().unwrap_or(address);
        CodeAddress { binary, address, ip, mode }
    }

    /// Those behind so many.
    pub fn since(self, before: usize) -> CodesSlice<'c> {
        let places = self.places.get(before..).unwrap_or_default();
        CodesSlice { places, ips: self.ips.map(|ips| ips.get(before..).unwrap_or_default()) }
    }

    /// One after the other.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = CodeAddress> + Clone + use<'c> {
        self.places.iter().enumerate().map(move |(index, place)| self.code(index, *place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_what_they_were_but_for_what_nobody_asks() {
        let code = |nr: u64| CodeAddress { binary: None, address: nr, ip: nr << 12, mode: CpuMode::User };
        let all: Vec<CodeAddress> = (0..9).map(code).collect();
        let (mut each, mut of_binaries) = (Codes::default(), Codes::of_binaries());
        for codes in [&mut each, &mut of_binaries] {
            codes.extend(all.iter().copied());
            assert_eq!((codes.len(), codes.as_slice().since(7).len()), (9, 2));
            assert_eq!(codes.as_slice().get(9), None);
        }
        assert!(each.as_slice().iter().eq(all.iter().copied()));
        assert_eq!(each.as_slice().since(7).get(1), Some(code(8)));
        let told = |code: CodeAddress| CodeAddress { ip: code.address, ..code };
        assert!(of_binaries.as_slice().since(3).iter().eq(all[3..].iter().copied().map(told)));
        assert_eq!(of_binaries.as_slice().get(5), Some(told(all[5])));
        assert!(of_binaries.like().are_of_binaries() && !each.like().are_of_binaries());
        assert_eq!((size_of::<Place>(), size_of::<CodeAddress>()), (16, 24));
    }
}
