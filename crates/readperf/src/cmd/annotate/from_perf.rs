//! Options of `perf annotate` that this one has not.

use crate::elsewhere::BROWSER;
use crate::from_perf::{Foreign, NO_AUX, Table, accepted, refused};

const NO_TYPES: &str = "types of data are not told; the listing shows the code";

/// The options of `perf annotate`.
#[derive(Clone, Debug)]
pub(super) struct OfAnnotate;

impl Table for OfAnnotate {
    const FOREIGN: &[Foreign] = &[
        // Which interface, and what only perf's own interface shows.
        accepted("tui", None, false).noted(BROWSER),
        accepted("gtk", None, false).noted(BROWSER),
        accepted("stdio", None, false),
        accepted("stdio2", None, false),
        accepted("force", Some('f'), false),
        accepted("verbose", Some('v'), false),
        // What is done here without other programs.
        accepted("objdump", None, true),
        accepted("addr2line", None, true),
        // What is always so here.
        accepted("print-line", Some('l'), false),
        accepted("full-paths", Some('P'), false),
        accepted("modules", Some('m'), false),
        accepted("skip-empty", None, false),
        accepted("skip-missing", None, false),
        accepted("group", None, false),
        accepted("no-group", None, false),
        accepted("demangle-kernel", None, false),
        accepted("no-asm-raw", None, false),
        refused("prefix", None, true, "--source-prefix OLD=NEW says where source files are instead"),
        refused("prefix-strip", None, true, "--source-prefix OLD=NEW says where source files are instead"),
        refused("itrace", None, true, NO_AUX).optional(),
        refused("data-type", None, true, NO_TYPES).optional(),
        refused("type-stat", None, false, NO_TYPES),
        refused("insn-stat", None, false, NO_TYPES),
        refused("code-with-type", None, false, NO_TYPES),
        refused(
            "ignore-vmlinux",
            None,
            false,
            "an image of the kernel is used if it is the recorded one; --kallsyms names another source",
        ),
        refused("dump-raw-trace", Some('D'), false, "readperf dump shows the records"),
    ];
}
