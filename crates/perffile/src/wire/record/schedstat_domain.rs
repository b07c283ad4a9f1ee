//! PERF_RECORD_SCHEDSTAT_DOMAIN (86): scheduler counters of a domain. Since perf 7.0.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step};

fields! {
    /// One counter; which one is told by its place and the version of /proc/schedstat.
    #[derive(Copy)]
    pub struct DomainCounter {
        /// The count.
        count: u32,
    }
}
impl Element for DomainCounter {}

/// A domain's counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SchedstatDomain<'a> {
    /// Jiffies.
    pub timestamp: u64,
    /// CPU number.
    pub cpu_nr: u32,
    /// Version of /proc/schedstat.
    pub version: u16,
    /// Number of the domain.
    pub domain: u16,
    /// The counters.
    pub counters: List<'a, DomainCounter>,
    /// What pads the record to eight bytes; more where a writer leaves room for a newer version.
    pub padding: &'a [u8],
}

/// How many counters a version has; `None`: not known, then all that is there is taken for counters. Each of the three
/// kinds of idleness has 8 of them, 11 from version 17 on, where four took the place of `imbalance`; 12 go for all kinds.
fn counters_of(version: u16) -> Option<usize> {
    match version {
        15 | 16 => Some(3 * 8 + 12),
        17 => Some(3 * 11 + 12),
        _ => None,
    }
}

impl<'a> Fields<'a> for SchedstatDomain<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u64("timestamp", &mut self.timestamp)?;
        pass.u32("cpu_nr", &mut self.cpu_nr)?;
        pass.u16("version", &mut self.version)?;
        pass.u16("domain", &mut self.domain)?;
        let nr = pass.left().map_or(self.counters.len(), |left| {
            let there = left / List::<DomainCounter>::element_size();
            counters_of(self.version).map_or(there, |known| known.min(there))
        });
        pass.list("counters", nr as u64, &mut self.counters)?;
        pass.rest("padding", &mut self.padding)
    }
}
