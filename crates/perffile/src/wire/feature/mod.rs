//! Header features: one file each, one line each in the registry below.
//!
//! A feature is a section of a file, or the payload of a HEADER_FEATURE record of a pipe; the bytes are the same.

use super::WireError;
use super::attr::SampleShape;
use super::declare::module;
use super::decode::{Decoder, ShapeSource};
use super::describe::{Describe, Sink};
use super::encode::Encoder;
use super::endian::Order;
use super::measure::Measure;
use super::names::{Names, Text};
use super::pass::{CpuCounts, Declarations, Fields};

/// What is known of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureKind {
    /// Its bit.
    pub bit: u32,
    /// Its name in perf, without `HEADER_`.
    pub name: &'static str,
}

/// What the layout of a feature depends on beyond its bytes.
#[derive(Clone, Copy, Debug)]
struct FeatureContext {
    shape: SampleShape,
    cpus: CpuCounts,
}

impl ShapeSource for FeatureContext {
    fn shape(&self) -> &SampleShape {
        &self.shape
    }
    fn cpu_counts(&self) -> CpuCounts {
        self.cpus
    }
}

/// What the registry declares for [`Feature`].
macro_rules! features {
    (
        typed { $( $bit:literal $name:ident $variant:ident($module:ident::$($type:tt)+) $($again:ident)? => $method:ident $(as $told:ty)?, $doc:literal; )* }
        raw { $( $raw_bit:literal $raw_name:ident, )* }
    ) => {
        $( module!($module $($again)?); )*

        /// A typed feature.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Feature<'a> {
            $(
                #[doc = concat!("HEADER_", stringify!($name), " (", stringify!($bit), "): ", $doc)]
                $variant($module::$($type)+),
            )*
            /// One without a declaration here: its bytes.
            Raw(&'a [u8]),
        }

        /// Every known feature that is declared, then those that are only named.
        pub const FEATURES: &[FeatureKind] = &[
            $( FeatureKind { bit: $bit, name: stringify!($name) }, )*
            $( FeatureKind { bit: $raw_bit, name: stringify!($raw_name) }, )*
        ];

        /// Bits of the features.
        pub mod bit {
            $( #[doc = concat!("HEADER_", stringify!($name))] pub const $name: u32 = $bit; )*
            $( #[doc = concat!("HEADER_", stringify!($raw_name))] pub const $raw_name: u32 = $raw_bit; )*
        }

        #[allow(clippy::extra_unused_lifetimes, reason = "the types in the lines of the registry use it")]
        /// Shows every declaration of the registry, in the order of their numbers.
        pub fn each_declaration<'a>(seen: &mut impl Declarations) {
            $( seen.declaration::<$module::$($type)+>($bit); )*
        }

        impl<'a> Feature<'a> {
            /// Decodes a feature section, and what it holds behind the fields known here. `cpus` is what NRCPUS says, if
            /// it is there: some sections have an entry per CPU and do not say how many that are.
            ///
            /// # Errors
            /// The field at which the bytes end.
            pub fn decode<O: Order>(
                bit: u32,
                bytes: &'a [u8],
                cpus: CpuCounts,
            ) -> Result<(Feature<'a>, &'a [u8]), WireError> {
                let mut decoder = Decoder::<O, _>::new(bytes, FeatureContext { shape: SampleShape::default(), cpus }, 0);
                let feature = match bit {
                    $( $bit => Feature::$variant(decoder.value()?), )*
                    _ => return Ok((Feature::Raw(bytes), &[])),
                };
                Ok((feature, decoder.remainder()))
            }

            /// Its bit; `None` where it is not known which one the bytes are.
            pub fn bit(&self) -> Option<u32> {
                match self {
                    $( Feature::$variant(..) => Some($bit), )*
                    Feature::Raw(_) => None,
                }
            }

            /// Appends the section to `out`.
            ///
            /// # Errors
            /// A count that does not fit its wire type.
            pub fn encode<O: Order>(&mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
                let shape = SampleShape::default();
                let mut encoder = Encoder::<O>::new(out, &shape, 0);
                match self {
                    $( Feature::$variant(value) => value.fields(&mut encoder), )*
                    Feature::Raw(bytes) => super::pass::Pass::rest(&mut encoder, "bytes", bytes),
                }
            }

            /// Size of the section in bytes.
            pub fn size(&mut self) -> usize {
                let shape = SampleShape::default();
                match self {
                    $( Feature::$variant(value) => Measure::of(value, &shape, 0), )*
                    Feature::Raw(bytes) => bytes.len(),
                }
            }

            /// Takes out what may be left behind the ends of its texts: perf does not clear what it fills up with.
            pub fn clear_remains(&mut self) {
                let shape = SampleShape::default();
                let mut pass =
                    Names { seen: |text: Text<'_, 'a>| text.without_remains(), shape: &shape, misc: 0 };
                // Nothing in this pass fails but counts too large for their wire type, which cannot have been read.
                let _ = match self {
                    $( Feature::$variant(value) => value.fields(&mut pass), )*
                    Feature::Raw(_) => Ok(()),
                };
            }

            /// Tells `sink` every field.
            pub fn describe(&mut self, sink: &mut impl Sink) {
                let shape = SampleShape::default();
                let mut pass = Describe::new(sink, &shape, 0);
                // Fails on nothing but counts too large for their wire type, and then has told all before it.
                let _ = match self {
                    $( Feature::$variant(value) => value.fields(&mut pass), )*
                    Feature::Raw(bytes) => super::pass::Pass::rest(&mut pass, "bytes", bytes),
                };
            }
        }
    };
}

/// The registry: of each feature its bit, its name in perf, its variant and type, the accessor of
/// [`Features`](crate::Features) with the type it returns, and what it says. The macro `$with` is called with all of them.
macro_rules! feature_registry {
    ($with:ident) => { $with! {
    typed {
        2 BUILD_ID BuildId(build_id::BuildIds<'a>) => build_ids, "Build-ids of the binaries that got samples.";
        3 HOSTNAME Hostname(text::Text<'a>) => hostname as Cow<'a, str>, "Name of the machine.";
        4 OSRELEASE Osrelease(text::Text<'a>) again => osrelease as Cow<'a, str>, "Release of its kernel.";
        5 VERSION Version(text::Text<'a>) again => version as Cow<'a, str>, "Version of perf.";
        6 ARCH Arch(text::Text<'a>) again => arch as Cow<'a, str>, "Architecture, as `uname -m` of the machine.";
        7 NRCPUS Nrcpus(nrcpus::Nrcpus) => nrcpus, "How many CPUs it had.";
        8 CPUDESC Cpudesc(text::Text<'a>) again => cpudesc as Cow<'a, str>, "Its CPU in words.";
        9 CPUID Cpuid(text::Text<'a>) again => cpuid as Cow<'a, str>, "Its CPU by numbers.";
        10 TOTAL_MEM TotalMem(total_mem::TotalMem) => total_mem_kib as u64, "Its memory in KiB.";
        11 CMDLINE Cmdline(cmdline::Cmdline<'a>) => cmdline as Vec<Cow<'a, str>>, "How perf was called, its own path first.";
        12 EVENT_DESC EventDesc(event_desc::EventDesc<'a>) => event_desc, "Names and ids of the events.";
        13 CPU_TOPOLOGY CpuTopology(cpu_topology::CpuTopology<'a>) => cpu_topology, "Which CPUs share a package, a die, a core.";
        14 NUMA_TOPOLOGY NumaTopology(numa_topology::NumaTopology<'a>) => numa_topology, "Memory and CPUs of each node.";
        16 PMU_MAPPINGS PmuMappings(pmu_mappings::PmuMappings<'a>) => pmu_mappings, "Names of the PMUs by their numbers.";
        17 GROUP_DESC GroupDesc(group_desc::GroupDesc<'a>) => group_desc, "Events that were opened as groups.";
        18 AUXTRACE Auxtrace(auxtrace_index::AuxtraceIndex<'a>) => auxtrace_index, "Where the AUXTRACE records lie.";
        20 CACHE Cache(cache::Caches<'a>) => caches, "The caches.";
        21 SAMPLE_TIME SampleTime(sample_time::SampleTime) => sample_time, "Times of the first and the last sample, if perf looked.";
        22 MEM_TOPOLOGY MemTopology(mem_topology::MemTopology<'a>) => mem_topology, "Which blocks of memory belong to which node.";
        23 CLOCKID Clockid(clockid::Clockid) => clockid, "How fine the clock of the recording is.";
        24 DIR_FORMAT DirFormat(dir_format::DirFormat) => dir_format, "How a directory is laid out.";
        25 BPF_PROG_INFO BpfProgInfo(bpf_prog_info::BpfProgInfo<'a>) => bpf_prog_info, "BPF programs that were loaded.";
        26 BPF_BTF BpfBtf(bpf_btf::BpfBtf<'a>) => bpf_btf, "Their type information.";
        27 COMPRESSED Compressed(compressed::Compression) => compression, "How records were compressed.";
        28 CPU_PMU_CAPS CpuPmuCaps(pmu_caps::CpuPmuCaps<'a>) => cpu_pmu_caps, "What the PMU `cpu` can do.";
        29 CLOCK_DATA ClockData(clock_data::ClockData) => clock_data, "From times of the recording to times of day.";
        30 HYBRID_TOPOLOGY HybridTopology(hybrid_topology::HybridTopology<'a>) => hybrid_topology, "Which CPUs each of several core PMUs is for.";
        31 PMU_CAPS PmuCaps(pmu_caps::PmuCaps<'a>) again => pmu_caps, "What the PMUs other than `cpu` can do.";
        32 CPU_DOMAIN_INFO CpuDomainInfo(cpu_domain_info::CpuDomainInfo<'a>) => cpu_domain_info, "The scheduler's domains.";
        33 E_MACHINE EMachine(e_machine::EMachine) => e_machine, "What kind of binary was recorded.";
        34 CLN_SIZE ClnSize(cln_size::ClnSize) => cln_size, "Size of a cache line.";
        128 FILE File(file::Files<'a>) => files, "Of simpleperf: binaries and their symbols.";
        129 META_INFO MetaInfo(meta_info::MetaInfo<'a>) => meta_info, "Of simpleperf: the device and its options.";
        132 FILE2 File2(file2::FileMessages<'a>) => file_messages, "Of simpleperf: binaries and their symbols, as messages.";
    }
    raw {
        1 TRACING_DATA,
        15 BRANCH_STACK,
        19 STAT,
        130 DEBUG_UNWIND,
        131 DEBUG_UNWIND_FILE,
        133 ETM_BRANCH_LIST,
        134 INIT_MAP,
    }
} };
}

feature_registry!(features);
pub(crate) use feature_registry;

/// Whether a feature has no payload: that its bit is set is all it says.
pub fn is_flag(bit: u32) -> bool {
    matches!(bit, bit::BRANCH_STACK | bit::STAT)
}

/// What a payload is filled up to in a pipe, in bytes (perf 6.12 and later).
const FILLED_TO: usize = 8;

/// Whether the end of a payload only fills it up: zeros, too few to be a word of their own.
pub(crate) fn is_fill(end: &[u8]) -> bool {
    end.len() < FILLED_TO && end.iter().all(|byte| *byte == 0)
}

/// What lies behind the known fields of a payload, without the zeros that fill it up.
pub(crate) fn without_fill<'a>(payload: &[u8], rest: &'a [u8]) -> &'a [u8] {
    if payload.len().is_multiple_of(FILLED_TO) && is_fill(rest) { &[] } else { rest }
}

/// Name of a feature without `HEADER_`, if it has one.
pub fn name(bit: u32) -> Option<&'static str> {
    FEATURES.iter().find(|kind| kind.bit == bit).map(|kind| kind.name)
}
