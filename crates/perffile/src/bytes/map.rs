//! Mapping files: the one place of the project where `unsafe` is allowed.

use super::Bytes;
use std::fs::File;
use std::io;

/// Maps a whole file, read-only. A file that cannot be mapped (a pipe, an empty file) gives an error.
///
/// # Errors
/// What the operating system says.
pub fn map_file(file: &File) -> io::Result<Bytes> {
    // SAFETY: the mapping is private and read-only, and nobody here writes to it. What remains is that another process cuts
    // the file short while it is read: the kernel then raises SIGBUS, which ends the program but corrupts nothing. perf
    // itself reads that way. Records are read into memory where they can be; who cannot live with the rest reads the recording as a
    // stream.
    #[allow(unsafe_code)]
    let map = unsafe { memmap2::Mmap::map(file) }?;
    Ok(Bytes::new(map))
}
