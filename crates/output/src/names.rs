//! Rows of a table to names for people.

use crate::export::strings::Strings;
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
}

/// The order of rows of equal weight: by thread name, path of the binary, function and address. There are few of the first two, and each is
/// compared with the others once.
#[derive(Debug)]
pub struct TieOrder<'n> {
    names: Names<'n>,
    /// Ranks of thread names and, one higher than their numbers, of binaries; the first is that of what is in none.
    comms: Vec<u32>,
    binaries: Vec<u32>,
}

impl<'n> TieOrder<'n> {
    /// The order of rows with these names.
    pub fn new(names: Names<'n>) -> TieOrder<'n> {
        let binaries = names.session.binaries().iter().map(|binary| decoded(&binary.name));
        TieOrder {
            names,
            comms: ranks(names.session.comms().map(decoded)),
            binaries: ranks(std::iter::once(Cow::Borrowed(UNKNOWN)).chain(binaries)),
        }
    }

    /// By what a row is ordered.
    pub fn key(&self, row: &Row) -> (u32, u32, Cow<'n, str>, u64) {
        let function = self.names.function(row);
        let binary = function.and_then(|function| function.binary).map_or(0, |binary| binary.index() + 1);
        let rank = |ranks: &[u32], index: usize| ranks.get(index).copied().unwrap_or(0);
        let label = function.map_or_else(Cow::default, Function::label);
        let comm = row.comm.map_or(0, |comm| rank(&self.comms, comm.index()));
        (comm, rank(&self.binaries, binary), label, function.map_or(0, |function| function.address))
    }
}

/// The place of each text when they are in order; those that are the same have the same place.
fn ranks<'t>(texts: impl Iterator<Item = Cow<'t, str>>) -> Vec<u32> {
    let mut strings = Strings::default();
    let numbers: Vec<u32> = texts.map(|text| strings.number(&text)).collect();
    let ranks = strings.sort();
    numbers.into_iter().map(|number| ranks.get(number as usize).copied().unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_texts_have_the_same_rank() {
        assert_eq!(ranks(["b", "a", "", "b", "ab"].map(Cow::Borrowed).into_iter()), [3, 1, 0, 3, 2]);
    }
}
