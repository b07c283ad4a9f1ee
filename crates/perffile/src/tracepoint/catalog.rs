//! All tracepoints of a recording by their id.

use crate::wire::text::decoded;
use std::collections::BTreeMap;

use super::symbol_names::Asked;
use super::{Abi, EventFormat, FormatError, ParseError, PrintFmt, PrintkFormats, SymbolNames, TracingData};

/// What `perf` puts before the fields of an event whose `print fmt` it cannot evaluate.
const FAILED: &[u8] = b"[FAILED TO PARSE]";

/// The tracepoints that a recording describes.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    by_id: BTreeMap<u64, Tracepoint>,
    printk: PrintkFormats,
    abi: Option<Abi>,
    faults: Vec<(String, FormatError)>,
}

/// One tracepoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tracepoint {
    /// Its system, as `sched`.
    pub system: String,
    /// Its fields.
    pub format: EventFormat,
    /// How its text is made, or why the format alone does not suffice.
    pub print: Result<PrintFmt, ParseError>,
}

impl Tracepoint {
    /// Reads one `format` text.
    pub fn parse(system: &str, text: &[u8], abi: Abi) -> Result<Self, FormatError> {
        let format = EventFormat::parse(text, abi)?;
        let print = PrintFmt::parse(&format);
        Ok(Tracepoint { system: system.to_owned(), format, print })
    }

    /// Appends the text of a payload. When it cannot be made, a mark and the fields stand in its place, and the answer
    /// is false.
    pub fn write_text(
        &self,
        payload: &[u8],
        names: &dyn SymbolNames,
        printk: &PrintkFormats,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        if let Ok(print) = &self.print {
            if print.write(&self.format, payload, names, printk, out).is_ok() {
                return true;
            }
            out.truncate(start);
        }
        out.extend_from_slice(FAILED);
        self.format.write_fields(payload, out);
        false
    }
}

impl Catalog {
    /// Reads every event format of a blob. Those that are no formats are listed in [`Catalog::faults`].
    pub fn new(data: &TracingData<'_>) -> Self {
        let abi = data.abi();
        let mut catalog = Catalog {
            printk: PrintkFormats::parse(data.printk_formats),
            abi: Some(abi),
            ..Catalog::default()
        };
        for text in &data.ftrace_formats {
            catalog.add("ftrace", text, abi);
        }
        for system in &data.systems {
            let name = decoded(system.name);
            for text in &system.formats {
                catalog.add(&name, text, abi);
            }
        }
        catalog
    }

    /// The tracepoint with that id (`attr.config` of its event).
    pub fn tracepoint(&self, id: u64) -> Option<&Tracepoint> {
        self.by_id.get(&id)
    }

    /// The tracepoint that wrote the payload of a sample. The payload says so itself in its first field, `common_type`: samples of a group
    /// that its leader takes for all members (`{a,b}:S`) have the leader's payload. Where that is nothing that the recording describes,
    /// it is that of the event, with this id.
    pub fn of_payload(&self, id: u64, payload: &[u8]) -> Option<&Tracepoint> {
        self.tracepoint_of(payload).or_else(|| self.tracepoint(id))
    }

    /// Appends the text of a payload of the event with that id, see [`Catalog::of_payload`]. `None` if the recording does not describe
    /// it; false if fields stand in place of the text, see [`Tracepoint::write_text`].
    pub fn write_text(
        &self,
        id: u64,
        payload: &[u8],
        names: &dyn SymbolNames,
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        Some(self.of_payload(id, payload)?.write_text(payload, names, &self.printk, out))
    }

    /// The addresses that the text of a payload shows as symbols: whoever has names for them gives them to
    /// [`Catalog::write_text`].
    pub fn symbol_addresses(&self, id: u64, payload: &[u8]) -> Vec<u64> {
        let tracepoint = self.of_payload(id, payload);
        let print = tracepoint.and_then(|tracepoint| Some((tracepoint, tracepoint.print.as_ref().ok()?)));
        let Some((tracepoint, _)) = print.filter(|(_, print)| print.shows_symbols()) else {
            return Vec::new();
        };
        let asked = Asked::default();
        tracepoint.write_text(payload, &asked, &self.printk, &mut Vec::new());
        asked.into_addresses()
    }

    /// The tracepoint that a payload names in its first field.
    pub fn tracepoint_of(&self, payload: &[u8]) -> Option<&Tracepoint> {
        self.tracepoint(self.abi?.endian.unsigned(payload.get(..2)?)?)
    }

    /// All tracepoints, by ascending id.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Tracepoint)> {
        self.by_id.iter().map(|(id, tracepoint)| (*id, tracepoint))
    }

    /// Strings of the kernel by address.
    pub fn printk_formats(&self) -> &PrintkFormats {
        &self.printk
    }

    /// Formats that could not be read, with their systems.
    pub fn faults(&self) -> &[(String, FormatError)] {
        &self.faults
    }

    fn add(&mut self, system: &str, text: &[u8], abi: Abi) {
        match Tracepoint::parse(system, text, abi) {
            Ok(tracepoint) => match tracepoint.format.id {
                // The first of two with one id stays.
                Some(id) => {
                    self.by_id.entry(id).or_insert(tracepoint);
                }
                None => self.faults.push((system.to_owned(), FormatError { reason: "no id" })),
            },
            Err(error) => self.faults.push((system.to_owned(), error)),
        }
    }
}
