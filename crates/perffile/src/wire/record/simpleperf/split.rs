//! SPLIT (32772) and SPLIT_END (32773): a record too long for one head, in parts.

use crate::wire::declare::fields;

fields! {
    /// The next part: the first one begins with the head of the whole record.
    #[derive(Copy)]
    pub struct Split<'a> {
        /// The bytes.
        data: &'a [u8] as rest,
    }
}

fields! {
    /// The record is whole.
    #[derive(Copy)]
    pub struct SplitEnd {}
}
