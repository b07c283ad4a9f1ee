//! The question about names: addresses of one binary.

use readperf_session::{BinaryId, CodeAddress};
use readperf_symbols::{AddressBatch, Subject};

/// Places of one binary whose names were asked for: what the addresses of the question are here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BinaryPlaces {
    pub(super) binary: BinaryId,
    /// For each place its index among those that have not been learned, and that of its address in the question.
    pub(super) places: Vec<(u32, u32)>,
}

impl BinaryPlaces {
    /// The addresses that are to be [learned](super::Names::learn) next, by binary, in the order of their ids. `subject` says what to
    /// ask about a binary; addresses of other binaries, and those outside of any, are left out.
    pub fn ask(
        new: &[CodeAddress],
        mut subject: impl FnMut(BinaryId) -> Option<Subject>,
    ) -> Vec<(BinaryPlaces, AddressBatch)> {
        let mut wanted: Vec<(BinaryId, u64, u32)> = (0u32..)
            .zip(new)
            .filter_map(|(place, CodeAddress { binary, address, .. })| Some(((*binary)?, *address, place)))
            .collect();
        wanted.sort_unstable();
        let by_binary = wanted.chunk_by(|a, b| a.0 == b.0);
        let questions = by_binary.filter_map(|wanted| {
            let (binary, ..) = *wanted.first()?;
            let subject = subject(binary)?;
            let mut addresses: Vec<u64> = Vec::new();
            let mut places = Vec::with_capacity(wanted.len());
            for (_, address, place) in wanted {
                if addresses.last() != Some(address) {
                    addresses.push(*address);
                }
                places.push((*place, u32::try_from(addresses.len() - 1).unwrap_or(u32::MAX)));
            }
            Some((BinaryPlaces { binary, places }, AddressBatch { subject, addresses }))
        });
        questions.collect()
    }
}
