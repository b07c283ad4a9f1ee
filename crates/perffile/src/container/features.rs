//! The header features of a recording: their bytes, and typed on demand.

use crate::bytes::Bytes;
use crate::place::{Part, Place};
use crate::wire::WireError;
use crate::wire::decode::Decoder;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::build_id::BuildIds;
use crate::wire::feature::event_desc::EventDesc;
use crate::wire::feature::nrcpus::Nrcpus;
use crate::wire::feature::{Feature, bit};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One feature section.
#[derive(Clone, Debug)]
pub struct Section {
    bytes: Bytes,
    offset: u64,
}

/// The header features of a recording.
#[derive(Clone, Debug, Default)]
pub struct Features {
    order: ByteOrder,
    sections: BTreeMap<u32, Section>,
}

impl Features {
    /// None yet.
    pub fn new(order: ByteOrder) -> Self {
        Features { order, sections: BTreeMap::new() }
    }

    /// Adds a section by its bit; a second one replaces the first.
    pub fn insert(&mut self, bit: u32, bytes: Bytes, offset: u64) {
        self.sections.insert(bit, Section { bytes, offset });
    }

    /// The bits of the features that are there, ascending.
    pub fn bits(&self) -> impl Iterator<Item = u32> + '_ {
        self.sections.keys().copied()
    }

    /// Whether a feature is there. Some have no payload: being there is all they say.
    pub fn has(&self, bit: u32) -> bool {
        self.sections.contains_key(&bit)
    }

    /// The bytes of a feature.
    pub fn bytes(&self, bit: u32) -> Option<&[u8]> {
        self.sections.get(&bit).map(|section| &*section.bytes)
    }

    /// Where a feature lies.
    pub fn place(&self, bit: u32) -> Option<Place> {
        self.sections.get(&bit).map(|section| Place::new(Part::Feature(bit), section.offset))
    }

    /// A feature with its fields, and what its section holds behind those known here.
    ///
    /// # Errors
    /// The field at which the bytes end.
    pub fn feature(&self, bit: u32) -> Option<Result<(Feature<'_>, &[u8]), WireError>> {
        let bytes = self.bytes(bit)?;
        let decoded = with_order!(self.order, O => Feature::decode::<O>(bit, bytes));
        if let Ok((Feature::BuildId(ids), _)) = &decoded
            && ids.lacks_pid()
        {
            return Some(with_order!(self.order, O => self.old_build_ids::<O>(bytes)));
        }
        Some(decoded)
    }

    fn old_build_ids<'a, O: crate::wire::endian::Order>(
        &self,
        bytes: &'a [u8],
    ) -> Result<(Feature<'a>, &'a [u8]), WireError> {
        let shape = Default::default();
        let mut decoder = Decoder::<O, _>::new(bytes, &shape, 0);
        let ids = BuildIds::decode_without_pid(&mut decoder)?;
        Ok((Feature::BuildId(ids), decoder.remainder()))
    }

    fn text(&self, bit: u32) -> Option<Cow<'_, str>> {
        match self.feature(bit)?.ok()?.0 {
            Feature::Hostname(text)
            | Feature::Osrelease(text)
            | Feature::Version(text)
            | Feature::Arch(text)
            | Feature::Cpudesc(text)
            | Feature::Cpuid(text) => Some(text.text.display()),
            _ => None,
        }
    }

    /// Name of the machine.
    pub fn hostname(&self) -> Option<Cow<'_, str>> {
        self.text(bit::HOSTNAME)
    }

    /// Release of its kernel.
    pub fn osrelease(&self) -> Option<Cow<'_, str>> {
        self.text(bit::OSRELEASE)
    }

    /// Version of perf.
    pub fn version(&self) -> Option<Cow<'_, str>> {
        self.text(bit::VERSION)
    }

    /// Architecture, as `uname -m` of the machine.
    pub fn arch(&self) -> Option<Cow<'_, str>> {
        self.text(bit::ARCH)
    }

    /// Its CPU in words.
    pub fn cpudesc(&self) -> Option<Cow<'_, str>> {
        self.text(bit::CPUDESC)
    }

    /// Its CPU by numbers.
    pub fn cpuid(&self) -> Option<Cow<'_, str>> {
        self.text(bit::CPUID)
    }

    /// How many CPUs it had.
    pub fn nrcpus(&self) -> Option<Nrcpus> {
        match self.feature(bit::NRCPUS)?.ok()?.0 {
            Feature::Nrcpus(nrcpus) => Some(nrcpus),
            _ => None,
        }
    }

    /// Its memory in KiB.
    pub fn total_mem_kib(&self) -> Option<u64> {
        match self.feature(bit::TOTAL_MEM)?.ok()?.0 {
            Feature::TotalMem(mem) => Some(mem.kib),
            _ => None,
        }
    }

    /// How perf was called, its own path first.
    pub fn cmdline(&self) -> Option<Vec<Cow<'_, str>>> {
        match self.feature(bit::CMDLINE)?.ok()?.0 {
            Feature::Cmdline(cmdline) => Some(cmdline.words.iter().map(|word| word.display()).collect()),
            _ => None,
        }
    }

    /// Names and ids of the events.
    pub fn event_desc(&self) -> Option<EventDesc<'_>> {
        match self.feature(bit::EVENT_DESC)?.ok()?.0 {
            Feature::EventDesc(desc) => Some(desc),
            _ => None,
        }
    }

    /// Build-ids of the binaries that got samples.
    pub fn build_ids(&self) -> Option<BuildIds<'_>> {
        match self.feature(bit::BUILD_ID)?.ok()?.0 {
            Feature::BuildId(ids) => Some(ids),
            _ => None,
        }
    }
}
