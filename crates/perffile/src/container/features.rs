//! The header features of a recording: their bytes, and typed on demand.

use crate::bytes::Bytes;
use crate::place::{Part, Place};
use crate::wire::WireError;
use crate::wire::decode::Decoder;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::auxtrace_index::AuxtraceIndex;
use crate::wire::feature::bpf_btf::BpfBtf;
use crate::wire::feature::bpf_prog_info::BpfProgInfo;
use crate::wire::feature::build_id::BuildIds;
use crate::wire::feature::cache::Caches;
use crate::wire::feature::cln_size::ClnSize;
use crate::wire::feature::clock_data::ClockData;
use crate::wire::feature::clockid::Clockid;
use crate::wire::feature::compressed::Compression;
use crate::wire::feature::cpu_domain_info::CpuDomainInfo;
use crate::wire::feature::cpu_topology::CpuTopology;
use crate::wire::feature::dir_format::DirFormat;
use crate::wire::feature::e_machine::EMachine;
use crate::wire::feature::event_desc::EventDesc;
use crate::wire::feature::file::Files;
use crate::wire::feature::group_desc::GroupDesc;
use crate::wire::feature::hybrid_topology::HybridTopology;
use crate::wire::feature::mem_topology::MemTopology;
use crate::wire::feature::meta_info::MetaInfo;
use crate::wire::feature::nrcpus::Nrcpus;
use crate::wire::feature::numa_topology::NumaTopology;
use crate::wire::feature::pmu_caps::{CpuPmuCaps, PmuCaps};
use crate::wire::feature::pmu_mappings::PmuMappings;
use crate::wire::feature::sample_time::SampleTime;
use crate::wire::feature::{Feature, bit, without_fill};
use crate::wire::pass::CpuCounts;
use crate::wire::registers::Machine;
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

    /// Byte order of the machine that recorded.
    pub fn order(&self) -> ByteOrder {
        self.order
    }

    /// Adds a section by its bit; a second one replaces the first.
    pub fn insert(&mut self, bit: u32, bytes: Bytes, offset: u64) {
        self.sections.insert(bit, Section { bytes, offset });
    }

    /// Puts a feature in, written in the byte order of the recording; it has no offset in a file yet.
    ///
    /// # Errors
    /// A count that does not fit its wire type.
    pub fn set(&mut self, bit: u32, mut feature: Feature<'_>) -> Result<(), WireError> {
        let mut bytes = Vec::new();
        with_order!(self.order, O => feature.encode::<O>(&mut bytes))?;
        self.insert(bit, Bytes::new(bytes), 0);
        Ok(())
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

    /// A feature with its fields, and what its section holds behind those known here, but for zeros that fill it up.
    ///
    /// `None`: the feature is not there, or it was not available when it was recorded: its section is empty, though it
    /// would have fields.
    ///
    /// # Errors
    /// The field at which the bytes end.
    pub fn feature(&self, bit: u32) -> Option<Result<(Feature<'_>, &[u8]), WireError>> {
        let bytes = self.bytes(bit)?;
        match self.decoded(bit, bytes) {
            Err(_) if bytes.is_empty() => None,
            decoded => Some(decoded.map(|(feature, rest)| (feature, without_fill(bytes, rest)))),
        }
    }

    fn decoded<'a>(&self, bit: u32, bytes: &'a [u8]) -> Result<(Feature<'a>, &'a [u8]), WireError> {
        let decoded = with_order!(self.order, O => Feature::decode::<O>(bit, bytes, self.cpu_counts()));
        match &decoded {
            Ok((Feature::BuildId(ids), _)) if ids.lacks_pid() => {
                with_order!(self.order, O => self.old_build_ids::<O>(bytes))
            }
            _ => decoded,
        }
    }

    /// The number of CPUs, for the sections that have an entry for each and do not count them.
    fn cpu_counts(&self) -> CpuCounts {
        let word = |at| self.order.u32_at(self.bytes(bit::NRCPUS)?, at);
        CpuCounts { available: word(0), online: word(4) }
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

    /// The machine, as ARCH or E_MACHINE tell it, as far as it decides the names of registers.
    pub fn machine(&self) -> Option<Machine> {
        let of_elf = || Machine::of_e_machine(self.order.u32_at(self.bytes(bit::E_MACHINE)?, 0)?);
        self.arch().and_then(|arch| Machine::of_arch(&arch)).or_else(of_elf)
    }

    /// Its CPU in words.
    pub fn cpudesc(&self) -> Option<Cow<'_, str>> {
        self.text(bit::CPUDESC)
    }

    /// Its CPU by numbers.
    pub fn cpuid(&self) -> Option<Cow<'_, str>> {
        self.text(bit::CPUID)
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
}

/// Accessors of the features that have a type of their own. `None`: the feature is not there or cannot be decoded; which
/// of them, and why, tells [`Features::feature`].
macro_rules! typed {
    ($( $(#[$meta:meta])* $method:ident: $bit:ident $variant:ident($type:ty) )+) => {
        impl Features {
            $(
                $(#[$meta])*
                pub fn $method(&self) -> Option<$type> {
                    match self.feature(bit::$bit)?.ok()?.0 {
                        Feature::$variant(value) => Some(value),
                        _ => None,
                    }
                }
            )+
        }
    };
}

typed! {
    /// Build-ids of the binaries that got samples.
    build_ids: BUILD_ID BuildId(BuildIds<'_>)
    /// How many CPUs it had.
    nrcpus: NRCPUS Nrcpus(Nrcpus)
    /// Names and ids of the events.
    event_desc: EVENT_DESC EventDesc(EventDesc<'_>)
    /// Which CPUs share a package, a die, a core.
    cpu_topology: CPU_TOPOLOGY CpuTopology(CpuTopology<'_>)
    /// Memory and CPUs of each node.
    numa_topology: NUMA_TOPOLOGY NumaTopology(NumaTopology<'_>)
    /// Names of the PMUs by their numbers.
    pmu_mappings: PMU_MAPPINGS PmuMappings(PmuMappings<'_>)
    /// Events that were opened as groups.
    group_desc: GROUP_DESC GroupDesc(GroupDesc<'_>)
    /// Where the AUXTRACE records lie.
    auxtrace_index: AUXTRACE Auxtrace(AuxtraceIndex<'_>)
    /// The caches.
    caches: CACHE Cache(Caches<'_>)
    /// Times of the first and the last sample, if perf looked.
    sample_time: SAMPLE_TIME SampleTime(SampleTime)
    /// Which blocks of memory belong to which node.
    mem_topology: MEM_TOPOLOGY MemTopology(MemTopology<'_>)
    /// How fine the clock of the recording is.
    clockid: CLOCKID Clockid(Clockid)
    /// How a directory is laid out.
    dir_format: DIR_FORMAT DirFormat(DirFormat)
    /// BPF programs that were loaded.
    bpf_prog_info: BPF_PROG_INFO BpfProgInfo(BpfProgInfo<'_>)
    /// Their type information.
    bpf_btf: BPF_BTF BpfBtf(BpfBtf<'_>)
    /// How records were compressed.
    compression: COMPRESSED Compressed(Compression)
    /// What the PMU `cpu` can do.
    cpu_pmu_caps: CPU_PMU_CAPS CpuPmuCaps(CpuPmuCaps<'_>)
    /// From times of the recording to times of day.
    clock_data: CLOCK_DATA ClockData(ClockData)
    /// Which CPUs each of several core PMUs is for.
    hybrid_topology: HYBRID_TOPOLOGY HybridTopology(HybridTopology<'_>)
    /// What the PMUs other than `cpu` can do.
    pmu_caps: PMU_CAPS PmuCaps(PmuCaps<'_>)
    /// The scheduler's domains.
    cpu_domain_info: CPU_DOMAIN_INFO CpuDomainInfo(CpuDomainInfo<'_>)
    /// What kind of binary was recorded.
    e_machine: E_MACHINE EMachine(EMachine)
    /// Size of a cache line.
    cln_size: CLN_SIZE ClnSize(ClnSize)
    /// Of simpleperf: the device and its options.
    meta_info: META_INFO MetaInfo(MetaInfo<'_>)
    /// Of simpleperf: binaries and their symbols.
    files: FILE File(Files<'_>)
}
