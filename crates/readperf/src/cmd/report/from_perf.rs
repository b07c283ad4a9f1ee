//! Options of `perf report` that this one has not.

use crate::elsewhere::BROWSER;
use crate::from_perf::{Foreign, NO_AUX, NO_SWITCH, Table, accepted, refused};

const NO_CODE: &str = "readperf annotate shows code, and takes -M";

/// The options of `perf report`.
#[derive(Clone, Debug)]
pub(super) struct OfReport;

impl Table for OfReport {
    const FOREIGN: &[Foreign] = &[
        // Which interface, and what only perf's own interface shows.
        accepted("tui", None, false).noted(BROWSER),
        accepted("gtk", None, false).noted(BROWSER),
        accepted("force", Some('f'), false),
        accepted("verbose", Some('v'), false),
        accepted("samples", None, true),
        accepted("percent-type", None, true),
        accepted("pretty", None, true),
        accepted("asm-raw", None, false),
        accepted("no-asm-raw", None, false),
        accepted("source", None, false),
        accepted("no-source", None, false),
        accepted("objdump", None, true),
        accepted("addr2line", None, true),
        accepted("prefix", None, true),
        accepted("prefix-strip", None, true),
        // What is always so here.
        accepted("ns", None, false),
        accepted("modules", Some('m'), false),
        accepted("skip-empty", None, false),
        accepted("demangle-kernel", None, false),
        accepted("no-group", None, false),
        refused("disassembler-style", Some('M'), true, NO_CODE),
        refused(
            "branch-history",
            None,
            false,
            "branches are not added to call chains; -b shows them by themselves",
        ),
        refused("stitch-lbr", None, false, "branch stacks of call chains are taken as they are"),
        refused(
            "show-ref-call-graph",
            None,
            false,
            "every event has the call chains that were recorded with it",
        ),
        refused(
            "ignore-callees",
            None,
            true,
            "callees are not left out; --ignore leaves samples out by their stack",
        ),
        refused("itrace", None, true, NO_AUX).optional(),
        refused(
            "total-cycles",
            None,
            false,
            "blocks of branch stacks are not put together; -b --sort +cycles is near",
        ),
        refused("switch-on", None, true, NO_SWITCH),
        refused("switch-off", None, true, NO_SWITCH),
        refused("show-on-off-events", None, false, NO_SWITCH),
        refused("disable-order", None, false, "records are always put in the order of their times"),
        refused(
            "ignore-vmlinux",
            None,
            false,
            "an image of the kernel is used if it is the recorded one; --kallsyms names another source",
        ),
        refused("dump-raw-trace", Some('D'), false, "readperf dump shows the records"),
        refused("stats", None, false, "readperf stats shows them"),
        refused("mmaps", None, false, "readperf dump --type MMAP,MMAP2 shows mappings"),
        refused(
            "tasks",
            None,
            false,
            "readperf writes processes.csv; readperf dump --type COMM,FORK,EXIT shows the records",
        ),
        refused("T", Some('T'), false, "readperf stat shows what was counted"),
    ];
}
