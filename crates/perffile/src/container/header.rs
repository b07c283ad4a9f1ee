//! The file header, and what its first bytes say.
//!
//! ABI: perf.data-file-format; `struct perf_file_header` and `struct perf_pipe_file_header`.

use super::opened::error_at;
use crate::error::{ErrorKind, Result};
use crate::place::Part;
use crate::wire::declare::fields;
use crate::wire::endian::ByteOrder;
use crate::wire::feature::bit;

/// Size of a pipe's header in bytes; the header's own size field tells the two apart.
pub(crate) const PIPE_HEADER_SIZE: u64 = 16;

/// Magic of version 2, as a number in the byte order of the recording: `PERFILE2`.
pub(crate) const MAGIC_2: u64 = u64::from_le_bytes(*b"PERFILE2");

/// Size in bytes of the header behind which the feature bits follow.
pub(crate) const HEADER_SIZE: usize = 72;

/// Bytes of feature bits behind the header.
pub(crate) const BITMAP_SIZE: usize = 32;

/// Sizes that attrs of version 1 files can have, without the ids section behind each.
const VERSION_1_ATTR_SIZES: [u64; 5] = [64, 72, 80, 96, 104];

fields! {
    /// Where the tables and the records lie. Offsets and sizes in bytes.
    #[derive(Copy)]
    pub struct FileHeader {
        /// `PERFILE2` or `PERFFILE`.
        magic: u64 as addr,
        /// Size of the header: 104, or 72 without feature bits.
        size: u64,
        /// Size of an entry of the attrs table.
        attr_size: u64,
        /// The attrs table.
        attrs_offset: u64,
        /// Its size.
        attrs_size: u64,
        /// The records.
        data_offset: u64,
        /// Their size; 0 if the recorder did not finish.
        data_size: u64,
        /// Event names of version 1.
        event_types_offset: u64,
        /// Their size.
        event_types_size: u64,
    }
}

/// What the first bytes say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Magic {
    /// A file.
    File { version: u8, order: ByteOrder },
    /// A pipe.
    Pipe { version: u8, order: ByteOrder },
}

/// Looks at the first bytes.
pub(crate) fn magic(bytes: &[u8]) -> Result<Magic> {
    let header = |kind| error_at(Part::Header, 0, kind);
    let first: Option<&[u8; 8]> = bytes.first_chunk();
    let version_2 = match first {
        Some(b"PERFILE2") => Some(ByteOrder::Little),
        Some(b"2ELIFREP") => Some(ByteOrder::Big),
        Some(b"PERFFILE") => None,
        Some(_) => return Err(header(ErrorKind::NotPerfData(what_else(bytes)))),
        None => return Err(header(ErrorKind::NotPerfData(format!("only {} bytes long", bytes.len())))),
    };
    let too_short = || header(ErrorKind::Cut(format!("{} bytes are less than a header", bytes.len())));
    let size = |order: ByteOrder| order.u64_at(bytes, 8);
    if let Some(order) = version_2 {
        let size = size(order).ok_or_else(too_short)?;
        return Ok(if size == PIPE_HEADER_SIZE {
            Magic::Pipe { version: 2, order }
        } else {
            Magic::File { version: 2, order }
        });
    }
    // Version 1 does not tell its byte order: the size of the attrs has to make sense.
    let orders = [ByteOrder::Little, ByteOrder::Big];
    if let Some(order) = orders.into_iter().find(|order| size(*order) == Some(PIPE_HEADER_SIZE)) {
        return Ok(Magic::Pipe { version: 1, order });
    }
    for order in orders {
        let attr_size = order.u64_at(bytes, 16).ok_or_else(too_short)?;
        if VERSION_1_ATTR_SIZES.iter().any(|attr| attr + 16 == attr_size) {
            return Ok(Magic::File { version: 1, order });
        }
    }
    Err(header(ErrorKind::BadHeader(
        "a version 1 file whose attr size makes sense in neither byte order".into(),
    )))
}

/// What a file that is no recording may be instead.
fn what_else(bytes: &[u8]) -> String {
    const KNOWN: [(&[u8], &str); 3] =
        [(b"\x7fELF", "this is an ELF binary"), (b"#!", "this is a script"), (b"{", "this looks like JSON")];
    if let Some((_, what)) = KNOWN.iter().find(|(start, _)| bytes.starts_with(start)) {
        return (*what).to_owned();
    }
    // POSIX ustar: the magic of an archive's first entry.
    if bytes.get(257..262) == Some(b"ustar") {
        return "this is a tar archive: a recording in one is read if the archive is named as a file"
            .to_owned();
    }
    let start = bytes.get(..8).unwrap_or(bytes);
    if start.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
        return format!("it starts with the text {:?}", String::from_utf8_lossy(start));
    }
    let hex: Vec<String> = start.iter().map(|b| format!("{b:02x}")).collect();
    format!("it starts with the bytes {}", hex.join(" "))
}

/// The numbers of the set feature bits, ascending.
///
/// The bitmap is an array of the recorder's `unsigned long`. Little-endian recorders of 32 and 64 bits write the same
/// bytes, big-endian ones do not; HOSTNAME, which perf always sets, tells them apart.
pub(crate) fn feature_bits(bitmap: &[u8; BITMAP_SIZE], order: ByteOrder) -> Vec<u32> {
    let byte = |nr: usize| bitmap.get(nr).copied().unwrap_or_default();
    let bits = |word_bytes: usize| -> Vec<u32> {
        (0u32..256)
            .filter(|nr| {
                let byte_nr = *nr as usize / 8;
                let at = match order {
                    ByteOrder::Little => byte_nr,
                    ByteOrder::Big => {
                        byte_nr / word_bytes * word_bytes + (word_bytes - 1 - byte_nr % word_bytes)
                    }
                };
                byte(at) >> (nr % 8) & 1 == 1
            })
            .collect()
    };
    let wide = bits(8);
    if order == ByteOrder::Little || wide.contains(&bit::HOSTNAME) {
        return wide;
    }
    let narrow = bits(4);
    if narrow.contains(&bit::HOSTNAME) { narrow } else { wide }
}

/// The bitmap with these bits set, in words of 64 bits.
pub(crate) fn bitmap(bits: impl Iterator<Item = u32>, order: ByteOrder) -> [u8; BITMAP_SIZE] {
    let mut words = [0u64; BITMAP_SIZE / 8];
    for bit in bits {
        if let Some(word) = words.get_mut(bit as usize / 64) {
            *word |= 1 << (bit % 64);
        }
    }
    let mut bitmap = [0; BITMAP_SIZE];
    let bytes = words.into_iter().flat_map(|word| order.put_u64(word));
    bitmap.iter_mut().zip(bytes).for_each(|(byte, said)| *byte = said);
    bitmap
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_says_the_bits_that_it_was_made_of() {
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let bits = [3, 21, 33, 63, 64, 128, 255];
            assert_eq!(feature_bits(&bitmap(bits.into_iter(), order), order), bits);
        }
    }

    #[test]
    fn bitmap_of_a_64_bit_big_endian_recorder() {
        // Bits 3 and 21 in a big-endian u64: 0x0000_0000_0020_0008.
        let mut bitmap = [0; 32];
        bitmap[5] = 0x20;
        bitmap[7] = 0x08;
        assert_eq!(feature_bits(&bitmap, ByteOrder::Big), [3, 21]);
    }

    #[test]
    fn bitmap_of_a_32_bit_big_endian_recorder() {
        // Bits 3 and 33 in big-endian u32 words: 0x0000_0008, 0x0000_0002.
        let mut bitmap = [0; 32];
        bitmap[3] = 0x08;
        bitmap[7] = 0x02;
        assert_eq!(feature_bits(&bitmap, ByteOrder::Big), [3, 33]);
    }

    #[test]
    fn bitmap_of_a_little_endian_recorder() {
        let mut bitmap = [0; 32];
        bitmap[0] = 0x08;
        bitmap[16] = 0x01;
        assert_eq!(feature_bits(&bitmap, ByteOrder::Little), [3, 128]);
    }
}
