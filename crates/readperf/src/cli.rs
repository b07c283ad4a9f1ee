//! The command line: the main job, and one subcommand a file in [`crate::cmd`].

use crate::cmd::{COMMANDS, overview};
use crate::outcome::{Outcome, USAGE, say, wrong_usage};
use crate::{elsewhere, suggestion};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args as _, Command, FromArgMatches as _};
use readperf_output::text::printable_bytes;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

const EXAMPLES: &str = "\
Examples:
  readperf perf.data                      the hottest functions, and four CSV files in the current directory
  readperf perf.data --no-csv             the same without files
  readperf info perf.data                 what the recording says of itself
  readperf stats --json perf.data         records by type, samples and periods by event
  readperf dump perf.data | less          every record, every field
  perf record -o - -- make | readperf stats -

Exit status: 0 fine; 1 no answer, or an output that was asked for could not be written; 2 wrong usage;
3 answered, but the input was damaged; 4 diff --fail-over: something has grown.";

/// The whole command line.
pub(crate) fn command() -> Command {
    // The derived part comes first: it would put the comment on the struct in the place of the text for people.
    overview::Arguments::augment_args(Command::new("readperf"))
        .version(env!("CARGO_PKG_VERSION"))
        .about("Reads Linux perf.data: who spent the time")
        .long_about(
            "Reads Linux perf.data: who spent the time.\n\n\
             Without a command: prints functions by their share of each event, and writes stat.csv, overview.csv, \
             processes.csv and results.csv.",
        )
        .after_help(EXAMPLES)
        .args_conflicts_with_subcommands(true)
        .subcommand_negates_reqs(true)
        .subcommands(COMMANDS.iter().map(|entry| (entry.command)()))
}

/// Parses the arguments and runs what they ask for.
pub(crate) fn run() -> anyhow::Result<Outcome> {
    let matches = command().try_get_matches().unwrap_or_else(|error| {
        if let Some(word) = mistyped_command() {
            end_at(&word);
        }
        let unknown =
            error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument);
        if let Some(ContextValue::String(option)) = unknown
            && let Some(here) = elsewhere::command(option)
        {
            say(&format!("error: there is no {option}: {here}"));
            std::process::exit(USAGE);
        }
        refuse(&error)
    });
    if let Some(word) = mistyped_alone() {
        end_at(&word);
    }
    dispatch(&matches)
}

/// Ends the program with clap's own words, which quote the arguments: what in them could drive a terminal is made harmless first.
fn refuse(error: &clap::Error) -> ! {
    let arguments = std::env::args_os().map(|argument| printable_bytes(argument.as_bytes()).into_owned());
    match command().try_get_matches_from(arguments) {
        Err(same) => same.exit(),
        Ok(_) => wrong_usage(&error.to_string()),
    }
}

/// Ends the program at a word that is neither a command nor a file; says what it may have meant.
fn end_at(word: &str) -> ! {
    match elsewhere::command(word) {
        Some(here) => say(&format!("error: `{word}` is no command: {here}")),
        None => {
            let hint = suggestion::hint(word, COMMANDS.iter().map(|entry| entry.name));
            say(&format!("error: `{word}` is neither a command nor a file{hint}; see readperf --help"));
        }
    }
    std::process::exit(USAGE);
}

/// The only word, if it is no file but much like a command, or one elsewhere.
fn mistyped_alone() -> Option<String> {
    let mut words = std::env::args_os().skip(1);
    let only = words.next()?.into_string().ok()?;
    let is_word = words.next().is_none() && only.chars().all(char::is_alphabetic);
    if !is_word || Path::new(&only).exists() {
        return None;
    }
    let meant = suggestion::closest(&only, COMMANDS.iter().map(|entry| entry.name));
    let is_meant = meant.map_or_else(|| elsewhere::command(&only).is_some(), |meant| meant != only);
    (is_meant && only != "help").then_some(only)
}

/// The first word, if more follow and it is no file: whoever wrote it meant a command.
fn mistyped_command() -> Option<String> {
    let mut words = std::env::args_os().skip(1);
    let first = words.next()?.into_string().ok()?;
    let is_command = first == "help" || COMMANDS.iter().any(|entry| entry.name == first);
    let is_word = !first.starts_with('-') && !is_command;
    (is_word && words.next().is_some() && !Path::new(&first).exists()).then_some(first)
}

fn dispatch(matches: &ArgMatches) -> anyhow::Result<Outcome> {
    if let Some((name, matches)) = matches.subcommand()
        && let Some(entry) = COMMANDS.iter().find(|entry| entry.name == name)
    {
        return (entry.run)(matches);
    }
    overview::run(&overview::Arguments::from_arg_matches(matches)?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_definition_holds() {
        super::command().debug_assert();
    }
}
