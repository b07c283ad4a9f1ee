//! The tracepoint descriptions of a recording in words.

use super::super::features::{endian_name, parse_tracing_data};
use super::page::Page;
use super::{by_key, counted};
use crate::text::{binary_size, grouped, printable, printable_bytes};
use perffile::tracepoint::Catalog;

/// Version and origin of the blob, the events it describes, and the tables it brings along.
pub(super) fn data(page: &mut Page, blob: &[u8]) {
    let (data, error) = parse_tracing_data(blob);
    let catalog = Catalog::new(&data);
    let machine = format!("{}, {}-byte long", endian_name(data.endian()), data.long_size);
    let page_size = binary_size(u64::from(data.page_size));
    page.fact(
        "tracing data",
        format!("version {}, {machine}, pages of {page_size}", printable_bytes(data.version)),
    );
    if let Some(error) = error {
        page.fact("", format!("damaged: {}", printable(&error)));
    }
    if !catalog.faults().is_empty() {
        page.fact("", format!("{} cannot be read", counted(catalog.faults().len(), "event format")));
    }
    let events = catalog.iter().map(|(_, tracepoint)| {
        (printable(&tracepoint.system).into_owned(), printable(&tracepoint.format.name).into_owned())
    });
    let mut systems = by_key(events);
    systems.sort();
    for (system, mut names) in systems {
        names.sort();
        page.inner_items(&format!("{system}:"), &names);
    }
    let tables = [
        ("kallsyms", data.kallsyms.len()),
        ("printk formats", data.printk_formats.len()),
        ("command lines", data.saved_cmdlines.map_or(0, <[u8]>::len)),
    ];
    let tables = tables.iter().filter(|(_, bytes)| *bytes > 0);
    let tables: Vec<String> =
        tables.map(|(name, bytes)| format!("{name} {} bytes", grouped(*bytes as u64))).collect();
    if !tables.is_empty() {
        page.inner_items("with", &tables);
    }
}
