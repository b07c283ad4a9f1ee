//! What the tests of the wire need around them. Each test file uses a part of it.
#![allow(dead_code)]

pub(crate) mod case;
pub(crate) mod corpus;
pub(crate) mod expect;
pub(crate) mod perf_header;
pub(crate) mod tree;
