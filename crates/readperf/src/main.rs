//! The program: arguments, dispatch, exit status. Nothing else.
#![deny(unsafe_code)]

mod blocks;
mod cli;
mod cmd;
#[cfg(feature = "debuginfod")]
mod config;
mod elsewhere;
mod from_perf;
mod header;
mod held_places;
mod input;
mod leaving;
mod memory;
mod out;
mod outcome;
mod pager;
mod profile_options;
mod progress;
mod record_filter;
mod row_filters;
mod sample_options;
mod source_files;
mod source_lines;
mod stack;
mod stack_options;
mod suggestion;
mod symbol_options;
mod time_range;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: memory::OrEnd = memory::OrEnd;

fn main() -> ExitCode {
    memory::prepare();
    leaving::prepare();
    stack::on_own_stack(|| match cli::run() {
        Ok(outcome) => outcome.exit_code(),
        Err(error) => outcome::failure(&error),
    })
}
