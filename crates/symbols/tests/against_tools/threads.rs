//! The number of threads changes nothing.

use std::num::NonZeroUsize;

use crate::programs::{all_programs, directory, options};
use readperf_symbols::{AddressBatch, Options, Subject, SymbolBatch, resolve};

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn answers_do_not_depend_on_threads() {
    let dir = directory("threads");
    let mut batches: Vec<AddressBatch> = all_programs(&dir, &[])
        .into_iter()
        .map(|path| {
            let size = std::fs::metadata(&path).unwrap().len().min(600_000);
            AddressBatch::new(Subject::File { path, build_id: None }, (0..size).step_by(7).collect())
        })
        .collect();
    batches.push(AddressBatch::new(
        Subject::Kernel { build_id: None, reference: None },
        (0..5000_u64).map(|n| 0xffff_ffff_8100_0000 + n * 997).collect(),
    ));
    batches
        .push(AddressBatch::new(Subject::File { path: "/nonexistent".into(), build_id: None }, vec![1, 2]));
    let with = |threads: usize| -> Vec<SymbolBatch> {
        let options =
            Options { threads: NonZeroUsize::new(threads), trust_running_kernel: true, ..options() };
        resolve(&options, batches.clone())
    };
    let one = with(1);
    let named: usize = one
        .iter()
        .map(|answer| (0..answer.len()).filter(|index| answer.name(*index).is_some()).count())
        .sum();
    let frames: usize = one
        .iter()
        .map(|answer| (0..answer.len()).map(|index| answer.frames(index).len()).sum::<usize>())
        .sum();
    eprintln!("{named} addresses named, {frames} frames");
    assert!(named > 10_000 && frames > 10_000);
    for threads in [2, 4] {
        assert!(one == with(threads), "{threads} threads give another answer");
    }
}
