//! Binaries as ranges of addresses, for formats that know one range a binary.
//!
//! A recording has many processes, and a library lies elsewhere in each of them. Here it lies where the first of them that
//! was seen had it, and every address in it is moved there: `address + bias`, with the address in the binary.

use crate::export::Export;
use readperf_profile::AddressId;
use readperf_session::{BinaryId, BinaryKind, Mapping};
use rustc_hash::{FxHashMap, FxHashSet};

/// Mappings lie on whole pages; this is the size of the smallest.
const PAGE: u64 = 4096;

/// Where a binary lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Image {
    /// First address.
    pub(crate) start: u64,
    /// First address behind it.
    pub(crate) limit: u64,
    /// What an address in the binary is short of the address in memory; wrapping.
    pub(crate) bias: u64,
}

impl Image {
    /// Offset in the file of the first address; 0 where addresses of the binary are no offsets.
    pub(crate) fn offset(&self) -> u64 {
        if self.bias == 0 { 0 } else { self.start.wrapping_sub(self.bias) }
    }
}

/// Where every binary lies that has an address in the profile.
#[derive(Debug, Default)]
pub(crate) struct Images {
    by_binary: FxHashMap<BinaryId, Image>,
}

impl Images {
    /// Looks where they lie: in the mappings as far as these are known, else around the addresses that were met.
    pub(crate) fn of(export: &Export<'_>) -> Images {
        let mut images = Images::default();
        for code in export.profile.addresses().as_slice().iter() {
            let Some(binary) = code.binary else { continue };
            let bias = code.ip.wrapping_sub(code.address);
            let image = images.by_binary.entry(binary).or_insert(Image { start: u64::MAX, limit: 0, bias });
            let address = code.address.wrapping_add(image.bias);
            image.start = image.start.min(address - address % PAGE);
            image.limit = image.limit.max((address - address % PAGE).saturating_add(PAGE));
        }
        // Processes that were forked share their space until they map something.
        let mut seen = FxHashSet::default();
        for process in export.session.processes() {
            if seen.insert(process.space().version()) {
                process.space().iter().for_each(|mapping| images.widen(mapping));
            }
        }
        if let Some(kernel) = export.session.kernel_image() {
            images.widen(kernel);
        }
        for (binary, image) in &mut images.by_binary {
            let kind = export.session.binary(*binary).map(|binary| &binary.kind);
            if let Some(BinaryKind::Module { start } | BinaryKind::GuestModule { start }) = kind {
                image.start = image.start.min(*start);
            }
        }
        images
    }

    /// Where a binary lies.
    pub(crate) fn get(&self, binary: BinaryId) -> Option<&Image> {
        self.by_binary.get(&binary)
    }

    /// An address as it is in the one place where its binary lies.
    pub(crate) fn address(&self, export: &Export<'_>, address: AddressId) -> u64 {
        let Some(code) = export.profile.addresses().get(address) else { return 0 };
        let image = code.binary.and_then(|binary| self.get(binary));
        image.map_or(code.ip, |image| code.address.wrapping_add(image.bias))
    }

    /// What an address of a binary is when counted from the binary's start: of files it is that already.
    pub(crate) fn relative(&self, binary: BinaryId, address: u64) -> u64 {
        match self.get(binary) {
            Some(image) if image.bias == 0 => address.saturating_sub(image.start),
            _ => address,
        }
    }

    /// Takes in a mapping of a binary that lies in the same place.
    fn widen(&mut self, mapping: &Mapping) {
        let Some(image) = self.by_binary.get_mut(&mapping.binary) else { return };
        if mapping.bias == image.bias && mapping.start < image.limit && image.start < mapping.end {
            image.start = image.start.min(mapping.start);
            image.limit = image.limit.max(mapping.end);
        }
    }
}
