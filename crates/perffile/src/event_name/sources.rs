//! What header features say that names are made of: PMUs by number, tracepoints by id.

use crate::features::Features;
use crate::tracepoint::{EventFormat, TracingData};
use crate::wire::endian::ByteOrder;
use crate::wire::feature::bit;
use crate::wire::text::decoded;
use crate::wire::text::until_nul;
use std::collections::BTreeMap;

/// What header features say that names are made of.
#[derive(Clone, Debug, Default)]
pub struct NameSources {
    pmus: BTreeMap<u32, String>,
    tracepoints: BTreeMap<u64, String>,
}

impl NameSources {
    /// Takes PMU_MAPPINGS and TRACING_DATA apart, as far as they can be read. What is wrong with them is for others to say.
    pub fn new(features: &Features, order: ByteOrder) -> Self {
        NameSources {
            pmus: features.bytes(bit::PMU_MAPPINGS).map(|bytes| pmus(bytes, order)).unwrap_or_default(),
            tracepoints: features.bytes(bit::TRACING_DATA).map(tracepoints).unwrap_or_default(),
        }
    }

    /// The name of the PMU with this number.
    pub fn pmu(&self, number: u32) -> Option<&str> {
        self.pmus.get(&number).map(String::as_str)
    }

    /// The name of the tracepoint with this id: `system:name`, or its number.
    pub fn tracepoint(&self, id: u64) -> String {
        self.tracepoints.get(&id).cloned().unwrap_or_else(|| format!("tracepoint:{id}"))
    }
}

/// u32 nr; {u32 type, u32 len, name in len bytes}. The first of two with one number stays.
fn pmus(bytes: &[u8], order: ByteOrder) -> BTreeMap<u32, String> {
    let mut pmus = BTreeMap::new();
    let mut at = 4;
    for _ in 0..order.u32_at(bytes, 0).unwrap_or(0) {
        let (Some(number), Some(len)) = (order.u32_at(bytes, at), order.u32_at(bytes, at + 4)) else { break };
        let end = usize::try_from(len).ok().and_then(|len| len.checked_add(at + 8));
        let Some((end, name)) = end.and_then(|end| Some((end, bytes.get(at + 8..end)?))) else { break };
        pmus.entry(number).or_insert_with(|| decoded(until_nul(name)).into_owned());
        at = end;
    }
    pmus
}

/// Names of the tracepoints by id. The first of two with one id stays.
fn tracepoints(blob: &[u8]) -> BTreeMap<u64, String> {
    let partial;
    let data = match TracingData::parse(blob) {
        Ok(data) => data,
        Err(cut) => {
            partial = cut;
            partial.data
        }
    };
    let abi = data.abi();
    let mut names = BTreeMap::new();
    let ftrace = data.ftrace_formats.iter().map(|text| (&b"ftrace"[..], text));
    let systems =
        data.systems.iter().flat_map(|system| system.formats.iter().map(|text| (system.name, text)));
    for (system, text) in ftrace.chain(systems) {
        let Ok(format) = EventFormat::parse(text, abi) else { continue };
        let Some(id) = format.id else { continue };
        let name = || format!("{}:{}", decoded(system), format.name);
        names.entry(id).or_insert_with(name);
    }
    names
}
