//! Header features written anew without names.

use super::paths::anonymous;
use super::tokens::{Name, Tokens};
use super::tracing;
use perffile::wire::event_type::EventType;
use perffile::wire::feature::event_desc::DescribedEvent;
use perffile::wire::feature::{Feature, bit};
use perffile::wire::text::HeaderString;
use perffile::write::Edit;
use perffile::{ByteOrder, Features};

/// Features that stay: those that have numbers and names of hardware, and those whose names are known.
const STAY: [u32; 28] = [
    bit::BUILD_ID,
    bit::HOSTNAME,
    bit::OSRELEASE,
    bit::VERSION,
    bit::ARCH,
    bit::NRCPUS,
    bit::CPUDESC,
    bit::CPUID,
    bit::TOTAL_MEM,
    bit::CMDLINE,
    bit::EVENT_DESC,
    bit::CPU_TOPOLOGY,
    bit::NUMA_TOPOLOGY,
    bit::BRANCH_STACK,
    bit::PMU_MAPPINGS,
    bit::GROUP_DESC,
    bit::STAT,
    bit::CACHE,
    bit::SAMPLE_TIME,
    bit::MEM_TOPOLOGY,
    bit::CLOCKID,
    bit::DIR_FORMAT,
    bit::COMPRESSED,
    bit::CPU_PMU_CAPS,
    bit::CLOCK_DATA,
    bit::HYBRID_TOPOLOGY,
    bit::PMU_CAPS,
    bit::E_MACHINE,
];

/// Build-id entries are filled up to this, as perf does it.
const FILLED_TO: usize = 64;

/// Whether a feature stays.
pub(super) fn stays(features: &Features, bit: u32) -> bool {
    let is_flag = perffile::wire::feature::is_flag(bit);
    let is_there = || is_flag || matches!(features.feature(bit), Some(Ok(_)));
    // Of formats of tracepoints the names of the events stay, as tokens.
    let is_tracepoint = |event: &DescribedEvent<'_>| event.attr.kind == EventType::TRACEPOINT;
    match bit {
        bit::TRACING_DATA => features.event_desc().is_some_and(|desc| desc.events.iter().any(is_tracepoint)),
        _ => STAY.contains(&bit) && is_there(),
    }
}

/// What names become.
pub(super) struct Naming<'n, E> {
    pub(super) tokens: &'n mut Tokens,
    pub(super) keeps_build_ids: bool,
    /// Changes the attrs in EVENT_DESC.
    pub(super) inner: &'n mut E,
}

impl<E: Edit> Naming<'_, E> {
    /// The section of a feature in this byte order.
    pub(super) fn section(&mut self, features: &Features, bit: u32, order: ByteOrder) -> Option<Vec<u8>> {
        if bit == bit::TRACING_DATA {
            return tracing::section(self.tokens, features);
        }
        let words = self.words(&features.feature(bit)?.ok()?.0);
        let mut words = words.iter().map(Vec::as_slice);
        let mut next = || words.next().unwrap_or_default();
        let (mut feature, _) = features.feature(bit)?.ok()?;
        feature.clear_remains();
        match &mut feature {
            Feature::Hostname(text) | Feature::Osrelease(text) | Feature::Version(text) => {
                text.text = HeaderString::new(next());
            }
            Feature::Cmdline(cmdline) => cmdline.words = vec![HeaderString::new(b"perf")],
            Feature::EventDesc(desc) => {
                for event in &mut desc.events {
                    event.name = HeaderString::new(next());
                    event.gap.fill(0);
                    self.inner.attr(&mut event.attr);
                }
            }
            Feature::GroupDesc(desc) => {
                desc.groups.iter_mut().for_each(|group| group.name = HeaderString::new(next()));
            }
            Feature::BuildId(ids) => {
                for entry in &mut ids.entries {
                    entry.filename = next();
                    entry.reserved = [0; 3];
                    if !self.keeps_build_ids {
                        entry.build_id = self.tokens.build_id(entry.id());
                    }
                }
            }
            _ => {}
        }
        let mut anew = Features::new(order);
        anew.set(bit, feature).ok()?;
        anew.bytes(bit).map(<[u8]>::to_vec)
    }

    /// The texts that are put into a feature, in their order.
    fn words(&mut self, feature: &Feature<'_>) -> Vec<Vec<u8>> {
        let tokens = &mut *self.tokens;
        match feature {
            Feature::Hostname(text) => vec![tokens.of(Name::Host, text.text.bytes()).into_bytes()],
            // Whoever built a kernel or a perf may have put their name behind the number.
            Feature::Osrelease(text) | Feature::Version(text) => vec![number(text.text.bytes())],
            Feature::EventDesc(desc) => {
                let name =
                    |event: &DescribedEvent<'_>| tokens.event(&event.attr, event.name.bytes()).into_bytes();
                desc.events.iter().map(name).collect()
            }
            Feature::GroupDesc(desc) => {
                let groups = desc.groups.iter();
                let mut name = |name: Option<&[u8]>| match name {
                    Some(name) => tokens.of(Name::Group, name).into_bytes(),
                    None => b"{anon_group}".to_vec(),
                };
                groups.map(|group| name(group.given_name())).collect()
            }
            Feature::BuildId(ids) => {
                let filled_up = |mut name: Vec<u8>| {
                    name.resize((name.len() + 1).next_multiple_of(FILLED_TO), 0);
                    name
                };
                ids.entries.iter().map(|entry| filled_up(anonymous(tokens, entry.name()))).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// The beginning of a release that is a number: of `6.1.0-13-amd64` `6.1.0`.
fn number(text: &[u8]) -> Vec<u8> {
    let number: Vec<u8> =
        text.iter().copied().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').collect();
    number.strip_suffix(b".").map(<[u8]>::to_vec).unwrap_or(number)
}
