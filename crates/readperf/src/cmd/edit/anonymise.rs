//! `--anonymise`: tokens in the place of names.

use anyhow::Context as _;
use clap::Args;
use perffile::write::Edit;
use readperf_edit::{Anonymiser, Key};
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

/// Longest key that is read, in bytes.
const LONGEST_KEY: u64 = 1 << 16;

/// Most kinds of records and features that are told by name.
const MOST_TOLD: usize = 12;

/// How names are replaced.
#[derive(Args, Debug)]
#[command(next_help_heading = "Without names")]
pub(super) struct AnonymiseOptions {
    /// Put tokens in the place of the names of threads, binaries, cgroups, events that are not the same everywhere, and the host; leave out the
    /// command line, raw data, registers, copies of stacks and all that is not understood
    #[arg(long, visible_alias = "anonymize")]
    anonymise: bool,

    /// Make the tokens with the secret in this file: they are then the same in all recordings that are written with it
    #[arg(long, value_name = "FILE", requires = "anonymise")]
    key: Option<PathBuf>,

    /// Keep build-ids, which tell whoever has a binary that it was recorded
    #[arg(long, requires = "anonymise")]
    keep_build_ids: bool,
}

impl AnonymiseOptions {
    /// Whether it was asked for.
    pub(super) fn is_asked_for(&self) -> bool {
        self.anonymise
    }

    /// Puts tokens in the place of names behind another editor.
    pub(super) fn anonymiser<E: Edit>(&self, inner: E) -> anyhow::Result<Anonymiser<E>> {
        let key = self.key.as_ref().map(|path| {
            let mut secret = Vec::new();
            let name = || format!("--key {}", path.display());
            File::open(path)
                .and_then(|file| file.take(LONGEST_KEY).read_to_end(&mut secret))
                .with_context(name)?;
            Key::new(&secret).with_context(|| format!("{}: it is empty", name()))
        });
        Ok(Anonymiser::new(inner, key.transpose()?, self.keep_build_ids))
    }
}

/// Says what became of names, and what was left out.
pub(super) fn told<E: Edit>(anonymiser: &Anonymiser<E>) -> String {
    let mut line = format!("anonymised: {} names are tokens", anonymiser.names());
    let left_out = anonymiser.left_out();
    if !left_out.is_empty() {
        let named = left_out.iter().take(MOST_TOLD).map(|(what, count)| match count {
            1 => what.clone(),
            _ => format!("{what} ({count})"),
        });
        let named: Vec<String> = named.collect();
        let more = left_out.len().saturating_sub(MOST_TOLD);
        let more = if more > 0 { format!(" and {more} more kinds") } else { String::new() };
        line.push_str(&format!("; left out, since they may hold names: {}{more}", named.join(", ")));
    }
    line
}
