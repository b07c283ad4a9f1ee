//! What does the declaration cost? SAMPLE decoded three ways over the same bytes: by hand for one fixed layout, through
//! [`SampleView`], and as a whole [`Sample`]. Prints ns per sample and the ratio to the decoder by hand; the three take
//! turns, and the best of several rounds counts.
//!
//! `cargo bench -p perffile --bench sample_decode`
#![allow(
    clippy::print_stdout,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::cast_possible_truncation
)]

use perffile::wire::attr::{SampleShape, SampleType as T};
use perffile::wire::decode::{Decoder, FixedShape};
use perffile::wire::endian::{Be, ByteOrder, Le, Order};
use perffile::wire::sample::layout::SampleLayout;
use perffile::wire::sample::{Sample, SampleView};
use std::hint::black_box;
use std::time::Instant;

const SAMPLES: usize = 300_000;
const ROUNDS: usize = 15;

/// Bodies of IP|TID|TIME|CPU|PERIOD|CALLCHAIN, one after the other, and where each begins.
fn bodies<O: Order>() -> (Vec<u8>, Vec<u32>) {
    let (mut bytes, mut starts) = (Vec::new(), Vec::new());
    for nr in 0..SAMPLES as u64 {
        starts.push(bytes.len() as u32);
        for word in [0x5555_0000 + nr * 7, 77 | 78 << 32, 1_000_000 + nr, nr % 8, 1_000_003] {
            bytes.extend_from_slice(&O::put_u64(word));
        }
        let chain = 3 + nr % 8;
        bytes.extend_from_slice(&O::put_u64(chain));
        for level in 0..chain {
            bytes.extend_from_slice(&O::put_u64(0x7fff_0000 + level * 64 + nr));
        }
    }
    starts.push(bytes.len() as u32);
    (bytes, starts)
}

/// The fields of the fixed layout.
struct Fixed<'a> {
    ip: u64,
    pid: u32,
    tid: u32,
    time: u64,
    cpu: u32,
    period: u64,
    chain: &'a [u8],
}

/// The decoder by hand: offsets as constants, one bounds check.
#[inline(always)]
fn by_hand<O: Order>(body: &[u8]) -> Option<Fixed<'_>> {
    let head: &[u8; 48] = body.first_chunk()?;
    let word = |at: usize| O::u64(head[at..at + 8].try_into().unwrap());
    let half = |at: usize| O::u32(head[at..at + 4].try_into().unwrap());
    let chain = body.get(48..)?.get(..(word(40) as usize).checked_mul(8)?)?;
    Some(Fixed {
        ip: word(0),
        pid: half(8),
        tid: half(12),
        time: word(16),
        cpu: half(24),
        period: word(32),
        chain,
    })
}

fn sum_chain<O: Order>(chain: &[u8]) -> u64 {
    chain.as_chunks::<8>().0.iter().fold(0, |sum, word| sum ^ O::u64(*word))
}

fn run<O: Order>(order: ByteOrder) {
    let (bytes, starts) = bodies::<O>();
    let shape = SampleShape {
        sample_type: T::IP | T::TID | T::TIME | T::CPU | T::PERIOD | T::CALLCHAIN,
        ..SampleShape::default()
    };
    let layout = SampleLayout::new(shape, order);
    let each = |decode: &dyn Fn(&[u8]) -> u64| -> (f64, u64) {
        let start = Instant::now();
        let sum = decode(black_box(&bytes));
        (start.elapsed().as_secs_f64() * 1e9 / SAMPLES as f64, sum)
    };
    let spans = || starts.windows(2).map(|w| w[0] as usize..w[1] as usize);

    let hand = |bytes: &[u8]| {
        spans().fold(0u64, |sum, span| {
            let s = by_hand::<O>(&bytes[span]).unwrap();
            sum ^ s.ip
                ^ u64::from(s.pid)
                ^ u64::from(s.tid)
                ^ s.time
                ^ u64::from(s.cpu)
                ^ s.period
                ^ sum_chain::<O>(s.chain)
        })
    };
    let view = |bytes: &[u8]| {
        spans().fold(0u64, |sum, span| {
            let s = SampleView::new(&bytes[span], &layout, 0);
            let chain = s.callchain().unwrap().iter().fold(0, |sum, ip| sum ^ ip);
            let ids = u64::from(s.pid().unwrap()) ^ u64::from(s.tid().unwrap()) ^ u64::from(s.cpu().unwrap());
            sum ^ s.ip().unwrap() ^ ids ^ s.time().unwrap() ^ s.period().unwrap() ^ chain
        })
    };
    let whole = |bytes: &[u8]| {
        spans().fold(0u64, |sum, span| {
            let s: Sample<'_> = Decoder::<O, _>::new(&bytes[span], &shape, 0).value().unwrap();
            let chain = s.callchain.unwrap().iter().fold(0, |sum, ip| sum ^ ip);
            let ids = u64::from(s.pid.unwrap()) ^ u64::from(s.tid.unwrap()) ^ u64::from(s.cpu.unwrap());
            sum ^ s.ip.unwrap() ^ ids ^ s.time.unwrap() ^ s.period.unwrap() ^ chain
        })
    };
    const TYPE: u64 = 0x1 | 0x2 | 0x4 | 0x80 | 0x100 | 0x20;
    let fixed = |bytes: &[u8]| {
        spans().fold(0u64, |sum, span| {
            let s: Sample<'_> = Decoder::<O, _>::new(&bytes[span], FixedShape::<TYPE>, 0).value().unwrap();
            let chain = s.callchain.unwrap().iter().fold(0, |sum, ip| sum ^ ip);
            let ids = u64::from(s.pid.unwrap()) ^ u64::from(s.tid.unwrap()) ^ u64::from(s.cpu.unwrap());
            sum ^ s.ip.unwrap() ^ ids ^ s.time.unwrap() ^ s.period.unwrap() ^ chain
        })
    };
    let essentials = |bytes: &[u8]| {
        spans().fold(0u64, |sum, span| {
            let s = SampleView::new(&bytes[span], &layout, 0).essentials().unwrap();
            let chain = s.callchain.iter().fold(0, |sum, ip| sum ^ ip);
            let ids = u64::from(s.pid) ^ u64::from(s.tid) ^ u64::from(s.cpu);
            sum ^ s.ip ^ ids ^ s.time ^ s.period ^ chain
        })
    };
    let mut best = [f64::MAX; 5];
    for _ in 0..ROUNDS {
        let turns: [(f64, u64); 5] =
            [each(&hand), each(&fixed), each(&essentials), each(&view), each(&whole)];
        assert!(turns.iter().all(|(_, sum)| *sum == turns[0].1), "they disagree");
        for (best, (ns, _)) in best.iter_mut().zip(turns) {
            *best = best.min(ns);
        }
    }
    println!("{order}-endian, {SAMPLES} samples, {} bytes each on average", bytes.len() / SAMPLES);
    for (name, ns) in
        ["by hand", "Sample, FixedShape", "essentials()", "single fields", "Sample"].iter().zip(best)
    {
        println!("  {name:<20} {ns:6.2} ns/sample   {:.2} x", ns / best[0]);
    }
}

fn main() {
    run::<Le>(ByteOrder::Little);
    run::<Be>(ByteOrder::Big);
}
