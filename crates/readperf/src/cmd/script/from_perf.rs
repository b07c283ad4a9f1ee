//! Options of `perf script` that this one has not.

use crate::from_perf::{Foreign, NO_AUX, NO_SWITCH, Table, accepted, refused};

const NO_SCRIPTS: &str = "scripts are not run; --json gives a line of JSON a sample to any program";
const NO_DLFILTER: &str = "nothing is loaded to choose samples; --json and jq do";

/// The options of `perf script`.
#[derive(Clone, Debug)]
pub(super) struct OfScript;

impl Table for OfScript {
    const FOREIGN: &[Foreign] = &[
        // What changes nothing here.
        accepted("force", Some('f'), false),
        accepted("verbose", Some('v'), false),
        accepted("all-cpus", Some('a'), false),
        accepted("show-info", Some('I'), false),
        accepted("debug-mode", None, false),
        accepted("demangle-kernel", None, false),
        accepted("guest-code", None, false),
        accepted("guestmodules", None, true),
        refused(
            "show-kernel-path",
            None,
            false,
            "the kernel is shown by its name; --vmlinux chooses its image",
        ),
        refused("dump-raw-trace", Some('D'), false, "readperf dump shows the records"),
        refused(
            "dump-unsorted-raw-trace",
            None,
            false,
            "readperf dump shows the records as they lie in the file",
        ),
        refused("addr-range", None, true, "samples are chosen by name, not by distance from an address"),
        refused("stitch-lbr", None, false, "branch stacks of call chains are taken as they are"),
        refused("switch-on", None, true, NO_SWITCH),
        refused("switch-off", None, true, NO_SWITCH),
        refused("show-on-off-events", None, false, NO_SWITCH),
        refused("itrace", None, true, NO_AUX).optional(),
        refused("call-trace", None, true, NO_AUX).optional(),
        refused("call-ret-trace", None, true, NO_AUX).optional(),
        refused("insn-trace", None, true, NO_AUX).optional(),
        refused("graph-function", None, true, NO_AUX),
        refused("xed", None, true, "instructions are shown as bytes: -F insn, which xed reads").optional(),
        refused("Latency", Some('L'), false, "times without interrupts or preemption are not shown"),
        refused("script", Some('s'), true, NO_SCRIPTS),
        refused("gen-script", Some('g'), true, NO_SCRIPTS),
        refused("list", Some('l'), false, NO_SCRIPTS),
        refused("dlfilter", None, true, NO_DLFILTER),
        refused("dlarg", None, true, NO_DLFILTER),
        refused("list-dlfilters", None, false, NO_DLFILTER),
    ];
}
