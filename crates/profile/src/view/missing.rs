//! What has no name, and why: by binary and reason.

use crate::profile::Profile;
use readperf_session::BinaryId;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Samples without a name in one binary, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The binary; `None` where no mapping covers the address.
    pub binary: Option<BinaryId>,
    /// Why, in plain words.
    pub reason: String,
    /// What a user can do about it.
    pub remedy: Option<String>,
    /// How many samples, over all events.
    pub samples: u64,
}

impl Profile {
    /// What has no name, most samples first.
    pub fn missing_names(&self) -> Vec<Missing> {
        let mut sums: BTreeMap<(Option<BinaryId>, &str), u64> = BTreeMap::new();
        for row in &self.rows {
            let function = self.names.function_at(row.address).and_then(|id| self.function(id));
            if let Some(function) = function.filter(|function| function.name().is_none()) {
                let reason = function.reason().unwrap_or("its names were not looked up");
                *sums.entry((function.binary, reason)).or_default() += row.samples;
            }
        }
        let missing = |((binary, reason), samples): ((_, &str), _)| Missing {
            binary,
            reason: reason.to_owned(),
            remedy: self.names.remedy(reason).map(str::to_owned),
            samples,
        };
        let mut missing: Vec<Missing> = sums.into_iter().map(missing).collect();
        missing.sort_by_key(|missing| Reverse(missing.samples));
        missing
    }
}
