//! Programs in words: what machine they are for, and the BPF programs that were loaded.

use super::counted;
use super::page::Page;
use crate::json::hex;
use crate::text::{grouped, printable_bytes};
use perffile::ByteOrder;
use perffile::wire::feature::bpf_btf::BpfBtf;
use perffile::wire::feature::bpf_prog_info::{BpfProgInfo, BpfProgram};
use perffile::wire::feature::e_machine::EMachine;
use perffile::wire::text::until_nul;

/// What machine the recorded program is for.
pub(super) fn machine(page: &mut Page, name: &str, machine: EMachine) {
    let flags = if machine.e_flags == 0 { String::new() } else { format!(", flags {:#x}", machine.e_flags) };
    let known = machine.e_machine.name().unwrap_or("not known");
    page.fact(name, format!("{known} (machine {}{flags})", machine.e_machine.0));
}

/// Each BPF program: its id, name, type, tag and the size of its machine code.
pub(super) fn programs(page: &mut Page, name: &str, info: &BpfProgInfo<'_>, order: ByteOrder) {
    let lines = info.programs.iter().map(|program| program_words(program, order));
    page.block(name, counted(info.programs.len(), "program"), lines);
}

fn program_words(program: &BpfProgram<'_>, order: ByteOrder) -> String {
    let Some(head) = program.head(order) else {
        return format!("one that tells only {} bytes of itself", program.info.len());
    };
    let kind = head.prog_type;
    let kind = kind.name().map_or_else(|| format!("type {}", kind.0), str::to_owned);
    let code = grouped(u64::from(head.jited_prog_len));
    let name = printable_bytes(until_nul(&head.name));
    format!("{} {name}  {kind}, tag {}, {code} bytes of machine code", head.id, hex(&head.tag))
}

/// How much type information.
pub(super) fn types(page: &mut Page, name: &str, btf: &BpfBtf<'_>) {
    let bytes: usize = btf.btfs.iter().map(|btf| btf.data.len()).sum();
    page.fact(name, format!("{}, {} bytes", counted(btf.btfs.len(), "object"), grouped(bytes as u64)));
}
