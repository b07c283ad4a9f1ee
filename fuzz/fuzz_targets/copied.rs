//! Hostile bytes to `fuzz_entry::copied`, which the tests of perffile run over the seeds too.
#![no_main]

#[path = "../../crates/perffile/tests/fuzz_entry/mod.rs"]
mod fuzz_entry;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_entry::copied(bytes));
