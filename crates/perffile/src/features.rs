//! The header features of a recording: their bytes, and typed on demand.

use crate::bytes::Bytes;
use crate::place::{Part, Place};
use crate::wire::WireError;
use crate::wire::decode::Decoder;
use crate::wire::endian::{ByteOrder, with_order};
use crate::wire::feature::{self, Feature, bit, build_id::BuildIds, feature_registry, without_fill};
use crate::wire::pass::CpuCounts;
use crate::wire::registers::Machine;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One feature section.
#[derive(Clone, Debug)]
pub(crate) struct Section {
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
    /// An empty set of features.
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

    /// The bytes of a feature, to be kept.
    pub(crate) fn shared_bytes(&self, bit: u32) -> Option<Bytes> {
        self.sections.get(&bit).map(|section| section.bytes.clone())
    }

    /// Takes a feature out.
    pub fn remove(&mut self, bit: u32) {
        self.sections.remove(&bit);
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

    /// The machine, as ARCH or E_MACHINE tell it, as far as it decides the names of registers.
    pub fn machine(&self) -> Option<Machine> {
        let of_elf = || Machine::of_e_machine(self.order.u32_at(self.bytes(bit::E_MACHINE)?, 0)?);
        self.arch().and_then(|arch| Machine::of_arch(&arch)).or_else(of_elf)
    }
}

/// An accessor for each feature that is declared. `None`: the feature is not there or cannot be decoded; which of them, and
/// why, tells [`Features::feature`].
macro_rules! accessors {
    (
        typed { $( $bit:literal $name:ident $variant:ident($module:ident::$($type:tt)+) $($again:ident)? => $method:ident $(as $told:ty)?, $doc:literal; )* }
        raw { $( $raw_bit:literal $raw_name:ident, )* }
    ) => {
        impl Features {
            $(
                #[doc = $doc]
                #[allow(clippy::needless_lifetimes, reason = "the types in the lines of the registry use it")]
                pub fn $method<'a>(&'a self) -> Option<one_of!($($told)? | feature::$module::$($type)+)> {
                    match self.feature(bit::$name)?.ok()?.0 {
                        Feature::$variant(value) => Some(value.into()),
                        _ => None,
                    }
                }
            )*
        }
    };
}

/// The first of one or two types.
macro_rules! one_of {
    (| $type:ty) => {
        $type
    };
    ($told:ty | $type:ty) => {
        $told
    };
}

feature_registry!(accessors);
