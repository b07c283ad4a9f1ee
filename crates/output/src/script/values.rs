//! The rarer values of a sample: memory, registers, branches, output of programs.

use super::columns::Columns;
use super::fields::{ScriptField, ScriptFields};
use super::{Known, places};
use crate::buffer::Append as _;
use crate::digits::{decimal, hex, right};
use crate::text::printable_bytes;
use perffile::wire::branch::BranchFlags;
use perffile::wire::data_src::DataSrc;
use perffile::wire::registers::{Machine, RegsAbi};
use perffile::wire::sample::{Registers, Sample};
use perffile::wire::weight::WeightParts;
use readperf_analysis::pass;
use readperf_profile::AddressId;

/// Fields that need all of a sample to be decoded.
const DECODED: ScriptFields = ScriptFields::of(&[
    ScriptField::Trace,
    ScriptField::Addr,
    ScriptField::DataSrc,
    ScriptField::Weight,
    ScriptField::InstructionLatency,
    ScriptField::RetireLatency,
    ScriptField::RegsIntr,
    ScriptField::RegsUser,
    ScriptField::Branches,
    ScriptField::BranchSymbols,
    ScriptField::BranchOffsets,
    ScriptField::PhysAddr,
    ScriptField::DataPageSize,
    ScriptField::CodePageSize,
    ScriptField::Cgroup,
]);

/// Fields that few lines have: all that stands between the event and the address, or behind the places.
const RARE: ScriptFields = DECODED.or(ScriptFields::of(&[
    ScriptField::BranchCode,
    ScriptField::BranchCodeLengths,
    ScriptField::Instruction,
    ScriptField::InstructionLength,
]));

/// Whether any of these is among the fields.
pub(super) fn has_rare(fields: ScriptFields) -> bool {
    !fields.and(RARE).is_empty()
}

/// Whether the lines of an event need more than the essentials of its samples.
pub(super) fn needed(columns: &Columns) -> bool {
    !columns.fields.and(DECODED).is_empty() || columns.is_bpf_output
}

/// Escapes what could drive a terminal in the text from `start` on; tabs do no harm.
pub(super) fn make_harmless(out: &mut Vec<u8>, start: usize) {
    let text = out.get(start..).unwrap_or_default();
    if text.iter().all(|byte| (0x20..0x7f).contains(byte) || *byte == b'\t') {
        return;
    }
    let harmless = places::shown_with_tabs(text);
    out.truncate(start);
    out.extend_from_slice(&harmless);
}

/// Where the data came from, as bits and in words; as long as perf's buffer is. Each is as wide as the widest before.
pub(super) fn write_data_src(out: &mut Vec<u8>, source: Option<DataSrc>, width: usize) {
    let before = out.len();
    push_data_src(out, source);
    let written = out.len() - before;
    out.pad(width.saturating_sub(written));
}

/// How wide that is.
pub(super) fn data_src_width(source: Option<DataSrc>) -> usize {
    let mut text = Vec::new();
    push_data_src(&mut text, source);
    text.len()
}

fn push_data_src(out: &mut Vec<u8>, source: Option<DataSrc>) {
    const LONGEST: usize = 99;
    let source = source.unwrap_or(DataSrc::NOT_AVAILABLE);
    let before = out.len();
    hex(out, source.0, 16);
    out.push(b' ');
    out.extend_from_slice(source.to_string().as_bytes());
    out.truncate(before + LONGEST);
}

/// Weight and latencies.
pub(super) fn write_weights(out: &mut Vec<u8>, sample: &Sample<'_>, fields: ScriptFields) {
    let parts = sample.weight_struct;
    let weight = sample.weight.or(parts.map(WeightParts::var1));
    let latency = parts.map_or(0, WeightParts::var2);
    let retire = parts.map_or(0, WeightParts::var3);
    for (field, value) in [
        (ScriptField::Weight, weight.unwrap_or_default()),
        (ScriptField::InstructionLatency, latency),
        (ScriptField::RetireLatency, retire),
    ] {
        if fields.has(field) {
            decimal(out, value, 16);
        }
    }
}

/// Registers with their names.
pub(super) fn write_registers(out: &mut Vec<u8>, registers: &Registers<'_>, machine: Option<Machine>) {
    if registers.abi == RegsAbi::NONE {
        return;
    }
    out.extend_from_slice(b" ABI:");
    decimal(out, registers.abi.0, 0);
    out.push(b' ');
    for (number, value) in registers.iter() {
        let name = machine.and_then(|machine| machine.register_name(number, registers.abi));
        right(out, name.as_deref().unwrap_or("unknown").as_bytes(), 5);
        out.extend_from_slice(b":0x");
        hex(out, value, 0);
        out.push(b' ');
    }
}

/// The branch stack, as the fields ask for it: addresses, functions, or offsets in binaries.
pub(super) fn write_branches(
    out: &mut Vec<u8>,
    known: &Known<'_>,
    line: &pass::Sample<'_, '_>,
    sample: &Sample<'_>,
    fields: ScriptFields,
) {
    let Some(branches) = &sample.branch_stack else { return };
    let how = [ScriptField::Branches, ScriptField::BranchSymbols, ScriptField::BranchOffsets];
    let Some(how) = how.into_iter().find(|how| fields.has(*how)) else { return };
    let mut places = line.branches.iter();
    for branch in branches.entries.iter() {
        let (from, to) = places.next().map(|branch| (branch.from, branch.to)).unzip();
        if how != ScriptField::BranchSymbols {
            out.push(b' ');
        }
        write_end(out, known, branch.from, from, how, fields);
        out.push(b'/');
        write_end(out, known, branch.to, to, how, fields);
        write_flags(out, branch.flags);
    }
}

/// One end of a branch.
fn write_end(
    out: &mut Vec<u8>,
    known: &Known<'_>,
    address: u64,
    place: Option<AddressId>,
    how: ScriptField,
    fields: ScriptFields,
) {
    let code = place.and_then(|id| known.addresses.get(id));
    let binary = code.and_then(|code| known.session.binary(code.binary?));
    match (how, code, place) {
        (ScriptField::BranchSymbols, Some(code), Some(id)) => {
            let function = known.names.function_at(id).and_then(|function| known.names.function(function));
            places::write_symbol(out, &code, function, true, function.and_then(places::name_of));
        }
        (ScriptField::BranchOffsets, Some(code), _) => {
            out.extend_from_slice(b"0x");
            hex(out, code.address, 0);
        }
        _ => {
            out.extend_from_slice(b"0x");
            hex(out, address, 0);
        }
    }
    if fields.has(ScriptField::Dso) {
        out.push(b'(');
        out.extend_from_slice(places::binary_name(binary).as_bytes());
        out.push(b')');
    }
}

/// Prediction, transaction, abort, cycles, kind; an unknown kind is left out. perf 6.1 does not tell the speculation.
fn write_flags(out: &mut Vec<u8>, flags: BranchFlags) {
    let text = flags.to_string();
    let mut parts = text.rsplitn(3, '/');
    let (_, kind, rest) = (parts.next(), parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    out.push(b'/');
    out.extend_from_slice(rest.as_bytes());
    out.push(b'/');
    if flags.kind() != 0 {
        out.extend_from_slice(kind.as_bytes());
    }
    out.push(b' ');
}

/// A size of a page: perf's unit is the greatest of which there are at least two.
pub(super) fn write_page_size(out: &mut Vec<u8>, size: u64) {
    if size == 0 {
        out.extend_from_slice(b"N/A");
        return;
    }
    let mut left = size;
    let mut units = b"BKMG".iter();
    let mut unit = units.next();
    while left / 1024 > 1
        && let Some(next) = units.next()
    {
        left /= 1024;
        unit = Some(next);
    }
    decimal(out, left, 0);
    out.extend(unit);
}

/// The output of a BPF program: a dump of its bytes, and the text if it is one.
pub(super) fn write_bpf_output(out: &mut Vec<u8>, raw: &[u8]) {
    const IN_LINE: usize = 8;
    out.push(b'\n');
    for (nr, bytes) in raw.chunks(IN_LINE).enumerate() {
        right(out, if nr == 0 { b"BPF output:" } else { b"           " }, 17);
        out.push(b' ');
        let address = nr * IN_LINE;
        let mut text = Vec::new();
        hex(&mut text, address as u64, 0);
        out.extend(std::iter::repeat_n(b'0', 4usize.saturating_sub(text.len())));
        out.extend_from_slice(&text);
        out.push(b':');
        for place in 0..IN_LINE {
            match bytes.get(place) {
                Some(byte) => out.extend_from_slice(format!(" {byte:02x}").as_bytes()),
                None => out.extend_from_slice(b"   "),
            }
        }
        out.extend_from_slice(b"  ");
        for place in 0..IN_LINE {
            let shown = |byte: &u8| if (0x20..0x7f).contains(byte) { *byte } else { b'.' };
            out.push(bytes.get(place).map_or(b' ', shown));
        }
        out.push(b'\n');
    }
    let end = raw.iter().position(|byte| *byte == 0);
    if let Some(end) = end
        && let (Some(text), Some(rest)) = (raw.get(..end), raw.get(end..))
        && text.iter().all(|byte| (0x20..0x7f).contains(byte))
        && rest.iter().all(|byte| *byte == 0)
    {
        right(out, b"BPF string:", 17);
        out.extend_from_slice(b" \"");
        out.extend_from_slice(printable_bytes(text).as_bytes());
        out.extend_from_slice(b"\"\n");
    }
}
