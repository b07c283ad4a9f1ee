//! The columnar profile: functions, samples, totals, views.
#![forbid(unsafe_code)]

pub mod counters;
pub mod statistics;
