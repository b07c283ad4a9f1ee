//! The page itself, in Markdown.

use super::conditions::{ATTR_SIZES, Conditional, SMALL, Search};
use super::declarations::{self, Declared};
use super::sources;
use perffile::wire::attr::{AttrFlags, BranchSampleType, ReadFormat, SampleType};
use perffile::wire::feature::FEATURES;
use perffile::wire::misc::{BITS, MiscBit};
use perffile::wire::protection::{MapFlags, Protection};
use perffile::wire::record::aux::AuxFlags;
use perffile::wire::record::{RECORDS, USER_RECORDS, record_name};
use std::any::type_name;
use std::fmt::Write as _;

const HEAD: &str = "\
# The records and features of perf.data

What follows is made from the declarations in `crates/perffile/src/wire`, from which readperf also decodes, encodes and
shows them. Do not edit it: a test keeps it up to date, and `READPERF_BLESS=1 cargo test -p perffile --test reference_page`
writes it anew.

Fields are in the order of the bytes, without gaps, in the byte order of the machine that recorded. `a.b` is field `b` of
each structure `a`. *When* tells on what the presence of a field depends; nothing there means always. `string` is a u32 length and that many bytes, a NUL and padding among them.

";

/// All of the page.
pub(crate) fn page() -> String {
    let mut page = HEAD.to_owned();
    records(&mut page);
    attr(&mut page);
    misc(&mut page);
    bit_tables(&mut page);
    features(&mut page);
    page.truncate(page.trim_end().len());
    page.push('\n');
    page
}

fn records(page: &mut String) {
    page.push_str(
        "## Records\n\nEach begins with u32 `type`, u16 `misc`, u16 `size` (of all of it, in bytes). Records below 64 are the \
         kernel's; they end with the trailer if the attr has `sample_id_all`, SAMPLE excepted. Those from 64 on are perf's.\n\n",
    );
    let declared = declarations::records();
    assert_eq!(declared.len(), RECORDS.len(), "every record of the registry is declared here");
    for kind in RECORDS {
        let record = declared.iter().find(|record| record.number == kind.number).expect("a declaration");
        let writer = match kind.number {
            ..USER_RECORDS => format!("the kernel, since {}", kind.since),
            USER_RECORDS..32_768 => format!("perf, since {}", kind.since),
            _ => kind.since.to_owned(),
        };
        let _ = writeln!(page, "### {} {}\n\nBy {writer}. {}\n", kind.number, kind.name, about(record));
        fields(page, record, SMALL);
    }
    page.push_str(
        "### The trailer\n\nAt the end of the kernel's records but SAMPLE, with `sample_id_all`.\n\n",
    );
    fields(page, &declarations::trailer(), SMALL);
}

/// What the sources say of a type, without what the heading has said.
fn about(declared: &Declared) -> String {
    let text = sources::module(declared.type_name);
    let kept: Vec<&str> = text.split_inclusive(". ").filter(|part| !part.starts_with("Since ")).collect();
    kept.concat().trim().to_owned()
}

/// The name of a field without that of what it is inside of.
fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

fn fields(page: &mut String, declared: &Declared, values: &[u64]) {
    let fields = Search::new(declared.declaration, values).fields();
    if fields.is_empty() {
        page.push_str("No fields.\n\n");
        return;
    }
    page.push_str("| field | on the wire | when | meaning |\n|---|---|---|---|\n");
    for Conditional { field, when } in &fields {
        let name = last(&field.path);
        // What is left of a size is no multiple of it.
        let count = field.count.as_deref().filter(|_| name != "tail");
        let wire = match count {
            Some("to the end") => format!("{} … to the end", field.wire),
            Some(count) if count.starts_with(|c: char| c.is_ascii_digit()) => {
                format!("{} × {count}", field.wire)
            }
            Some(count) => format!("{} × `{}`", field.wire, last(count)),
            None => field.wire.clone(),
        };
        let mut meaning = sources::field(field.owner, name, &field.wire).replace('|', "\\|");
        let counted = fields.iter().filter(|other| other.field.count.as_ref() == Some(&field.path));
        if let Some(first) = counted.map(|other| last(&other.field.path)).next()
            && meaning.is_empty()
        {
            meaning = if name == "size" { "Size in bytes.".into() } else { format!("How many `{first}`.") };
        }
        if !field.values.is_empty() {
            let values: Vec<String> = field.values.iter().map(|(nr, name)| format!("{nr} {name}")).collect();
            meaning = format!("{}: {}.", meaning.trim_end_matches('.'), values.join(", "));
        }
        let _ = writeln!(page, "| `{}` | {wire} | {when} | {meaning} |", field.path);
    }
    page.push('\n');
}

fn attr(page: &mut String) {
    page.push_str("## `perf_event_attr`\n\nIts `size` says how much of it is there: each condition is a published size.\n\n");
    fields(page, &declarations::attr(), ATTR_SIZES);
}

fn table(page: &mut String, title: &str, rows: &[(u32, String, String)]) {
    assert!(!rows.is_empty(), "{title} has rows");
    let _ = writeln!(page, "## {title}\n\n| bit | name | meaning |\n|---|---|---|");
    for (bit, name, meaning) in rows {
        let _ = writeln!(page, "| {bit} | `{name}` | {meaning} |");
    }
    page.push('\n');
}

fn misc(page: &mut String) {
    page.push_str(
        "## CPU modes\n\nThe lowest three bits of `misc`: 0 unknown, 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest \
         user.\n\n",
    );
    let row = |bit: &MiscBit| {
        let records: Vec<_> = bit.records.iter().map(|number| record_name(*number)).collect();
        let meaning = format!("{}: {}", records.join(", "), bit.meaning);
        (bit.value.trailing_zeros(), bit.constant.to_owned(), meaning)
    };
    table(page, "Other bits of `misc`", &BITS.iter().map(row).collect::<Vec<_>>());
}

fn bit_tables(page: &mut String) {
    let known = [
        ("`sample_type`", type_name::<SampleType>(), SampleType::NAMES.len()),
        ("`read_format`", type_name::<ReadFormat>(), ReadFormat::NAMES.len()),
        ("`branch_sample_type`", type_name::<BranchSampleType>(), BranchSampleType::NAMES.len()),
        ("`flags` of the attr", type_name::<AttrFlags>(), AttrFlags::NAMES.len()),
        ("`prot` of MMAP2", type_name::<Protection>(), Protection::NAMES.len()),
        ("`flags` of MMAP2", type_name::<MapFlags>(), MapFlags::NAMES.len()),
        ("`flags` of AUX", type_name::<AuxFlags>(), AuxFlags::NAMES.len()),
    ];
    for (title, name, count) in known {
        let rows = sources::bits(name);
        assert_eq!(rows.len(), count, "the source of {title} is read to its end");
        table(page, title, &rows);
    }
}

fn features(page: &mut String) {
    page.push_str("## Header features\n\n");
    let declared = declarations::features();
    for kind in FEATURES {
        let _ = writeln!(page, "### {} {}\n", kind.bit, kind.name);
        match declared.iter().find(|feature| feature.number == kind.bit) {
            Some(feature) => {
                let _ = writeln!(page, "{}\n", about(feature));
                fields(page, feature, SMALL);
            }
            None => page.push_str("Bytes that are kept as they are, or none.\n\n"),
        }
    }
}
