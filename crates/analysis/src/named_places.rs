//! Places whose names are wanted beside those of samples: in payloads, and of instructions between branches.

use crate::naming::Namer;
use perffile::Metadata;
use readperf_profile::{AddressId, Addresses, Known, Names};
use readperf_session::{CodeAddress, CpuMode, Session};
use readperf_symbols::{Files, Options};

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
        Some((function.name()?, code.address.wrapping_sub(function.address)))
    }
}

/// Names of kernel addresses, as the mappings are at the end of a recording, and how far behind the start of their symbols they
/// are in bytes.
pub fn name_kernel_addresses(
    asked: &[u64],
    session: &Session,
    metadata: &Metadata,
    options: &Options,
    mut learn: impl FnMut(u64, Option<(&str, u64)>),
) {
    // The kernel is the same in all processes.
    let Some((process, _)) = session.processes_with_ids().next().filter(|_| !asked.is_empty()) else {
        return;
    };
    let files = Files::new();
    let mut namer = Namer::new(&files, options.clone(), metadata);
    let mut places = NamedPlaces::default();
    let numbers: Vec<(u64, AddressId)> =
        asked.iter().map(|ip| (*ip, places.number(session.locate(process, CpuMode::Kernel, *ip)))).collect();
    places.learn(&mut namer, session);
    numbers.into_iter().for_each(|(ip, place)| learn(ip, places.symbol(place)));
}
