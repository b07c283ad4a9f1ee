//! SYMBOL (32771): a symbol of a binary. Written by the first versions only.

use crate::wire::declare::fields;
use crate::wire::text::CStr8;

fields! {
    /// A symbol.
    #[derive(Copy)]
    pub struct Symbol<'a> {
        /// Its address in the binary.
        addr: u64 as addr,
        /// Its size in bytes.
        len: u64,
        /// The number of the binary, see [`Dso`](super::dso::Dso).
        dso_id: u64,
        /// Its name.
        name: CStr8<'a>,
    }
}
