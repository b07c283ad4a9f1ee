//! Where a function without a symbol begins and ends: its entry in the unwinding table says it.

use std::ops::Range;

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, EndianSlice, RunTimeEndian, UnwindSection};
use object::elf;

use crate::image::Image;

/// The linked addresses of the function that a linked address is in.
pub(super) fn function_at(image: &Image<'_>, linked: u64) -> Option<Range<u64>> {
    let address = |name: &[u8]| image.section(name).map_or(0, |section| section.address);
    let bases = BaseAddresses::default()
        .set_eh_frame(address(b".eh_frame"))
        .set_eh_frame_hdr(address(b".eh_frame_hdr"))
        .set_text(address(b".text"))
        .set_got(address(b".got"));
    let endian = if image.big_endian { RunTimeEndian::Big } else { RunTimeEndian::Little };
    let word = if image.is_64 { 8 } else { 4 };
    let mut section = EhFrame::new(image.bytes(image.section(b".eh_frame")?), endian);
    section.set_address_size(word);
    if image.machine == elf::EM_AARCH64 {
        section.set_vendor(gimli::Vendor::AArch64);
    }
    let cie = EhFrame::<EndianSlice<'_, RunTimeEndian>>::cie_from_offset;
    let header = image.section(b".eh_frame_hdr").map_or(&[][..], |header| image.bytes(header));
    let header = EhFrameHdr::new(header, endian).parse(&bases, word).ok();
    let fde = match header.as_ref().and_then(|header| header.table()) {
        Some(table) => table.fde_for_address(&section, &bases, linked, cie),
        None => section.fde_for_address(&bases, linked, cie),
    };
    let fde = fde.ok().filter(|fde| fde.contains(linked))?;
    Some(fde.initial_address()..fde.initial_address().checked_add(fde.len())?)
}
