//! Samples, one by one, to a profile. Holds one entry for each event, thread name and address, however many samples.

use crate::profile::{AddressId, EventTotal, Function, FunctionId, Profile, Weight};
use perffile::Schema;
use readperf_session::{CodeAddress, CommId, SampleMoment};
use rustc_hash::FxHashMap;

/// Adds up samples.
#[derive(Debug, Default)]
pub struct Builder {
    totals: Vec<(u64, u64)>,
    addresses: FxHashMap<CodeAddress, AddressId>,
    weights: FxHashMap<(u32, CommId, AddressId), (u64, u64)>,
}

impl Builder {
    /// Nothing yet.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Adds a sample: for each event it stands for, its share.
    #[inline]
    pub fn add(&mut self, sample: &SampleMoment<'_>, shares: &[perffile::Share]) {
        let next = AddressId(u32::try_from(self.addresses.len()).unwrap_or(u32::MAX));
        let address = *self.addresses.entry(sample.code).or_insert(next);
        for share in shares {
            if self.totals.len() <= share.event {
                self.totals.resize(share.event + 1, (0, 0));
            }
            if let Some(total) = self.totals.get_mut(share.event) {
                add(total, share.period);
            }
            let event = u32::try_from(share.event).unwrap_or(u32::MAX);
            add(self.weights.entry((event, sample.comm, address)).or_default(), share.period);
        }
    }

    /// Freezes what has been added.
    pub fn finish(self, schema: &Schema) -> Profile {
        let total = |nr: usize| self.totals.get(nr).copied().unwrap_or_default();
        let events = schema.events().iter().enumerate().map(|(nr, event)| {
            let (samples, period) = total(nr);
            EventTotal { name: event.name.clone(), samples, period }
        });
        let mut addresses: Vec<(AddressId, CodeAddress)> =
            self.addresses.into_iter().map(|(code, id)| (id, code)).collect();
        addresses.sort_unstable_by_key(|(id, _)| *id);
        let addresses: Vec<CodeAddress> = addresses.into_iter().map(|(_, code)| code).collect();
        let mut weights: Vec<Weight> = self
            .weights
            .into_iter()
            .map(|((event, comm, address), (samples, period))| Weight { event, comm, address, samples, period })
            .collect();
        weights.sort_unstable_by_key(|weight| (weight.event, weight.comm, weight.address));
        let functions = addresses.iter().map(|code| Function {
            binary: code.binary,
            name: None,
            address: code.address,
            source_file: None,
            reason: None,
        });
        let function_of = (0u32..).map(FunctionId).take(addresses.len()).collect();
        Profile { events: events.collect(), functions: functions.collect(), function_of, addresses, weights }
    }
}

fn add(sum: &mut (u64, u64), period: u64) {
    sum.0 += 1;
    sum.1 = sum.1.wrapping_add(period);
}
