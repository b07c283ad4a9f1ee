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
}

impl<'a> Fields<'a> for SchedstatDomain<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u64("timestamp", &mut self.timestamp)?;
        pass.u32("cpu_nr", &mut self.cpu_nr)?;
        pass.u16("version", &mut self.version)?;
        pass.u16("domain", &mut self.domain)?;
        let nr = pass.left().map_or(self.counters.len(), |left| left / List::<DomainCounter>::element_size());
        pass.list("counters", nr as u64, &mut self.counters)
    }
}
