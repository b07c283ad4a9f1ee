//! Every output of readperf, one file each. They write; they never open anything.
#![forbid(unsafe_code)]

pub mod annotate;
mod buffer;
mod calendar;
pub mod check;
pub mod csv;
pub mod diff;
mod digits;
pub mod dump;
pub mod export;
pub mod heading;
pub mod hidden;
pub mod info;
pub mod json;
pub mod names;
pub mod overview;
pub mod report;
pub mod script;
pub mod short_name;
pub mod stat;
pub mod stats;
pub mod table;
pub mod text;
pub mod timeline;
pub mod xml;
