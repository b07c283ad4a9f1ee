//! The page as a file: the same document, style and scripts, with the answers to what can be asked of it inside.
//!
//! It needs no server and no other file. What may run in it is said by its policy: the one script whose hash stands there.

mod script;
mod stored;

use crate::answers::Answers;
use crate::assets::asset;
use crate::page::{Document, document, functions};
use crate::progress::Progress;
use crate::{Looking, Watch};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::Compression;
use flate2::write::GzEncoder;
use readperf_symbols::Files;
use sha2::{Digest as _, Sha256};
use std::io::{self, Write};
use stored::Stored;

/// How hard the compression tries: what is written once is sent and opened often.
const EFFORT: u32 = 6;

/// Reads a recording, and writes the page about it into one file. `title` takes the place of program, host and date. Gives how many
/// samples it shows.
///
/// # Errors
/// If it cannot be read, or what the writer says.
pub fn write_file<E: From<perffile::Error> + From<io::Error>>(
    looking: Looking<'_>,
    title: Option<String>,
    mut watch: impl FnMut(Watch<'_>),
    out: &mut dyn Write,
) -> Result<u64, E> {
    let files = Files::new();
    let first = looking.first.clone();
    let mut answers = looking.answers(&files, &Progress::default(), &mut watch)?;
    answers.fix(first).map_err(io::Error::other)?;
    answers.title = title;
    write(&mut answers, out)?;
    Ok(answers.explorer.whole().events().iter().map(|event| event.samples).sum())
}

fn write(answers: &mut Answers<'_, '_>, out: &mut dyn Write) -> io::Result<()> {
    let text = |name| asset(name).map(|asset| asset.text).unwrap_or_default();
    let (style, script) = (format!("{}{}", text("flame.css"), text("page.css")), script::script());
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; img-src data:; base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let stored = Stored::of(answers).map_err(io::Error::other)?;
    let Document { start, elements, before, middle, end } = document(&answers.title());
    write!(
        out,
        "{start}<meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n<link rel=\"icon\" href=\"data:image/svg+xml;base64,{}\">\n<style>{style}</style>{elements}{before}{}{middle}",
        STANDARD.encode(text("icon.svg").as_bytes()),
        functions(answers)
    )?;
    // What is no script is not run, whatever its bytes are.
    out.write_all(b"<script type=\"application/octet-stream\" id=\"stored\">")?;
    let text = EncoderWriter::new(&mut *out, &STANDARD);
    let mut packed = GzEncoder::new(text, Compression::new(EFFORT));
    stored.write(&mut packed)?;
    packed.finish()?.finish()?;
    write!(out, "</script>\n<script type=\"module\">{script}</script>{end}")
}
