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

/// `EM_*` of the ELF specification and its supplements, as far as Linux runs on them.
const MACHINES: [(u32, &str); 17] = [
    (2, "SPARC"),
    (3, "x86 (32-bit)"),
    (4, "m68k"),
    (8, "MIPS"),
    (15, "PA-RISC"),
    (20, "PowerPC"),
    (21, "PowerPC 64"),
    (22, "s390"),
    (40, "Arm (32-bit)"),
    (42, "SuperH"),
    (43, "SPARC V9"),
    (50, "Itanium"),
    (62, "x86-64"),
    (94, "Xtensa"),
    (183, "AArch64"),
    (243, "RISC-V"),
    (258, "LoongArch"),
];

/// What machine the recorded program is for.
pub(super) fn machine(page: &mut Page, name: &str, machine: EMachine) {
    let known = MACHINES.iter().find(|(number, _)| *number == machine.e_machine);
    let flags = if machine.e_flags == 0 { String::new() } else { format!(", flags {:#x}", machine.e_flags) };
    let known = known.map_or("not known", |(_, name)| name);
    page.fact(name, format!("{known} (machine {}{flags})", machine.e_machine));
}

/// `BPF_PROG_TYPE_*` of `linux/bpf.h`, by number.
const PROGRAM_TYPES: [&str; 33] = [
    "unspec",
    "socket_filter",
    "kprobe",
    "sched_cls",
    "sched_act",
    "tracepoint",
    "xdp",
    "perf_event",
    "cgroup_skb",
    "cgroup_sock",
    "lwt_in",
    "lwt_out",
    "lwt_xmit",
    "sock_ops",
    "sk_skb",
    "cgroup_device",
    "sk_msg",
    "raw_tracepoint",
    "cgroup_sock_addr",
    "lwt_seg6local",
    "lirc_mode2",
    "sk_reuseport",
    "flow_dissector",
    "cgroup_sysctl",
    "raw_tracepoint_writable",
    "cgroup_sockopt",
    "tracing",
    "struct_ops",
    "ext",
    "lsm",
    "sk_lookup",
    "syscall",
    "netfilter",
];

/// Each BPF program: its id, name, type, tag and the size of its machine code.
pub(super) fn programs(page: &mut Page, name: &str, info: &BpfProgInfo<'_>, order: ByteOrder) {
    let lines = info.programs.iter().map(|program| program_words(program, order));
    page.block(name, counted(info.programs.len(), "program"), lines);
}

fn program_words(program: &BpfProgram<'_>, order: ByteOrder) -> String {
    let Some(head) = program.head(order) else {
        return format!("one that tells only {} bytes of itself", program.info.len());
    };
    let kind = usize::try_from(head.prog_type).ok().and_then(|number| PROGRAM_TYPES.get(number));
    let kind = kind.map_or_else(|| format!("type {}", head.prog_type), |name| (*name).to_owned());
    let code = grouped(u64::from(head.jited_prog_len));
    let name = printable_bytes(until_nul(&head.name));
    format!("{} {name}  {kind}, tag {}, {code} bytes of machine code", head.id, hex(&head.tag))
}

/// How much type information.
pub(super) fn types(page: &mut Page, name: &str, btf: &BpfBtf<'_>) {
    let bytes: usize = btf.btfs.iter().map(|btf| btf.data.len()).sum();
    page.fact(name, format!("{}, {} bytes", counted(btf.btfs.len(), "object"), grouped(bytes as u64)));
}
