//! What is known of places, on the way or at the end.

use crate::addresses::{AddressId, Addresses};
use crate::codes::CodesSlice;
use crate::names::Names;
use readperf_session::{Binary, BinaryId, CodeAddress, Session};
use rustc_hash::FxHashMap;

/// Places, their binaries and their names.
#[derive(Clone, Copy, Debug)]
pub struct Known<'k> {
    /// Processes, threads, binaries.
    pub session: &'k Session,
    /// The places.
    pub addresses: &'k Addresses,
    /// Their names.
    pub names: &'k Names,
}

/// Places that have just been named.
#[derive(Clone, Copy, Debug)]
pub struct NewPlaces<'k> {
    /// How many came before.
    pub before: usize,
    /// The places.
    pub codes: CodesSlice<'k>,
    /// Their binaries.
    pub binaries: NewBinaries<'k>,
    /// The names of these places, and of those before.
    pub names: &'k Names,
}

/// The binaries of places.
#[derive(Clone, Copy, Debug)]
pub enum NewBinaries<'k> {
    /// All of a session; a [`BinaryId`] is an index.
    All(&'k [Binary]),
    /// Those that are needed.
    Some(&'k FxHashMap<BinaryId, Binary>),
}

impl<'k> Known<'k> {
    /// The places behind so many.
    pub fn since(&self, before: usize) -> NewPlaces<'k> {
        let codes = self.addresses.since(before);
        let binaries = NewBinaries::All(self.session.binaries());
        NewPlaces { before, codes, binaries, names: self.names }
    }
}

impl<'k> NewPlaces<'k> {
    /// The places with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (AddressId, CodeAddress)> + use<'k> {
        let first = u32::try_from(self.before).unwrap_or(u32::MAX);
        (first..).map(AddressId).zip(self.codes.iter())
    }

    /// A binary.
    pub fn binary(&self, id: BinaryId) -> Option<&'k Binary> {
        match self.binaries {
            NewBinaries::All(binaries) => binaries.get(id.index()),
            NewBinaries::Some(binaries) => binaries.get(&id),
        }
    }
}
