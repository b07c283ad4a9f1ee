//! How a hardware transaction ended: the PERF_TXN_* bits of the kernel's `perf_event.h`.

use super::value::{Words, value};
use std::fmt;

/// The bits of PERF_SAMPLE_TRANSACTION.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Transaction(pub u64);

/// Names of the bits as perf prints them, lowest first.
const NAMES: [(u64, &str); 8] = [
    (1, "EL"),
    (2, "TX"),
    (4, "SYNC"),
    (8, "ASYNC"),
    (16, "RETRY"),
    (32, "CON"),
    (64, "CAP-WRITE"),
    (128, "CAP-READ"),
];

/// Bits that say whose fault an abort was: the instruction's own, or not.
const SYNC_OR_ASYNC: u64 = 4 | 8;

impl Transaction {
    /// The code that the program gave for its abort.
    pub const fn abort_code(self) -> u64 {
        self.0 >> 32
    }
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words: Vec<String> =
            NAMES.iter().filter(|(bit, _)| self.0 & bit != 0).map(|(_, name)| (*name).to_owned()).collect();
        if self.0 != 0 && self.0 & SYNC_OR_ASYNC == 0 {
            words.push("NEITHER".to_owned());
        }
        if self.abort_code() != 0 {
            words.push(format!(":{:x}", self.abort_code()));
        }
        f.write_str(&words.join(" "))
    }
}

value!(Transaction as addr, |value| Some(Words::text(value)));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_perf() {
        let golden = include_str!("../../../../tests/fixtures/words/transaction.txt");
        assert!(golden.lines().count() > 12);
        for line in golden.lines() {
            let (value, words) = line.split_once(' ').unwrap();
            let value = Transaction(u64::from_str_radix(&value[2..], 16).unwrap());
            assert_eq!(value.to_string(), words, "{:#x}", value.0);
        }
    }
}
