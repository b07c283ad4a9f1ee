//! Which recording and which function: words in any of the forms that people know.

use crate::input::{Input, Reading};
use clap::Args;
use perffile::Recording;
use std::path::{Path, PathBuf};

/// The options.
#[derive(Args, Debug)]
pub(super) struct Words {
    /// The recording: a file, a directory, or - for standard input [default: perf.data]
    #[arg(value_name = "FILE")]
    first: Option<PathBuf>,

    /// The function, as told below [default: the hottest]
    #[arg(value_name = "SYMBOL")]
    second: Option<String>,

    /// The recording, as perf takes it; then the first word is the function
    #[arg(short = 'i', long = "input", value_name = "FILE")]
    named: Option<PathBuf>,

    /// The function, as perf takes it
    #[arg(short = 's', value_name = "SYMBOL", conflicts_with = "second")]
    symbol: Option<String>,

    #[command(flatten)]
    reading: Reading,
}

impl Words {
    /// The recording, and the function if one is meant. `stray` is a word that turned out to be no value of the option before it.
    /// A word alone that is no file, but could not be a function if it were, is a function of the usual recording.
    pub(super) fn input_and_symbol(&self, stray: Option<&str>) -> (Input, Option<String>) {
        let first = self.first.as_ref().map(|word| word.to_string_lossy().into_owned());
        let mut words = stray.map(str::to_owned).into_iter().chain(first).chain(self.second.clone());
        let usual = || PathBuf::from("perf.data");
        let file = self.named.clone();
        let (file, symbol) = match (file, words.next(), words.next()) {
            (Some(file), symbol, _) => (file, symbol),
            (None, Some(file), Some(symbol)) => (PathBuf::from(file), Some(symbol)),
            (None, Some(word), None) => match is_file(&word) {
                true => (PathBuf::from(word), None),
                false => (usual(), Some(word)),
            },
            (None, None, _) => (usual(), None),
        };
        let input = Input::of(file, &self.reading);
        (input, self.symbol.clone().or(symbol))
    }
}

/// What a recording that cannot be opened may be instead: a function, given before the recording or without one.
pub(super) fn meant(input: &Input, symbol: Option<&str>) -> Option<String> {
    let path = input.path()?;
    let name = path.to_str()?;
    match symbol {
        Some(other) if Recording::open(other).is_ok() => Some(format!(
            "{name} is no recording; the recording comes first: readperf annotate {other} {name}"
        )),
        None if !path.exists() && !name.ends_with(".data") && !name.contains('/') => Some(format!(
            "there is no file {name}; if that is a function, the recording comes first: readperf annotate FILE {name}"
        )),
        _ => None,
    }
}

/// Whether a word alone is a recording: there is one, or it is said as one, or there is none of the usual name.
fn is_file(word: &str) -> bool {
    word == "-" || Path::new(word).exists() || word.ends_with(".data") || !Path::new("perf.data").exists()
}
