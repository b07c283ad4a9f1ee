//! Places whose names are wanted beside those of samples: in payloads, and of instructions between branches.

use crate::naming::Namer;
use readperf_profile::{AddressId, Addresses, Known, Names};
use readperf_session::{CodeAddress, Session};

/// The places, and their names as far as they have been learned.
#[derive(Debug, Default)]
pub struct NamedPlaces {
    addresses: Addresses,
    names: Names,
}

impl NamedPlaces {
    /// The number of a place.
    pub fn number(&mut self, code: CodeAddress) -> AddressId {
        self.addresses.number(code)
    }

    /// Learns the names of the places that came since the last time.
    pub fn learn(&mut self, namer: &mut Namer<'_>, session: &Session) {
        if self.names.len() < self.addresses.len() {
            namer.learn(&mut self.names, &self.addresses, session);
        }
    }

    /// What is known of them.
    pub fn known<'k>(&'k self, session: &'k Session) -> Known<'k> {
        Known { session, addresses: &self.addresses, names: &self.names }
    }

    /// The symbol at a place, and how far behind its start the place is in bytes.
    pub fn symbol(&self, place: AddressId) -> Option<(&str, u64)> {
        let function = self.names.function(self.names.function_at(place)?)?;
        let code = self.addresses.get(place)?;
        Some((function.name.as_deref()?, code.address.wrapping_sub(function.address)))
    }
}
