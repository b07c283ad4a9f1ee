//! What a recording tells besides its samples, as far as sort keys need it: cgroups, sockets, tracepoint formats.

use crate::detail::DetailField;
use crate::payload_names::PayloadNames;
use crate::profile::Profile;
use perffile::tracepoint::{Catalog, TracingData};
use perffile::wire::feature::bit;
use perffile::wire::record::{Record, kind, namespaces};
use perffile::{Event, Metadata};
use rustc_hash::FxHashMap;

/// What a recording tells besides its samples.
#[derive(Debug, Default)]
pub struct Surroundings {
    cgroups: FxHashMap<u64, Box<[u8]>>,
    /// Device and inode of the cgroup namespace of each thread, as told last.
    cgroup_namespaces: FxHashMap<u32, (u64, u64)>,
    sockets: Vec<u32>,
    catalog: Catalog,
    /// Names of kernel addresses in payloads.
    symbols: PayloadNames,
    /// For each event the id of its tracepoint.
    tracepoints: Vec<Option<u64>>,
    /// Names of the events.
    events: Vec<String>,
}

impl Surroundings {
    /// Takes in a record on the way.
    pub fn see(&mut self, event: &Event<'_>) {
        match event.head().kind {
            kind::CGROUP => {
                if let Ok((Record::Cgroup(cgroup), _)) = event.record() {
                    self.cgroups.insert(cgroup.cgroup_id, cgroup.path.bytes().into());
                }
            }
            kind::NAMESPACES => {
                if let Ok((Record::Namespaces(told), _)) = event.record()
                    && let Some(cgroup) = told.namespaces.iter().nth(namespaces::CGROUP)
                {
                    self.cgroup_namespaces.insert(told.tid, (cgroup.dev, cgroup.inode));
                }
            }
            _ => {}
        }
    }

    /// Takes in what the header tells, now that it is known.
    pub fn learn(&mut self, metadata: &Metadata) {
        if let Some(topology) = metadata.features.cpu_topology() {
            self.sockets = topology.cpus.iter().map(|cpu| cpu.socket_id).collect();
        }
        if let Some(blob) = metadata.features.bytes(bit::TRACING_DATA) {
            self.catalog = match TracingData::parse(blob) {
                Ok(data) => Catalog::new(&data),
                Err(partial) => Catalog::new(&partial.data),
            };
        }
        let events = metadata.schema.events();
        self.tracepoints = events.iter().map(|event| event.attr.tracepoint()).collect();
        self.events = events.iter().map(|event| event.name.clone()).collect();
    }

    /// The path of a cgroup.
    pub fn cgroup(&self, id: u64) -> Option<&[u8]> {
        self.cgroups.get(&id).map(|path| &**path)
    }

    /// Device and inode of the cgroup namespace of a thread.
    pub fn cgroup_namespace(&self, tid: u32) -> Option<(u64, u64)> {
        self.cgroup_namespaces.get(&tid).copied()
    }

    /// The socket of a CPU; unknown if it was offline.
    pub fn socket(&self, cpu: u32) -> Option<u32> {
        self.sockets.get(cpu as usize).copied().filter(|socket| *socket != u32::MAX)
    }

    /// The formats of tracepoints.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The kernel addresses that the texts of a profile's tracepoints show as symbols, ascending; as far as payloads were kept.
    pub fn symbol_addresses(&self, profile: &Profile) -> Vec<u64> {
        let mut addresses = Vec::new();
        let known = self.tracepoints.iter().enumerate();
        for (event, id) in known.filter_map(|(event, id)| Some((event, (*id)?))) {
            for row in profile.rows_of(event) {
                let payload = profile.details.value(row.detail, DetailField::Raw);
                addresses.extend(self.catalog.symbol_addresses(id, profile.details.bytes(payload)));
            }
        }
        addresses.sort_unstable();
        addresses.dedup();
        addresses
    }

    /// Takes the name of a kernel address, and how far behind the start of the symbol it is in bytes.
    pub fn learn_symbol(&mut self, address: u64, name: Option<(&str, u64)>) {
        self.symbols.learn(address, name);
    }

    /// Names of kernel addresses in payloads.
    pub fn symbols(&self) -> &PayloadNames {
        &self.symbols
    }

    /// The tracepoint of an event.
    pub fn tracepoint(&self, event: u32) -> Option<u64> {
        self.tracepoints.get(event as usize).copied().flatten()
    }

    /// The name of an event.
    pub fn event(&self, event: u32) -> Option<&str> {
        self.events.get(event as usize).map(String::as_str)
    }
}
