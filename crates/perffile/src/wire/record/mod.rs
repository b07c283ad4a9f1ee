//! Every record type: one file each, one line each in the registry below.

use super::WireError;
use super::attr::SampleShape;
use super::declare::module;
use super::decode::Decoder;
use super::describe::{Describe, Sink};
use super::encode::Encoder;
use super::endian::Order;
use super::measure::Measure;
use super::names::{Names, Text};
use super::pass::{Declarations, Fields};
use super::sample;
use super::text::CStr8;

/// What is known of a record type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordKind {
    /// Its number.
    pub number: u32,
    /// Its name in the kernel or in perf, without `PERF_RECORD_`.
    pub name: &'static str,
    /// First Linux or perf that writes it.
    pub since: &'static str,
}

/// The registry: number, name, variant, module and type (`again`: the module is declared elsewhere), first version. From it come [`Record`], [`RECORDS`], and
/// the dispatch of all passes.
macro_rules! records {
    (
        $( $number:literal $name:ident $variant:ident($module:ident::$($type:tt)+) $($again:ident)? $since:literal, )*
    ) => {
        $( module!($module $($again)?); )*

        /// A typed record.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(clippy::large_enum_variant)] // Short-lived, and a SAMPLE is what most records are.
        pub enum Record<'a> {
            $(
                #[doc = concat!("PERF_RECORD_", stringify!($name), " (", stringify!($number), "), since ", $since, ".")]
                $variant($module::$($type)+),
            )*
            /// A type this reader does not know: its body.
            Unknown(&'a [u8]),
        }

        /// Every known record type, by number.
        pub const RECORDS: &[RecordKind] =
            &[$( RecordKind { number: $number, name: stringify!($name), since: $since } ),*];

        /// Names of the record types, as numbers.
        pub mod kind {
            $(
                #[doc = concat!("PERF_RECORD_", stringify!($name))]
                pub const $name: u32 = $number;
            )*
        }

        /// The same under the names of the variants of [`Record`](super::Record), for [`record_handlers!`](crate::record_handlers).
        #[doc(hidden)]
        #[allow(non_upper_case_globals)]
        pub mod number_of {
            $( pub const $variant: u32 = $number; )*
        }

        #[allow(clippy::extra_unused_lifetimes, reason = "the types in the lines of the registry use it")]
        /// Shows every declaration of the registry, in the order of their numbers.
        pub fn each_declaration<'a>(seen: &mut impl Declarations) {
            $( seen.declaration::<$module::$($type)+>($number); )*
        }

        impl<'a> Record<'a> {
            /// Decodes the body of a record of this type (head and trailer taken off), and what the body holds behind the
            /// fields known here.
            ///
            /// # Errors
            /// The field at which the bytes end.
            pub fn decode<O: Order>(
                number: u32,
                body: &'a [u8],
                shape: &SampleShape,
                misc: u16,
            ) -> Result<(Record<'a>, &'a [u8]), WireError> {
                let mut decoder = Decoder::<O, _>::new(body, shape, misc);
                let record = match number {
                    $( $number => Record::$variant(decoder.value()?), )*
                    _ => return Ok((Record::Unknown(body), &[])),
                };
                Ok((record, decoder.remainder()))
            }

            /// Its number; `None` for an unknown one.
            pub fn number(&self) -> Option<u32> {
                match self {
                    $( Record::$variant(..) => Some($number), )*
                    Record::Unknown(_) => None,
                }
            }

            /// Appends the body to `out`.
            ///
            /// # Errors
            /// A count that does not fit its wire type.
            pub fn encode<O: Order>(&mut self, out: &mut Vec<u8>, shape: &SampleShape, misc: u16) -> Result<(), WireError> {
                let mut encoder = Encoder::<O>::new(out, shape, misc);
                match self {
                    $( Record::$variant(value) => value.fields(&mut encoder), )*
                    Record::Unknown(body) => super::pass::Pass::rest(&mut encoder, "body", body),
                }
            }

            /// Size of the body in bytes.
            pub fn size(&mut self, shape: &SampleShape, misc: u16) -> usize {
                match self {
                    $( Record::$variant(value) => Measure::of(value, shape, misc), )*
                    Record::Unknown(body) => body.len(),
                }
            }

            /// Shows every name that the record ends with: of most records none.
            pub fn each_name(&mut self, shape: &SampleShape, misc: u16, mut seen: impl FnMut(&mut CStr8<'a>)) {
                self.each_text(shape, misc, |text| {
                    if let Text::Name(name) = text {
                        seen(name);
                    }
                });
            }

            /// Takes out what may be left behind the ends of its texts: perf does not clear what it fills up with.
            pub fn clear_remains(&mut self, shape: &SampleShape, misc: u16) {
                self.each_text(shape, misc, |text| text.without_remains());
            }

            fn each_text(&mut self, shape: &SampleShape, misc: u16, seen: impl FnMut(Text<'_, 'a>)) {
                let mut pass = Names { seen, shape, misc };
                // Nothing in this pass fails but counts too large for their wire type, which no record with a name has.
                let _ = match self {
                    $( Record::$variant(value) => value.fields(&mut pass), )*
                    Record::Unknown(_) => Ok(()),
                };
            }

            /// Tells `sink` every field.
            pub fn describe(&mut self, sink: &mut impl Sink, shape: &SampleShape, misc: u16) {
                self.describe_by(&mut Describe::new(sink, shape, misc));
            }

            /// Tells the sink of a pass every field.
            pub fn describe_by(&mut self, pass: &mut Describe<'_, '_, impl Sink>) {
                // This pass fails on nothing but counts too large for their wire type, and then has told all before it.
                let _ = match self {
                    $( Record::$variant(value) => value.fields(pass), )*
                    Record::Unknown(body) => super::pass::Pass::rest(pass, "body", body),
                };
            }
        }
    };
}

records! {
    1 MMAP Mmap(mmap::Mmap<'a>) "Linux 2.6.31",
    2 LOST Lost(lost::Lost) "Linux 2.6.31",
    3 COMM Comm(comm::Comm<'a>) "Linux 2.6.31",
    4 EXIT Exit(task::Task) "Linux 2.6.31",
    5 THROTTLE Throttle(throttle::Throttle) "Linux 2.6.31",
    6 UNTHROTTLE Unthrottle(throttle::Throttle) again "Linux 2.6.31",
    7 FORK Fork(task::Task) again "Linux 2.6.31",
    8 READ Read(read::ThreadRead<'a>) "Linux 2.6.31",
    9 SAMPLE Sample(sample::Sample<'a>) again "Linux 2.6.31",
    10 MMAP2 Mmap2(mmap2::Mmap2<'a>) "Linux 3.12",
    11 AUX Aux(aux::Aux) "Linux 4.1",
    12 ITRACE_START ItraceStart(itrace_start::ItraceStart) "Linux 4.1",
    13 LOST_SAMPLES LostSamples(lost_samples::LostSamples) "Linux 4.2",
    14 SWITCH Switch(switch::Switch) "Linux 4.3",
    15 SWITCH_CPU_WIDE SwitchCpuWide(switch_cpu_wide::SwitchCpuWide) "Linux 4.3",
    16 NAMESPACES Namespaces(namespaces::Namespaces<'a>) "Linux 4.12",
    17 KSYMBOL Ksymbol(ksymbol::Ksymbol<'a>) "Linux 5.1",
    18 BPF_EVENT BpfEvent(bpf_event::BpfEvent) "Linux 5.1",
    19 CGROUP Cgroup(cgroup::Cgroup<'a>) "Linux 5.7",
    20 TEXT_POKE TextPoke(text_poke::TextPoke<'a>) "Linux 5.9",
    21 AUX_OUTPUT_HW_ID AuxOutputHwId(aux_output_hw_id::AuxOutputHwId) "Linux 5.16",
    22 CALLCHAIN_DEFERRED CallchainDeferred(callchain_deferred::CallchainDeferred<'a>) "Linux 6.19",
    64 HEADER_ATTR HeaderAttr(header_attr::HeaderAttr<'a>) "perf 2.6.34",
    65 HEADER_EVENT_TYPE HeaderEventType(header_event_type::HeaderEventType<'a>) "perf 2.6.34",
    66 HEADER_TRACING_DATA HeaderTracingData(header_tracing_data::HeaderTracingData<'a>) "perf 2.6.34",
    67 HEADER_BUILD_ID HeaderBuildId(header_build_id::HeaderBuildId<'a>) "perf 2.6.34",
    68 FINISHED_ROUND FinishedRound(finished_round::FinishedRound) "perf 2.6.35",
    69 ID_INDEX IdIndex(id_index::IdIndex<'a>) "perf 4.0",
    70 AUXTRACE_INFO AuxtraceInfo(auxtrace_info::AuxtraceInfo<'a>) "perf 4.1",
    71 AUXTRACE Auxtrace(auxtrace::Auxtrace) "perf 4.1",
    72 AUXTRACE_ERROR AuxtraceError(auxtrace_error::AuxtraceError<'a>) "perf 4.1",
    73 THREAD_MAP ThreadMap(thread_map::ThreadMap<'a>) "perf 4.5",
    74 CPU_MAP CpuMap(cpu_map::CpuMap<'a>) "perf 4.5",
    75 STAT_CONFIG StatConfig(stat_config::StatConfig<'a>) "perf 4.5",
    76 STAT Stat(stat::Stat) "perf 4.5",
    77 STAT_ROUND StatRound(stat_round::StatRound) "perf 4.5",
    78 EVENT_UPDATE EventUpdate(event_update::EventUpdate<'a>) "perf 4.5",
    79 TIME_CONV TimeConv(time_conv::TimeConv) "perf 4.5",
    80 HEADER_FEATURE HeaderFeature(header_feature::HeaderFeature<'a>) "perf 4.17",
    81 COMPRESSED Compressed(compressed::Compressed<'a>) "perf 5.2",
    82 FINISHED_INIT FinishedInit(finished_init::FinishedInit) "perf 6.0",
    83 COMPRESSED2 Compressed2(compressed2::Compressed2<'a>) "perf 6.16",
    84 BPF_METADATA BpfMetadata(bpf_metadata::BpfMetadata<'a>) "perf 6.17",
    85 SCHEDSTAT_CPU SchedstatCpu(schedstat_cpu::SchedstatCpu) "perf 7.0",
    86 SCHEDSTAT_DOMAIN SchedstatDomain(schedstat_domain::SchedstatDomain<'a>) "perf 7.0",
    32769 KERNEL_SYMBOL KernelSymbol(simpleperf::kernel_symbol::KernelSymbol<'a>) "simpleperf",
    32770 DSO Dso(simpleperf::dso::Dso<'a>) again "simpleperf",
    32771 SYMBOL Symbol(simpleperf::symbol::Symbol<'a>) again "simpleperf",
    32772 SPLIT Split(simpleperf::split::Split<'a>) again "simpleperf",
    32773 SPLIT_END SplitEnd(simpleperf::split::SplitEnd) again "simpleperf",
    32774 EVENT_ID EventId(simpleperf::event_id::EventId<'a>) again "simpleperf",
    32775 CALLCHAIN Callchain(simpleperf::callchain::Callchain<'a>) again "simpleperf",
    32776 UNWINDING_RESULT UnwindingResult(simpleperf::unwinding_result::UnwindingResult<'a>) again "simpleperf",
    32777 TRACING_DATA TracingDataInside(simpleperf::tracing_data::TracingDataInside<'a>) again "simpleperf",
    32778 DEBUG Debug(simpleperf::debug::Debug<'a>) again "simpleperf",
}

/// What is done with some types of records, and which these are: two functions from one list. Records of other types need not
/// be decoded.
///
/// ```
/// use perffile::wire::record::{Record, kind};
///
/// perffile::record_handlers! {
///     /// Whether records of this type tell of something lost.
///     fn is_loss;
///     /// How much was lost.
///     fn lost(factor: u64) -> u64 {
///         Lost(lost) => lost.lost * factor,
///         LostSamples(lost) => lost.lost * factor,
///     }
/// }
/// assert!(is_loss(kind::LOST) && !is_loss(kind::SAMPLE));
/// assert_eq!(lost(Record::Lost(Default::default()), 1), Some(0));
/// ```
#[macro_export]
macro_rules! record_handlers {
    (
        $(#[$is_meta:meta])*
        $is_vis:vis fn $is:ident;
        $(#[$meta:meta])*
        $vis:vis fn $handle:ident $(<$life:lifetime>)? ($($argument:ident: $type:ty),* $(,)?) -> $result:ty {
            $( $variant:ident($record:pat) => $body:expr, )*
        }
    ) => {
        $(#[$is_meta])*
        #[inline]
        $is_vis const fn $is(number: u32) -> bool {
            matches!(number, $( $crate::wire::record::number_of::$variant )|*)
        }

        $(#[$meta])*
        $vis fn $handle $(<$life>)? (
            record: $crate::wire::record::Record<'_>,
            $($argument: $type),*
        ) -> Option<$result> {
            match record {
                $( $crate::wire::record::Record::$variant($record) => Some($body), )*
                _ => None,
            }
        }
    };
}

/// First number of perf's own records, which carry no trailer.
pub const USER_RECORDS: u32 = 64;

const _: () = {
    let (mut last, mut rest) = (0, RECORDS);
    while let [kind, behind @ ..] = rest {
        assert!(
            last < kind.number,
            "the lines of records! are in the order of their numbers: they are searched by them"
        );
        (last, rest) = (kind.number, behind);
    }
};

/// Name of a record type without `PERF_RECORD_`; `UNKNOWN_<number>` if it has none here.
pub fn record_name(number: u32) -> std::borrow::Cow<'static, str> {
    match RECORDS.binary_search_by_key(&number, |kind| kind.number).ok().and_then(|at| RECORDS.get(at)) {
        Some(kind) => kind.name.into(),
        None => format!("UNKNOWN_{number}").into(),
    }
}
