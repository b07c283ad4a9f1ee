//! Formats of tracepoints without fields: what is left of TRACING_DATA. perf opens no recording with tracepoints that lacks them.

use super::tokens::Tokens;
use perffile::tracepoint::{System, TracingData};
use perffile::wire::event_type::EventType;
use perffile::{ByteOrder, Features};
use std::collections::BTreeSet;

/// The system that all events are in.
const SYSTEM: &str = "events";

/// The head of a page of the kernel's ring buffer, which perf wants to be told and does not use.
fn header_page(long_size: u8, page_size: u32) -> String {
    let head = 8 + u32::from(long_size);
    let rest = page_size.saturating_sub(head);
    format!(
        "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
         \tfield: local_t commit;\toffset:8;\tsize:{long_size};\tsigned:1;\n\
         \tfield: char data;\toffset:{head};\tsize:{rest};\tsigned:1;\n"
    )
}

/// The section for the tracepoints of EVENT_DESC; `None` if there are none, or the formats cannot be read.
pub(super) fn section(tokens: &mut Tokens, features: &Features) -> Option<Vec<u8>> {
    let told = TracingData::parse(features.bytes(perffile::wire::feature::bit::TRACING_DATA)?).ok()?;
    let desc = features.event_desc()?;
    let tracepoints = desc.events.iter().filter(|event| event.attr.kind == EventType::TRACEPOINT);
    let mut seen = BTreeSet::new();
    let mut formats = Vec::new();
    for event in tracepoints.filter(|event| seen.insert(event.attr.config)) {
        let name = tokens.event(&event.attr, event.name.bytes());
        formats.push(format!("name: {name}\nID: {}\nformat:\n\n\nprint fmt: \"\"\n", event.attr.config));
    }
    let header_page = header_page(told.long_size, told.page_size);
    let is_big = told.endian() == ByteOrder::Big;
    let blank = TracingData {
        version: b"0.6",
        big_endian_flag: u8::from(is_big),
        long_size: told.long_size,
        page_size: told.page_size,
        header_page: header_page.as_bytes(),
        systems: vec![System {
            name: SYSTEM.as_bytes(),
            formats: formats.iter().map(String::as_bytes).collect(),
        }],
        saved_cmdlines: Some(&[]),
        ..TracingData::default()
    };
    (!formats.is_empty()).then(|| blank.encode())
}
