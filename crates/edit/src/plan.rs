//! What is to be done with a recording.

use crate::build_ids::AddedBuildId;
use crate::generated::Dump;
use crate::strip::Strip;
use perffile::wire::attr::{EventAttr, SampleType};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;

/// Which samples stay, by what they say themselves. Lists that are empty let everything through; a sample has to pass all of
/// them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Process ids.
    pub pids: Vec<u32>,
    /// Thread ids.
    pub tids: Vec<u32>,
    /// CPU numbers. Samples without one do not pass.
    pub cpus: Vec<RangeInclusive<u32>>,
    /// Times in ns of the recording's clock, both ends included. Samples without one do not pass.
    pub times_ns: Vec<RangeInclusive<u64>>,
    /// Names of events.
    pub events: Vec<String>,
}

impl Samples {
    /// Whether all pass.
    pub fn is_open(&self) -> bool {
        *self == Samples::default()
    }

    /// Whether something at this place and time passes.
    pub(crate) fn passes_place(&self, cpu: Option<u32>, time_ns: Option<u64>) -> bool {
        let among = |cpu| self.cpus.iter().any(|range| range.contains(&cpu));
        let within = |time| self.times_ns.iter().any(|range| range.contains(&time));
        (self.cpus.is_empty() || cpu.is_some_and(among))
            && (self.times_ns.is_empty() || time_ns.is_some_and(within))
    }

    /// Whether something of this thread passes.
    pub(crate) fn passes_thread(&self, pid: Option<u32>, tid: Option<u32>) -> bool {
        let among =
            |list: &[u32], id: Option<u32>| list.is_empty() || id.is_some_and(|id| list.contains(&id));
        among(&self.pids, pid) && among(&self.tids, tid)
    }
}

/// What is to be done with a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Which samples stay.
    pub samples: Samples,
    /// Of the samples of an event that stay, only every so many-th.
    pub every: Option<NonZeroU32>,
    /// Whether those that are left then keep their period. Else they stand for those that went, too.
    pub keep_period: bool,
    /// Which fields are taken out.
    pub strip: Strip,
    /// Whether records go that cannot be what they claim to be.
    pub repair: bool,
    /// Build-ids of binaries that have none.
    pub build_ids: Vec<AddedBuildId>,
    /// Mappings of generated code, each in the place of that of a dump. Records have to be in order of time then.
    pub dumps: Vec<Dump>,
}

impl Plan {
    /// Whether all records stay as they are.
    pub fn is_idle(&self) -> bool {
        *self == Plan::default()
    }

    /// By how much periods are multiplied.
    pub(crate) fn factor(&self) -> u64 {
        let every = self.every.filter(|_| !self.keep_period);
        every.map_or(1, |every| u64::from(every.get()))
    }

    /// Changes how an event was opened; says whether it did. What is decided here depends on the attr alone.
    pub(crate) fn attr(&self, attr: &mut EventAttr) -> bool {
        let before = attr.clone();
        self.strip.attr(attr);
        // Where samples do not tell their period, that of the event stands for it, and where it has none they count one.
        let has_own = attr.sample_type.has(SampleType::PERIOD) || attr.sample_type.has(SampleType::READ);
        if !has_own && attr.default_period() == attr.sample_period {
            attr.sample_period = attr.sample_period.saturating_mul(self.factor());
        }
        *attr != before
    }
}
