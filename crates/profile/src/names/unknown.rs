//! The question about names: addresses of one binary.

use crate::codes::CodesSlice;
use readperf_session::BinaryId;
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
        new: CodesSlice<'_>,
        mut subject: impl FnMut(BinaryId) -> Option<Subject>,
    ) -> Vec<(BinaryPlaces, AddressBatch)> {
        // Binary, address and place, in one number each: there may be millions, and that is sorted several times as fast.
        let pack = |binary: BinaryId, address: u64, place: u32| {
            (binary.index() as u128) << 96 | u128::from(address) << 32 | u128::from(place)
        };
        let places = (0u32..).zip(new.iter());
        let with_binary = places.filter_map(|(place, code)| Some(pack(code.binary?, code.address, place)));
        let mut wanted: Vec<u128> = with_binary.collect();
        wanted.sort_unstable();
        let by_binary = wanted.chunk_by(|a, b| a >> 96 == b >> 96);
        let questions = by_binary.filter_map(|wanted| {
            let binary = new.get(place_of(*wanted.first()?) as usize)?.binary?;
            let subject = subject(binary)?;
            let mut addresses: Vec<u64> = Vec::new();
            let mut places = Vec::with_capacity(wanted.len());
            for packed in wanted {
                let address = address_of(*packed);
                if addresses.last() != Some(&address) {
                    addresses.push(address);
                }
                places.push((place_of(*packed), u32::try_from(addresses.len() - 1).unwrap_or(u32::MAX)));
            }
            Some((BinaryPlaces { binary, places }, AddressBatch { subject, addresses }))
        });
        questions.collect()
    }
}

/// The lowest 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the others are what they are packed with")]
fn place_of(packed: u128) -> u32 {
    packed as u32
}

/// The 64 bits above them.
#[expect(clippy::cast_possible_truncation, reason = "the others are what they are packed with")]
fn address_of(packed: u128) -> u64 {
    (packed >> 32) as u64
}
