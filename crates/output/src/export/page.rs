//! The page of a recording as one file: what `readperf view` serves, with the profile inside. It is written by `readperf-view`, which has the
//! recording; here is what the program asks of every format.

use crate::export::{Flag, Format, Needs, Writing};

/// The format.
pub const FORMAT: Format = Format {
    name: "page",
    extensions: &["page.html"],
    help: "the page of `readperf view` with the profile inside, one HTML file: flame graph, calls, functions, code (any browser)",
    binary: false,
    needs: Needs { threads: true, cpus: true, times: true, lines: true, ..Needs::PLACES },
    one_event: false,
    pictures_time: false,
    no_place_for: &[Flag::WithPid, Flag::WithTid, Flag::WithCpu, Flag::Annotate, Flag::Drawing],
    difference: None,
    write: Writing::Recording,
};
