//! The page in which a recording is looked at, and the server behind it.
#![forbid(unsafe_code)]
