//! Places in code, a column each: there may be millions.

use crate::interner::Store;
use readperf_session::{BinaryId, CodeAddress, CpuMode};

/// Places in code, by index.
#[derive(Clone, Debug, Default)]
pub struct Codes {
    places: Vec<Place>,
    ips: Ips,
}

/// A place, but for where it was when it ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    address: u64,
    binary: Option<BinaryId>,
    mode: CpuMode,
}

/// Where places were when they ran.
#[derive(Clone, Debug)]
enum Ips {
    Each(Vec<u64>),
    /// Nobody asks: their address in the binary stands for it.
    OfBinaries,
}

impl Default for Ips {
    fn default() -> Ips {
        Ips::Each(Vec::new())
    }
}

/// Some places, one behind the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodesSlice<'c> {
    places: &'c [Place],
    /// None if their address in the binary stands for it.
    ips: Option<&'c [u64]>,
}

impl Codes {
    /// Without places, of which nobody asks where they were when they ran ([`CodeAddress::ip`]): their address in the binary stands for it.
    pub(crate) fn of_binaries() -> Codes {
        Codes { places: Vec::new(), ips: Ips::OfBinaries }
    }

    /// Without places, and like these.
    pub(crate) fn like(&self) -> Codes {
        if self.are_of_binaries() { Codes::of_binaries() } else { Codes::default() }
    }

    /// Whether nobody asks where they were when they ran.
    pub(crate) fn are_of_binaries(&self) -> bool {
        matches!(self.ips, Ips::OfBinaries)
    }

    /// All of them.
    #[inline]
    pub fn as_slice(&self) -> CodesSlice<'_> {
        let ips = match &self.ips {
            Ips::Each(ips) => Some(ips.as_slice()),
            Ips::OfBinaries => None,
        };
        CodesSlice { places: &self.places, ips }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Adds a place.
    #[inline]
    pub fn push(&mut self, code: CodeAddress) {
        let CodeAddress { binary, address, ip, mode } = code;
        self.places.push(Place { address, binary, mode });
        if let Ips::Each(ips) = &mut self.ips {
            ips.push(ip);
        }
    }

    /// Forgets all, and keeps the room.
    pub fn clear(&mut self) {
        self.places.clear();
        if let Ips::Each(ips) = &mut self.ips {
            ips.clear();
        }
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
        Codes::len(self)
    }

    #[inline]
    fn get(&self, index: usize) -> Option<CodeAddress> {
        self.as_slice().get(index)
    }

    #[inline]
    fn push(&mut self, code: CodeAddress) {
        Codes::push(self, code);
    }

    fn reserve(&mut self, more: usize) {
        self.places.reserve(more);
        if let Ips::Each(ips) = &mut self.ips {
            ips.reserve(more);
        }
    }

    fn clear(&mut self) {
        Codes::clear(self);
    }

    fn shrink_to_fit(&mut self) {
        self.places.shrink_to_fit();
        if let Ips::Each(ips) = &mut self.ips {
            ips.shrink_to_fit();
        }
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
        let Place { address, binary, mode } = *self.places.get(index)?;
        let ip = match self.ips {
            Some(ips) => *ips.get(index)?,
            None => address,
        };
        Some(CodeAddress { binary, address, ip, mode })
    }

    /// Those behind so many.
    pub fn since(self, before: usize) -> CodesSlice<'c> {
        let places = self.places.get(before..).unwrap_or_default();
        CodesSlice { places, ips: self.ips.map(|ips| ips.get(before..).unwrap_or_default()) }
    }

    /// One after the other.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = CodeAddress> + Clone + use<'c> {
        let ip = move |index: usize| self.ips.and_then(|ips| ips.get(index)).copied();
        self.places.iter().enumerate().map(move |(index, place)| {
            let Place { address, binary, mode } = *place;
            CodeAddress { binary, address, ip: ip(index).unwrap_or(address), mode }
        })
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
