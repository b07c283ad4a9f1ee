//! The four tables of 2011, by RFC 4180.

pub mod overview;
pub mod processes;
pub mod results;
pub mod stat;

use std::io::Write;

/// A writer of comma-separated values with one row written: the names of the columns.
///
/// # Errors
/// What the writer says.
pub fn table<W: Write>(out: W, columns: &[&str]) -> Result<csv::Writer<W>, csv::Error> {
    // RFC 4180 ends lines with CR LF; every reader takes LF, and so do people's line tools.
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_record(columns)?;
    Ok(writer)
}

/// A recorded name as text.
fn text(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}
