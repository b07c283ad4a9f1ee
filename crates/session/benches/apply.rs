//! What does the session cost on top of reading? The same recording walked without and with a session, and with the call
//! chains located too. Prints ns per sample; the three take turns, and the best of several rounds counts.
//!
//! `cargo bench -p readperf-session --bench apply -- FILE`, or without a file a recording made in memory: 500,000 samples
//! with chains of 8, in turn of 64 processes with 40 mappings each.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/stream/mod.rs"]
mod stream;

use perffile::{Recording, wire::record::kind};
use readperf_session::{Moment, Session};
use std::hint::black_box;
use std::time::Instant;
use stream::{KERNEL, Stream, USER};

const ROUNDS: usize = 7;

fn made_in_memory() -> Recording {
    let mut stream = Stream::new();
    let image = 0xffff_ffff_8100_0000;
    stream.mmap(0, KERNEL, u32::MAX, (image, 0x100_0000, image), "[kernel.kallsyms]_text");
    for pid in 1..=64 {
        stream.comm(0, pid, pid, &format!("process {pid}"));
        for nr in 0..40u64 {
            let name = format!("/usr/lib/lib{nr}.so");
            stream.mmap(0, USER, pid, (0x7000_0000 + nr * 0x10_0000, 0x8_0000, 0x1000), &name);
        }
    }
    for nr in 0..500_000u64 {
        let pid = u32::try_from(nr % 64 + 1).unwrap();
        let ip =
            |level: u64| 0x7000_0000 + (nr.wrapping_mul(7919) + level * 31) % 40 * 0x10_0000 + nr % 0x8_0000;
        let chain: Vec<u64> = std::iter::once((-512i64).cast_unsigned()).chain((0..7).map(ip)).collect();
        stream.sample_with_chain(nr + 1, USER, pid, pid, ip(0), &chain);
    }
    stream.recording()
}

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let recording = file.map_or_else(made_in_memory, |file| Recording::open(file).unwrap());
    let walk = || {
        let mut count = 0u64;
        let _ = recording.for_each(|event| {
            if event.head().kind == kind::SAMPLE {
                count += event.sample().unwrap().essentials().map_or(0, |sample| black_box(sample.ip) & 1);
            }
        });
        black_box(count)
    };
    let session = |chains: bool| {
        let mut session = Session::new(recording.metadata());
        let mut sum = 0u64;
        let _ = recording.for_each(|event| {
            if let Moment::Sample(sample) = session.apply(event) {
                sum ^= sample.code(&session).address;
                if chains {
                    let chain = session.callchain(sample.process, &sample.sample, sample.mode);
                    sum = chain.addresses().fold(sum, |sum, code| sum ^ code.address);
                }
            }
        });
        black_box(sum);
        session.summary().samples
    };
    let mut best = [f64::MAX; 3];
    let samples = session(false);
    for _ in 0..ROUNDS {
        for (best, run) in best.iter_mut().zip([
            &(|| {
                walk();
            }) as &dyn Fn(),
            &|| {
                session(false);
            },
            &|| {
                session(true);
            },
        ]) {
            let start = Instant::now();
            run();
            *best = best.min(start.elapsed().as_secs_f64());
        }
    }
    for (what, seconds) in ["walk, samples decoded", "with session", "with call chains"].iter().zip(best) {
        println!("{what:24} {:7.1} ns per sample", seconds * 1e9 / samples as f64);
    }
    println!("{samples} samples, best of {ROUNDS} rounds");
}
