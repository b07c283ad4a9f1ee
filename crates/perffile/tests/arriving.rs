//! What arrives (standard input, a FIFO, a device): its kind is known by its first bytes, and what has no end is refused, or
//! read in bounded memory. Counted are the bytes that were taken.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod fuzz_entry;
mod hostile;

use fuzz_entry::pipe_start;
use hostile::allocation::{self, alone, peak};
use hostile::noise::Noise;
use hostile::recipe::{Recipe, sample};
use perffile::{ErrorKind, IssueKind, Limits, Recording};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

const MIB: u64 = 1 << 20;

/// Writes the bytes that come next.
type Fill = Box<dyn FnMut(&mut [u8]) + Send>;

/// Some bytes, and behind them others without end. Counts how many were taken; so many that no test should are an error.
struct Endless {
    first: Vec<u8>,
    at: usize,
    then: Fill,
    taken: Arc<AtomicU64>,
    most: u64,
}

impl Endless {
    fn new(
        first: &[u8],
        then: impl FnMut(&mut [u8]) + Send + 'static,
        most: u64,
    ) -> (Endless, Arc<AtomicU64>) {
        let taken = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&taken);
        (Endless { first: first.to_vec(), at: 0, then: Box::new(then), taken, most }, counted)
    }
}

impl Read for Endless {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.taken.fetch_add(out.len() as u64, Relaxed) > self.most {
            return Err(io::Error::other("this reader was to be left alone by now"));
        }
        let rest = &self.first[self.at..];
        let count = rest.len().min(out.len());
        out[..count].copy_from_slice(&rest[..count]);
        self.at += count;
        (self.then)(&mut out[count..]);
        Ok(out.len())
    }
}

fn zeros(out: &mut [u8]) {
    out.fill(0);
}

#[test]
fn what_is_no_recording_is_refused_by_its_first_bytes() {
    let mut noise = Noise::new(5);
    let random = move |out: &mut [u8]| out.iter_mut().for_each(|byte| *byte = (noise.next() >> 32) as u8);
    let contents: [(&[u8], Fill); 5] = [
        (b"", Box::new(zeros)),
        (b"", Box::new(|out| out.fill(0xff))),
        (b"", Box::new(random)),
        (b"", Box::new(|out| out.fill(b'y'))),
        (b"\x7fELF", Box::new(zeros)),
    ];
    for (first, then) in contents {
        let (reader, taken) = Endless::new(first, then, MIB);
        let error = Recording::from_reader(reader).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotPerfData(_)), "{error}");
        assert!(taken.load(Relaxed) <= 4096, "{} bytes", taken.load(Relaxed));
    }
}

#[test]
fn what_has_to_be_there_as_a_whole_has_a_limit() {
    let _alone = alone();
    let file = Recipe { data: sample(1), ..Recipe::default() }.bytes();
    let mut limits = Limits::default();
    limits.spooled_bytes = 3 * MIB;
    let (reader, taken) = Endless::new(&file, zeros, 8 * MIB);
    let (error, bytes) = peak(|| Recording::from_reader_with(reader, limits).unwrap_err());
    assert!(error.to_string().contains(&format!("more than {} bytes", 3 * MIB)), "{error}");
    assert!((3 * MIB..4 * MIB).contains(&taken.load(Relaxed)), "{} bytes", taken.load(Relaxed));
    assert!(bytes < 1 << 20, "{bytes} bytes of memory");
    // What has an end is read.
    let recording = Recording::from_reader(io::Cursor::new(file)).unwrap();
    let mut times = Vec::new();
    recording.for_each(|event| times.extend(event.time())).unwrap();
    assert_eq!(times, [1]);
}

#[test]
fn a_wrapper_without_end_has_a_limit() {
    let file = Recipe { data: sample(1), ..Recipe::default() }.bytes();
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(&file).unwrap();
    encoder.flush().unwrap();
    let start = std::mem::take(encoder.get_mut());
    encoder.write_all(&vec![0; MIB as usize]).unwrap();
    encoder.flush().unwrap();
    // The same block again and again is a megabyte of zeros each.
    let block = std::mem::take(encoder.get_mut());
    let mut at = 0;
    let then = move |out: &mut [u8]| {
        for byte in out {
            *byte = block[at % block.len()];
            at += 1;
        }
    };
    let mut limits = Limits::default();
    limits.spooled_bytes = 20 * MIB;
    let (reader, _) = Endless::new(&start, then, 64 * MIB);
    let recording = Recording::from_reader_with(reader, limits).unwrap();
    let mut times = Vec::new();
    let issues = recording.for_each(|event| times.extend(event.time())).unwrap();
    assert_eq!(times, [1], "what came before is read");
    let told: Vec<_> = issues.iter().map(|issue| (issue.kind, issue.message.clone())).collect();
    assert_eq!(told[0].0, IssueKind::ExpandsTooFar);
    assert!(told[0].1.contains(&format!("expands to more than {} bytes", 20 * MIB)), "{told:?}");
}

#[test]
fn a_stream_without_end_takes_bounded_memory() {
    let _alone = alone();
    let start = pipe_start();
    let one = sample(1);
    let mut at = 0;
    let samples = move |out: &mut [u8]| {
        for byte in out {
            *byte = one[at % one.len()];
            at += 1;
        }
    };
    let contents: [(&str, Fill); 2] = [("nothing", Box::new(zeros)), ("samples", Box::new(samples))];
    for (what, then) in contents {
        let (reader, taken) = Endless::new(&start, then, 40 * MIB);
        let recording = Recording::from_reader(reader).unwrap();
        let (issues, bytes) = peak(|| {
            let mut batches = recording.batches(perffile::Ordering::File).unwrap();
            batches.by_ref().for_each(drop);
            batches.issues().clone()
        });
        assert!(taken.load(Relaxed) > 40 * MIB);
        assert!(issues.iter().any(|issue| issue.kind == IssueKind::ReadFailed), "{issues:?}");
        assert!(bytes < 24 << 20, "{what}: {bytes} bytes");
    }
}
