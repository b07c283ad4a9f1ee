//! A few kilobytes that expand to more than anybody recorded: every command answers with what it read, says so and goes on
//! no further than it was told to.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

mod handmade;
mod oracle;

use handmade::{Attr, Pipe, Sample};
use oracle::{scratch, tool};
use readperf::output::export::FORMATS;
use std::io::Write;
use std::path::Path;

/// A compressed record, and the mark of a finished round.
const COMPRESSED: u32 = 81;
const FINISHED_ROUND: u32 = 68;

const DAMAGED: i32 = 3;

fn head(kind: u32, size: usize) -> Vec<u8> {
    [&kind.to_le_bytes()[..], &[0; 2], &(size as u16).to_le_bytes()].concat()
}

/// A stream whose compressed records hold these bytes so often that they are 32 MiB.
fn bomb(path: &Path, content: &[u8]) {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    let mut pipe = Pipe::sound(&[Attr::default()]);
    for _ in 0..4 {
        encoder.write_all(&content.repeat((8 << 20) / content.len())).unwrap();
        encoder.flush().unwrap();
        let piece = std::mem::take(encoder.get_mut());
        pipe.bytes.extend(head(COMPRESSED, 8 + piece.len()));
        pipe.bytes.extend(piece);
    }
    assert!(pipe.bytes.len() < 20_000, "{} bytes", pipe.bytes.len());
    std::fs::write(path, &pipe.bytes).unwrap();
}

/// One sample as a record.
fn sample(time: u64) -> Vec<u8> {
    let mut pipe = Pipe::sound(&[Attr::default()]);
    let before = pipe.bytes.len();
    pipe.sample(&Sample { time, ..Sample::default() });
    pipe.bytes.split_off(before)
}

#[test]
fn every_command_ends_at_the_limit() {
    let directory = scratch();
    let path = directory.path().join("bomb.data");
    let round = head(FINISHED_ROUND, 8);
    let nested = [head(COMPRESSED, 12), vec![0x28, 0xb5, 0x2f, 0xfd]].concat();
    let mut commands: Vec<Vec<&str>> =
        vec![vec!["--no-csv"], vec!["info"], vec!["stats"], vec!["stats", "--json"]];
    commands.extend([vec!["dump"], vec!["report"], vec!["script"], vec!["check"], vec!["timeline"]]);
    commands.extend(FORMATS.iter().map(|format| vec!["export", "-o", "-", "-f", format.name]));
    for content in [vec![0; 8], round.clone(), sample(7), [sample(7), round, vec![0xff; 24], nested].concat()]
    {
        bomb(&path, &content);
        for words in &commands {
            let arguments = ["--max-expansion", "100", "--no-progress"];
            let output = tool::command().args(words).args(arguments).arg(&path).output().unwrap();
            let told = tool::stderr(&output);
            assert_eq!(output.status.code(), Some(DAMAGED), "{words:?}: {told}");
            assert!(told.contains("--max-expansion TIMES reads more"), "{words:?}: {told}");
            // What one step of zstd gives is 128 KiB.
            assert!(output.stdout.len() < 8 << 20, "{words:?}: {} bytes", output.stdout.len());
        }
    }
}

#[test]
fn a_limit_that_is_high_enough_is_none() {
    let directory = scratch();
    let path = directory.path().join("rounds.data");
    bomb(&path, &sample(7).repeat(100));
    for times in [None, Some("10000000")] {
        let mut command = tool::command();
        command.args(["stats", "--json", "--no-progress"]).arg(&path);
        command.args(times.map(|times| ["--max-expansion", times]).into_iter().flatten());
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", tool::stderr(&output));
        let stats: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let size = sample(7).len() as u64;
        assert_eq!(stats["samples"], ((8 << 20) / (size * 100)) * 400);
    }
}
