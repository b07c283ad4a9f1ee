//! Options of `perf report` that this one has not: those that change nothing here are accepted, the others are refused in a
//! sentence. People paste command lines.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

/// An option of perf.
#[derive(Clone, Copy, Debug)]
struct Foreign {
    /// Its long name; the short one again where that is all there is.
    long: &'static str,
    short: Option<char>,
    /// Whether it takes a value.
    value: bool,
    /// Why it is refused; `None` if it changes nothing here.
    refused: Option<&'static str>,
}

const fn accepted(long: &'static str, short: Option<char>, value: bool) -> Foreign {
    Foreign { long, short, value, refused: None }
}

const fn refused(long: &'static str, short: Option<char>, value: bool, why: &'static str) -> Foreign {
    Foreign { long, short, value, refused: Some(why) }
}

const NO_AUX: &str = "AUX data, as those of Intel PT, are not decoded";
const NO_CODE: &str = "disassembled code is not shown";

/// All of them.
const FOREIGN: &[Foreign] = &[
    // Which interface, and what only perf's own interface shows.
    accepted("tui", None, false),
    accepted("gtk", None, false),
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
    refused("show-ref-call-graph", None, false, "every event has the call chains that were recorded with it"),
    refused(
        "ignore-callees",
        None,
        true,
        "callees are not left out; --ignore leaves samples out by their stack",
    ),
    refused("itrace", None, true, NO_AUX),
    refused(
        "total-cycles",
        None,
        false,
        "blocks of branch stacks are not put together; -b --sort +cycles is near",
    ),
    refused("switch-on", None, true, "events do not switch others on; --time chooses a time"),
    refused("switch-off", None, true, "events do not switch others off; --time chooses a time"),
    refused(
        "show-on-off-events",
        None,
        false,
        "events do not switch others on and off; --time chooses a time",
    ),
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

/// What of it was given.
#[derive(Clone, Debug, Default)]
pub(super) struct FromPerf {
    /// What cannot be done, and why.
    pub(super) refused: Vec<String>,
}

impl Args for FromPerf {
    fn augment_args(command: Command) -> Command {
        command.args(FOREIGN.iter().map(|option| {
            let arg = Arg::new(option.long).hide(true);
            let arg = if option.long.len() > 1 { arg.long(option.long) } else { arg };
            let arg = match option.short {
                Some(short) => arg.short(short),
                None => arg,
            };
            // perf takes most of them more than once.
            match option.value {
                true if option.long == "itrace" => {
                    arg.action(ArgAction::Append).num_args(0..=1).require_equals(true)
                }
                true => arg.action(ArgAction::Append),
                false => arg.action(ArgAction::Count),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for FromPerf {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |option: &&Foreign| {
            matches.value_source(option.long) == Some(clap::parser::ValueSource::CommandLine)
        };
        let dashes = |option: &Foreign| if option.long.len() > 1 { "--" } else { "-" };
        let say =
            |option: &Foreign| option.refused.map(|why| format!("{}{}: {why}", dashes(option), option.long));
        Ok(FromPerf { refused: FOREIGN.iter().filter(given).filter_map(say).collect() })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> FromPerf {
        let command = FromPerf::augment_args(Command::new("report").no_binary_name(true));
        FromPerf::from_arg_matches(&command.get_matches_from(words)).unwrap()
    }

    #[test]
    fn what_changes_nothing_is_accepted_and_the_rest_is_refused_with_a_reason() {
        let none: [&str; 0] = [];
        let accepted = ["-f", "-vv", "--ns", "--objdump", "x"];
        assert_eq!(parsed(&accepted).refused, none);
        assert_eq!(parsed(&[]).refused, none);
        let refused = parsed(&["--itrace=i0", "-D", "--switch-on", "x"]).refused;
        assert_eq!(refused.len(), 3, "{refused:?}");
        assert!(refused.iter().any(|why| why.starts_with("--dump-raw-trace: readperf dump")), "{refused:?}");
    }
}
