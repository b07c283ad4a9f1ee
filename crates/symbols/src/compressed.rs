//! Files that are stored compressed: kernel modules, and the archives of binaries.

use std::io::{self, Read};

/// What memory decompressing may need, in KiB. `xz -9` needs 65 MiB.
const MAX_XZ_MEMORY_KIB: u32 = 256 << 10;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    /// gzip (RFC 1952).
    Gzip,
    /// xz.
    Xz,
    /// Zstandard (RFC 8878).
    Zstd,
    /// bzip2.
    Bzip2,
}

impl Compression {
    /// By the first bytes of a file; `None` when it is not compressed in a known way.
    pub(crate) fn of(bytes: &[u8]) -> Option<Compression> {
        match bytes {
            [0x1f, 0x8b, ..] => Some(Compression::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            [b'B', b'Z', b'h', b'1'..=b'9', ..] => Some(Compression::Bzip2),
            _ => None,
        }
    }

    /// Decompresses while reading.
    pub(crate) fn reader<'r>(self, from: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
        Ok(match self {
            Compression::Gzip => Box::new(flate2::read::MultiGzDecoder::new(from)),
            Compression::Xz => Box::new(lzma_rust2::XzReader::new_mem_limit(from, true, MAX_XZ_MEMORY_KIB)),
            Compression::Zstd => Box::new(zstd::stream::read::Decoder::new(from)?),
            Compression::Bzip2 => Box::new(bzip2::read::MultiBzDecoder::new(from)),
        })
    }
}

/// All bytes of a compressed file, at most `max_bytes` of them.
pub(crate) fn decompress(bytes: &[u8], compression: Compression, max_bytes: u64) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    compression.reader(bytes)?.take(max_bytes.saturating_add(1)).read_to_end(&mut out)?;
    if u64::try_from(out.len()).is_ok_and(|len| len > max_bytes) {
        return Err(io::Error::other("too large when decompressed"));
    }
    Ok(out)
}
