//! PERF_RECORD_HEADER_BUILD_ID (67): the build-id of a binary. Also the entries of the BUILD_ID feature, there with type 0.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A binary's build-id.
    #[derive(Copy)]
    pub struct HeaderBuildId<'a> {
        /// Machine: -1 the host's kernel, 0 the default guest, else the pid of a guest. Not a process.
        pid: i32,
        /// The id; how many bytes count is told by `size` if `misc` bit 15 is set.
        build_id: [u8; 20],
        /// Size of the id in bytes, with `misc` bit 15.
        size: u8 as u8 "build_id_size",
        /// Unused.
        reserved: [u8; 3],
        /// File, or a name in brackets.
        filename: CStr8<'a>,
    }
}
