//! Header features: one file each, one line each in the registry below.
//!
//! A feature is a section of a file, or the payload of a HEADER_FEATURE record of a pipe; the bytes are the same.

use super::WireError;
use super::attr::SampleShape;
use super::decode::Decoder;
use super::describe::{Describe, Sink};
use super::encode::Encoder;
use super::endian::Order;
use super::pass::Fields;

/// What is known of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeatureKind {
    /// Its bit.
    pub bit: u32,
    /// Its name in perf, without `HEADER_`.
    pub name: &'static str,
}

/// The registry: bit, name, variant, type.
macro_rules! features {
    (
        mods { $($module:ident)* }
        typed { $( $bit:literal $name:ident $variant:ident($type:ty), )* }
        raw { $( $raw_bit:literal $raw_name:ident, )* }
    ) => {
        $( pub mod $module; )*

        /// A typed feature.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Feature<'a> {
            $(
                #[doc = concat!("HEADER_", stringify!($name), " (", stringify!($bit), ").")]
                $variant($type),
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

        impl<'a> Feature<'a> {
            /// Decodes a feature section, and what it holds behind the fields known here.
            ///
            /// # Errors
            /// The field at which the bytes end.
            pub fn decode<O: Order>(bit: u32, bytes: &'a [u8]) -> Result<(Feature<'a>, &'a [u8]), WireError> {
                let shape = SampleShape::default();
                let mut decoder = Decoder::<O, _>::new(bytes, &shape, 0);
                let feature = match bit {
                    $( $bit => Feature::$variant(decoder.value()?), )*
                    _ => return Ok((Feature::Raw(bytes), &[])),
                };
                Ok((feature, decoder.remainder()))
            }

            /// Appends the section to `out`.
            ///
            /// # Errors
            /// A count that does not fit its wire type.
            pub fn encode<O: Order>(&self, out: &mut Vec<u8>) -> Result<(), WireError> {
                let shape = SampleShape::default();
                let mut encoder = Encoder::<O>::new(out, &shape, 0);
                match self.clone() {
                    $( Feature::$variant(mut value) => value.fields(&mut encoder), )*
                    Feature::Raw(bytes) => super::pass::Pass::rest(&mut encoder, "bytes", &mut { bytes }),
                }
            }

            /// Tells `sink` every field.
            pub fn describe(&self, sink: &mut impl Sink) {
                let shape = SampleShape::default();
                let mut pass = Describe::new(sink, &shape, 0);
                // Fails on nothing but counts too large for their wire type, and then has told all before it.
                let _ = match self.clone() {
                    $( Feature::$variant(mut value) => value.fields(&mut pass), )*
                    Feature::Raw(bytes) => super::pass::Pass::rest(&mut pass, "bytes", &mut { bytes }),
                };
            }
        }
    };
}

features! {
    mods { build_id cmdline event_desc nrcpus sample_time text total_mem }
    typed {
        2 BUILD_ID BuildId(build_id::BuildIds<'a>),
        3 HOSTNAME Hostname(text::Text<'a>),
        4 OSRELEASE Osrelease(text::Text<'a>),
        5 VERSION Version(text::Text<'a>),
        6 ARCH Arch(text::Text<'a>),
        7 NRCPUS Nrcpus(nrcpus::Nrcpus),
        8 CPUDESC Cpudesc(text::Text<'a>),
        9 CPUID Cpuid(text::Text<'a>),
        10 TOTAL_MEM TotalMem(total_mem::TotalMem),
        11 CMDLINE Cmdline(cmdline::Cmdline<'a>),
        12 EVENT_DESC EventDesc(event_desc::EventDesc<'a>),
        21 SAMPLE_TIME SampleTime(sample_time::SampleTime),
    }
    raw {
        1 TRACING_DATA,
        13 CPU_TOPOLOGY,
        14 NUMA_TOPOLOGY,
        15 BRANCH_STACK,
        16 PMU_MAPPINGS,
        17 GROUP_DESC,
        18 AUXTRACE,
        19 STAT,
        20 CACHE,
        22 MEM_TOPOLOGY,
        23 CLOCKID,
        24 DIR_FORMAT,
        25 BPF_PROG_INFO,
        26 BPF_BTF,
        27 COMPRESSED,
        28 CPU_PMU_CAPS,
        29 CLOCK_DATA,
        30 HYBRID_TOPOLOGY,
        31 PMU_CAPS,
        32 CPU_DOMAIN_INFO,
        33 E_MACHINE,
        34 CLN_SIZE,
    }
}

/// Name of a feature without `HEADER_`, if it has one.
pub fn name(bit: u32) -> Option<&'static str> {
    FEATURES.iter().find(|kind| kind.bit == bit).map(|kind| kind.name)
}
