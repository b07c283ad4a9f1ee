//! A table as a file of Arrow's own format (IPC).

use crate::batches::Batches;
use crate::error::Result;
use arrow_ipc::writer::FileWriter;
use std::fs::File;
use std::io::BufWriter;

/// Writes the rows of a table. Dictionaries are shared by all batches, as the format has it.
pub(super) fn write(batches: Batches, file: &File) -> Result<()> {
    let mut writer = FileWriter::try_new(BufWriter::new(file), &batches.schema())?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    Ok(writer.finish()?)
}
