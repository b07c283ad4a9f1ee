//! Every sample decoded in order of time, by perffile.

use crate::{Sums, private_memory};
use perffile::{Ordering, Recording};
use std::error::Error;

pub(crate) fn run(path: &str) -> Result<(), Box<dyn Error>> {
    let recording = Recording::open(path)?;
    let mut sums = Sums::default();
    let mut most = 0;
    for (nr, batch) in recording.batches(Ordering::Time)?.enumerate() {
        for event in batch.iter() {
            let Some(sample) = event.sample() else { continue };
            let sample = sample.essentials()?;
            sums.add(sample.ip, sample.pid, sample.tid, sample.time, sample.period);
            let chain = sample.callchain;
            sums.add_chain(chain.len() as u64, chain.iter().fold(0, u64::wrapping_add));
        }
        // Asking takes longer than a batch.
        if nr % 64 == 0 {
            most = most.max(private_memory::kib());
        }
    }
    println!("{sums:?}");
    eprintln!("private memory at most {} KiB", most);
    Ok(())
}
