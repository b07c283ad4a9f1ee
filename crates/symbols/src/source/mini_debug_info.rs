//! The symbol table that some distributions leave in stripped binaries ("MiniDebugInfo"): an ELF file, compressed with
//! xz, in the section `.gnu_debugdata`. It has what `.dynsym` lacks (gdb manual, "MiniDebugInfo").

use std::sync::Arc;

use crate::compressed::{Compression, decompress};
use crate::files::Files;
use crate::image::Image;
use crate::image::has_symbol_table;

/// Largest embedded file after decompression, in bytes. Real ones have some megabytes.
const MAX_BYTES: u64 = 256 << 20;

/// The embedded file, if there is one and it has symbols. It is kept in `files`.
pub(super) fn read<'f>(image: &Image<'_>, files: &'f Files) -> Option<Image<'f>> {
    let bytes = image.bytes(image.section(b".gnu_debugdata")?);
    let compression = Compression::of(bytes)?;
    let embedded = decompress(bytes, compression, MAX_BYTES).ok()?;
    Image::parse(files.keep(Arc::new(embedded))).filter(has_symbol_table)
}
