//! The rival for folded stacks: what `inferno-collapse-perf` does with the text of `perf script`, on one thread.

use inferno::collapse::Collapse as _;
use inferno::collapse::perf::{Folder, Options};
use std::error::Error;
use std::io::{stdin, stdout};

/// Text on stdin to folded stacks on stdout.
pub(crate) fn run() -> Result<(), Box<dyn Error>> {
    let mut options = Options::default();
    options.nthreads = 1;
    Ok(Folder::from(options).collapse(stdin().lock(), stdout().lock())?)
}
