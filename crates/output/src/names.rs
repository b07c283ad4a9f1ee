//! Rows of a table to names for people.

use crate::text::decoded;
use readperf_profile::view::table::Row;
use readperf_profile::{Function, Profile};
use readperf_session::Session;
use std::borrow::Cow;

/// What perf calls memory that no mapping covers.
pub use readperf_profile::frames::UNKNOWN;

/// Where names come from.
#[derive(Clone, Copy, Debug)]
pub struct Names<'n> {
    /// The functions.
    pub profile: &'n Profile,
    /// Thread names and binaries.
    pub session: &'n Session,
}

impl<'n> Names<'n> {
    /// The function of a row.
    pub fn function(&self, row: &Row) -> Option<Function<'n>> {
        self.profile.function(row.function)
    }

    /// The thread's name of a row; empty if the table does not tell threads apart.
    pub fn comm(&self, row: &Row) -> Cow<'n, str> {
        row.comm.map_or(Cow::Borrowed(""), |comm| decoded(self.session.comm(comm)))
    }

    fn binary(&self, row: &Row) -> Option<&'n readperf_session::Binary> {
        self.session.binary(self.function(row)?.binary?)
    }

    /// The short name of the binary of a row, as perf prints it.
    pub fn binary_name(&self, row: &Row) -> Cow<'n, str> {
        self.binary(row).map_or(Cow::Borrowed(UNKNOWN), |binary| decoded(&binary.short_name))
    }

    /// The name of the binary of a row as recorded: its path, or a name in brackets.
    pub fn binary_path(&self, row: &Row) -> Cow<'n, str> {
        self.binary(row).map_or(Cow::Borrowed(UNKNOWN), |binary| decoded(&binary.name))
    }

    /// By what rows of equal weight are ordered.
    pub fn key(&self, row: &Row) -> (Cow<'n, str>, Cow<'n, str>, Cow<'n, str>, u64) {
        let function = self.function(row);
        let label = function.map_or_else(Cow::default, Function::label);
        (self.comm(row), self.binary_path(row), label, function.map_or(0, |function| function.address))
    }
}
