//! The debug file that a stripped binary names in its `.gnu_debuglink` section.

use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};

pub(super) const PLACE: Place = Place { candidates, proof: Proof::IdOrChecksum };

fn candidates(search: &Search<'_>) -> Vec<PathBuf> {
    let Some(link) = &search.debug_link else { return Vec::new() };
    // Only a name is expected. A path could lead anywhere, so only its last part is taken.
    let Some(name) = link.name.file_name() else { return Vec::new() };
    let beside = link.binary.parent().unwrap_or(Path::new("."));
    let recorded = search.path.parent().unwrap_or(Path::new("/"));
    let below = recorded.strip_prefix("/").unwrap_or(recorded);
    let mut all = vec![beside.join(name), beside.join(".debug").join(name)];
    all.extend(search.options.debug_dirs.iter().map(|dir| search.here(dir).join(below).join(name)));
    // A file may name itself.
    all.retain(|path| *path != link.binary);
    all
}

/// The checksum in a debug link: the CRC-32 of the whole debug file with the polynomial of IEEE 802.3, reflected.
pub(super) fn checksum(bytes: &[u8]) -> u32 {
    let table = checksum_table();
    let crc = bytes.iter().fold(!0_u32, |crc, byte| {
        let [low, ..] = (crc ^ u32::from(*byte)).to_le_bytes();
        table.get(usize::from(low)).copied().unwrap_or(0) ^ (crc >> 8)
    });
    !crc
}

fn checksum_table() -> [u32; 256] {
    let mut table = [0; 256];
    for (start, slot) in (0_u32..).zip(&mut table) {
        *slot = (0..8).fold(start, |crc, _| if crc & 1 == 1 { 0xedb8_8320 ^ (crc >> 1) } else { crc >> 1 });
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_checksum() {
        // The check value that catalogues of CRCs give for this one.
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
        assert_eq!(checksum(b""), 0);
    }
}
