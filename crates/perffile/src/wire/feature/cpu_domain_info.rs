//! CPU_DOMAIN_INFO (32): the scheduler's domains (Linux 7.0 and later).
//!
//! How many CPUs have an entry is not stored: they go on to the end.

use super::is_fill;
use crate::wire::pass::{Fields, Pass, Step};
use crate::wire::text::HeaderString;

/// From this version of /proc/schedstat on domains have names.
const NAMED_SINCE: u32 = 17;

/// The domains of all CPUs that have any.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuDomainInfo<'a> {
    /// Version of /proc/schedstat.
    pub schedstat_version: u32,
    /// Highest number of a domain, plus one.
    pub max_sched_domains: u32,
    /// One entry a CPU.
    pub cpus: Vec<CpuDomains<'a>>,
}

/// The domains of a CPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuDomains<'a> {
    /// CPU number.
    pub cpu: u32,
    /// Its domains, the smallest first.
    pub domains: Vec<CpuDomain<'a>>,
}

/// A domain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuDomain<'a> {
    /// Its number.
    pub domain: u32,
    /// Its name, such as `MC`; from schedstat version 17 on.
    pub name: Option<HeaderString<'a>>,
    /// Its CPUs as a mask in hex.
    pub cpumask: HeaderString<'a>,
    /// Its CPUs, as `0-3`.
    pub cpulist: HeaderString<'a>,
}

impl<'a> Fields<'a> for CpuDomainInfo<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("schedstat_version", &mut self.schedstat_version)?;
        pass.u32("max_sched_domains", &mut self.max_sched_domains)?;
        // What each domain begins as says whether it has a name.
        let name = (self.schedstat_version >= NAMED_SINCE).then(HeaderString::default);
        let blank = CpuDomains { cpu: 0, domains: vec![CpuDomain { name, ..CpuDomain::default() }] };
        pass.vec_until("cpus", &mut self.cpus, &blank, is_fill)
    }
}

impl<'a> Fields<'a> for CpuDomains<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let blank = self.domains.first().cloned().unwrap_or_default();
        pass.u32("cpu", &mut self.cpu)?;
        let nr = pass.count_u32("nr_domains", self.domains.len())?;
        pass.vec_of("domains", nr, &mut self.domains, &blank)
    }
}

impl<'a> Fields<'a> for CpuDomain<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.u32("domain", &mut self.domain)?;
        if let Some(name) = &mut self.name {
            pass.header_string("name", name)?;
        }
        pass.header_string("cpumask", &mut self.cpumask)?;
        pass.header_string("cpulist", &mut self.cpulist)
    }
}
