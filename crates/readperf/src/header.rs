//! What a recording tells of itself, before an answer.

use anstream::adapter::strip_bytes;
use perffile::Metadata;
use readperf::output::info;
use std::io::Write;

/// Writes what `readperf info` shows, as comments.
pub(crate) fn write_header(out: &mut impl Write, metadata: &Metadata) -> anyhow::Result<()> {
    let mut text = Vec::new();
    info::write_text(&mut text, metadata)?;
    let text = strip_bytes(&text).into_vec();
    for line in text.strip_suffix(b"\n").unwrap_or(&text).split(|byte| *byte == b'\n') {
        out.write_all(if line.is_empty() { b"#" } else { b"# " })?;
        out.write_all(line)?;
        out.write_all(b"\n")?;
    }
    Ok(out.write_all(b"#\n")?)
}
