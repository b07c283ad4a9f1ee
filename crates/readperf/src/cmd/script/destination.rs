//! Where lines go: to one output, or those of each event to a file of its own.

use crate::blocks::InBlocks;
use crate::input::Input;
use crate::out::{Out, create};
use anyhow::Context as _;
use perffile::Schema;
use readperf::output::text::printable;
use readperf_files::WholeFile;
use std::fs::File;
use std::io::Write;

/// One output for all lines, or one for other records and a file for each event.
pub(super) struct Destination<'i> {
    out: Out,
    events: Option<EventFiles<'i>>,
}

/// The files, which stand beside the recording.
struct EventFiles<'i> {
    input: &'i Input,
    files: Vec<EventFile>,
    /// The file of each event: an index. Events of one name share it.
    of_event: Vec<usize>,
}

struct EventFile {
    file: WholeFile,
    writer: InBlocks<File>,
    bytes: u64,
    samples: u64,
}

impl<'i> Destination<'i> {
    pub(super) fn new(out: Out, input: &'i Input, per_event: bool) -> Destination<'i> {
        let events = per_event.then(|| EventFiles { input, files: Vec::new(), of_event: Vec::new() });
        Destination { out, events }
    }

    /// The one output, or that for records that are no samples.
    pub(super) fn main(&mut self) -> &mut dyn Write {
        &mut self.out
    }

    /// Takes in the events that became known. How many targets there are: one, or one more than events.
    pub(super) fn learn(&mut self, schema: &Schema) -> anyhow::Result<usize> {
        let Some(events) = &mut self.events else { return Ok(1) };
        for event in schema.events().iter().skip(events.of_event.len()) {
            events.add(&event.name)?;
        }
        Ok(1 + events.of_event.len())
    }

    /// Counts a sample of an event.
    pub(super) fn count(&mut self, event: usize) {
        if let Some(file) = self.events.as_mut().and_then(|events| events.file(event)) {
            file.samples += 1;
        }
    }

    /// Writes to a target: 0 is the one output, others are the events from the first on.
    pub(super) fn write(&mut self, target: usize, text: &[u8]) -> anyhow::Result<()> {
        let event = target.checked_sub(1);
        match event.and_then(|event| self.events.as_mut()?.file(event)) {
            Some(file) => {
                file.bytes += text.len() as u64;
                file.writer.write_all(text).with_context(|| file.name())
            }
            None => Ok(self.out.write_all(text)?),
        }
    }

    /// Writes what is left, and says which files there are: those that are to be published.
    pub(super) fn complete(mut self) -> anyhow::Result<Vec<WholeFile>> {
        let mut complete = Vec::new();
        for mut file in self.events.into_iter().flat_map(|events| events.files) {
            let name = file.name();
            file.writer.flush().with_context(|| name.clone())?;
            let mebibytes = file.bytes as f64 / f64::from(1 << 20);
            let (name, samples) = (printable(&name), file.samples);
            writeln!(self.out, "[ readperf script: Wrote {mebibytes:.3} MB {name} ({samples} samples) ]")?;
            complete.push(file.file);
        }
        complete.extend(self.out.complete()?);
        Ok(complete)
    }
}

impl EventFile {
    fn name(&self) -> String {
        self.file.path().display().to_string()
    }
}

impl EventFiles<'_> {
    /// Makes the file of an event: `RECORDING.EVENT.dump`. What of the name would lead to another directory is replaced.
    fn add(&mut self, event: &str) -> anyhow::Result<()> {
        let event = printable(event).replace('/', "_");
        let mut path = self.input.path().unwrap_or_else(|| "stdin".into());
        // Without an end slash, which directories may have.
        path = path.components().collect();
        path.as_mut_os_string().push(format!(".{event}.dump"));
        let known = self.files.iter().position(|known| known.file.path() == path);
        let index = known.unwrap_or(self.files.len());
        if known.is_none() {
            let file = create(&path, &[self.input])?;
            let writer = InBlocks::new(file.writer()?);
            self.files.push(EventFile { file, writer, bytes: 0, samples: 0 });
        }
        self.of_event.push(index);
        Ok(())
    }

    fn file(&mut self, event: usize) -> Option<&mut EventFile> {
        self.files.get_mut(*self.of_event.get(event)?)
    }
}
