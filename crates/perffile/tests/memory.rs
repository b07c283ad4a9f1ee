//! Memory follows the rounds in flight, not the size of the recording: streams made on the fly, never in a file.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::{pipe_start, push};
use hostile::allocation::{self, alone, peak};
use hostile::recipe::sample;
use perffile::wire::record::kind;
use perffile::{Ordering, Recording};
use std::io::Read;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

const MIB: usize = 1 << 20;

/// How much a walk may hold at its peak.
const MOST_BYTES: usize = 256 * MIB;

/// Samples of one round, from two buffers that were emptied in turn.
const ROUND: u64 = 5000;

/// A pipe stream that goes on for a while: rounds of samples from two CPUs, each of which is in order.
struct Rounds {
    bytes: Vec<u8>,
    at: usize,
    round: u64,
    rounds: u64,
}

impl Rounds {
    /// So many bytes, more or less.
    fn new(bytes: u64) -> Rounds {
        Rounds { bytes: pipe_start(), at: 0, round: 0, rounds: bytes / (ROUND * 32) }
    }

    fn samples(&self) -> u64 {
        self.rounds * ROUND
    }

    fn next_round(&mut self) {
        self.bytes.clear();
        self.at = 0;
        if self.round == self.rounds {
            return;
        }
        let first = 1 + self.round * ROUND;
        for cpu in 0..2 {
            for nr in (cpu..ROUND).step_by(2) {
                self.bytes.extend_from_slice(&sample(first + nr));
            }
        }
        push(&mut self.bytes, kind::FINISHED_ROUND, &[]);
        self.round += 1;
    }
}

impl Read for Rounds {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if self.at == self.bytes.len() {
            self.next_round();
        }
        let left = &self.bytes[self.at..];
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.at += count;
        Ok(count)
    }
}

fn counted_within_bounds(bytes: u64, ordering: Ordering) {
    let _alone = alone();
    let stream = Rounds::new(bytes);
    let expected = stream.samples();
    let ((count, in_order, damaged), most) = peak(|| {
        let recording = Recording::from_reader(stream).unwrap();
        let (mut count, mut last, mut in_order) = (0u64, 0, true);
        let mut batches = recording.batches(ordering).unwrap();
        for batch in batches.by_ref() {
            for event in batch.iter() {
                let Some(time) = event.time() else { continue };
                count += 1;
                in_order &= time == last + 1;
                last = time;
            }
        }
        (count, in_order, batches.issues().damaged())
    });
    eprintln!("{ordering:?}: {count} samples of {} MiB within {} KiB", bytes >> 20, most >> 10);
    assert_eq!(count, expected);
    assert_eq!(in_order, ordering == Ordering::Time, "the file has two runs a round");
    assert!(!damaged);
    assert!(most <= MOST_BYTES, "{} MiB", most / MIB);
}

#[test]
fn a_stream_of_200_mb_in_the_order_it_comes() {
    counted_within_bounds(200_000_000, Ordering::File);
}

#[test]
fn a_stream_of_200_mb_in_order_of_time() {
    counted_within_bounds(200_000_000, Ordering::Time);
}

#[test]
#[ignore = "takes a while: 2 GB"]
fn a_stream_of_2_gb_in_the_order_it_comes() {
    counted_within_bounds(2_000_000_000, Ordering::File);
}

#[test]
#[ignore = "takes a while: 2 GB"]
fn a_stream_of_2_gb_in_order_of_time() {
    counted_within_bounds(2_000_000_000, Ordering::Time);
}
