//! Who wrote the recording, where the same number means different records.

use crate::wire::endian::ByteOrder;
use crate::wire::feature::{self, bit};
use crate::wire::head::HEAD_SIZE;
use crate::wire::record::{kind, record_name};
use std::borrow::Cow;

/// Which tool's numbers of record types a recording uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Those of the kernel's perf.
    #[default]
    Upstream,
    /// Those of Chromium OS's perf of 2012 and 2013, which sent header features through pipes as records of their own.
    /// Upstream later gave the same numbers to other records.
    ChromiumOs,
}

/// Chromium OS's record numbers, from the first one on, and the features they hold.
const FIRST: u32 = 69;
const FEATURES: [u32; 13] = [
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
    bit::PMU_MAPPINGS,
];

/// Size of Chromium OS's hostname record: head, length, a string of 64 bytes.
const HOSTNAME_RECORD: usize = HEAD_SIZE + 4 + 64;

impl Dialect {
    /// Tells by the first record of a pipe: Chromium OS's begins with its hostname, whose size is no multiple of eight and
    /// which holds a length and a string; upstream's ID_INDEX of the same number never looks like that.
    pub(crate) fn of_first_record(number: u32, record: &[u8], order: ByteOrder) -> Dialect {
        let is_hostname =
            number == FIRST && record.len() == HOSTNAME_RECORD && order.u32_at(record, HEAD_SIZE) == Some(64);
        if is_hostname { Dialect::ChromiumOs } else { Dialect::Upstream }
    }

    /// The feature that a record of this number holds, in this dialect only.
    pub(crate) fn feature(self, number: u32) -> Option<u32> {
        if self == Dialect::Upstream {
            return None;
        }
        FEATURES.get(usize::try_from(number.checked_sub(FIRST)?).ok()?).copied()
    }

    /// The number by which records are decoded: that of a type nobody knows, where upstream's meaning does not hold.
    pub fn decoded_as(self, number: u32) -> u32 {
        if self.feature(number).is_some() { u32::MAX } else { number }
    }

    /// Name of a record type.
    pub fn record_name(self, number: u32) -> Cow<'static, str> {
        match self.feature(number).and_then(feature::name) {
            Some(name) => format!("HEADER_{name}").into(),
            None => record_name(number),
        }
    }

    /// Whether a record of perf's own is one of those whose data lies behind it.
    pub(crate) fn may_have_payload(self, number: u32) -> bool {
        matches!(number, kind::AUXTRACE | kind::HEADER_TRACING_DATA | kind::COMPRESSED2)
            && self.feature(number).is_none()
    }
}
