//! Stacks of thousands of functions, each of them another one.

use super::{Attr, KERNEL, KERNEL_CODE, Pipe, Sample};

const KERNEL_CONTEXT: u64 = -128i64 as u64;

/// Where a function begins.
pub(crate) fn start_of(function: u64) -> u64 {
    KERNEL_CODE + 0x20 * (function + 1)
}

/// A recording of samples of this depth in which no function occurs twice.
pub(crate) fn recording(samples: u64, depth: u64) -> Pipe {
    let mut pipe = Pipe::sound(&[Attr::default()]);
    for sample in 0..samples {
        let functions = sample * depth..(sample + 1) * depth;
        let chain: Vec<u64> =
            std::iter::once(KERNEL_CONTEXT).chain(functions.map(|nr| start_of(nr) + 8)).collect();
        pipe.sample(&Sample {
            mode: KERNEL,
            ip: chain[1],
            chain,
            time: 1_000_000_000 + sample,
            ..Sample::default()
        });
    }
    pipe
}
