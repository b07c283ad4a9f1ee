//! DIR_FORMAT (24): the recording is a directory (`perf record --threads`).

use crate::wire::declare::fields;

fields! {
    /// How the recording is laid out.
    #[derive(Copy)]
    pub struct DirFormat {
        /// 0 one file, 1 a directory with files `data.N`.
        version: u64,
    }
}
