//! Every variant of the two registries with its declaration. That none is missing is checked by the compiler.

use super::conditions::Declaration;
use super::outline::Outline;
use perffile::wire::attr::EventAttr;
use perffile::wire::feature::{Feature, bit};
use perffile::wire::pass::Fields;
use perffile::wire::record::{Record, kind};
use perffile::wire::sample::SampleId;

/// A type behind a variant, and its name with modules.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Declared {
    pub(crate) number: u32,
    pub(crate) declaration: Declaration,
    pub(crate) type_name: &'static str,
}

fn declared<'a, T: Fields<'a>>(number: u32, _: fn(T) -> Record<'a>) -> Declared {
    Declared {
        number,
        declaration: |setting| Outline::of::<T>(setting),
        type_name: std::any::type_name::<T>(),
    }
}

fn declared_feature<'a, T: Fields<'a>>(number: u32, _: fn(T) -> Feature<'a>) -> Declared {
    Declared {
        number,
        declaration: |setting| Outline::of::<T>(setting),
        type_name: std::any::type_name::<T>(),
    }
}

macro_rules! all_records {
    ($($name:ident $variant:ident),+ $(,)?) => {
        /// The records, in the order of their numbers.
        pub(crate) fn records() -> Vec<Declared> {
            let _exhaustive = |record: &Record<'_>| match record {
                $( Record::$variant(_) => (), )+
                Record::Unknown(_) => (),
            };
            vec![$( declared(kind::$name, Record::$variant) ),+]
        }
    };
}

macro_rules! all_features {
    ($($name:ident $variant:ident),+ $(,)?) => {
        /// The features with a declaration, in the order of their bits.
        pub(crate) fn features() -> Vec<Declared> {
            let _exhaustive = |feature: &Feature<'_>| match feature {
                $( Feature::$variant(_) => (), )+
                Feature::Raw(_) => (),
            };
            vec![$( declared_feature(bit::$name, Feature::$variant) ),+]
        }
    };
}

all_records! {
    MMAP Mmap, LOST Lost, COMM Comm, EXIT Exit, THROTTLE Throttle, UNTHROTTLE Unthrottle, FORK Fork, READ Read,
    SAMPLE Sample, MMAP2 Mmap2, AUX Aux, ITRACE_START ItraceStart, LOST_SAMPLES LostSamples, SWITCH Switch,
    SWITCH_CPU_WIDE SwitchCpuWide, NAMESPACES Namespaces, KSYMBOL Ksymbol, BPF_EVENT BpfEvent, CGROUP Cgroup,
    TEXT_POKE TextPoke, AUX_OUTPUT_HW_ID AuxOutputHwId, CALLCHAIN_DEFERRED CallchainDeferred, HEADER_ATTR HeaderAttr,
    HEADER_EVENT_TYPE HeaderEventType, HEADER_TRACING_DATA HeaderTracingData, HEADER_BUILD_ID HeaderBuildId,
    FINISHED_ROUND FinishedRound, ID_INDEX IdIndex, AUXTRACE_INFO AuxtraceInfo, AUXTRACE Auxtrace,
    AUXTRACE_ERROR AuxtraceError, THREAD_MAP ThreadMap, CPU_MAP CpuMap, STAT_CONFIG StatConfig, STAT Stat,
    STAT_ROUND StatRound, EVENT_UPDATE EventUpdate, TIME_CONV TimeConv, HEADER_FEATURE HeaderFeature,
    COMPRESSED Compressed, FINISHED_INIT FinishedInit, COMPRESSED2 Compressed2, BPF_METADATA BpfMetadata,
    SCHEDSTAT_CPU SchedstatCpu, SCHEDSTAT_DOMAIN SchedstatDomain,
}

all_features! {
    BUILD_ID BuildId, HOSTNAME Hostname, OSRELEASE Osrelease, VERSION Version, ARCH Arch, NRCPUS Nrcpus,
    CPUDESC Cpudesc, CPUID Cpuid, TOTAL_MEM TotalMem, CMDLINE Cmdline, EVENT_DESC EventDesc,
    CPU_TOPOLOGY CpuTopology, NUMA_TOPOLOGY NumaTopology, PMU_MAPPINGS PmuMappings, GROUP_DESC GroupDesc,
    AUXTRACE Auxtrace, CACHE Cache, SAMPLE_TIME SampleTime, MEM_TOPOLOGY MemTopology, CLOCKID Clockid,
    DIR_FORMAT DirFormat, BPF_PROG_INFO BpfProgInfo, BPF_BTF BpfBtf, COMPRESSED Compressed,
    CPU_PMU_CAPS CpuPmuCaps, CLOCK_DATA ClockData, HYBRID_TOPOLOGY HybridTopology, PMU_CAPS PmuCaps,
    CPU_DOMAIN_INFO CpuDomainInfo, E_MACHINE EMachine, CLN_SIZE ClnSize, FILE File, META_INFO MetaInfo,
    FILE2 File2,
}

/// The trailer of the kernel's records.
pub(crate) fn trailer() -> Declared {
    let declaration: Declaration = |setting| Outline::of::<SampleId>(setting);
    Declared { number: 0, declaration, type_name: std::any::type_name::<SampleId>() }
}

/// The attr.
pub(crate) fn attr() -> Declared {
    let declaration: Declaration = |setting| Outline::of::<EventAttr>(setting);
    Declared { number: 0, declaration, type_name: std::any::type_name::<EventAttr>() }
}
