//! Options of a command of perf that the one here has not: those that change nothing here are accepted, the others are refused
//! in a sentence. People paste command lines.

use crate::outcome::{say, wrong_usage};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::marker::PhantomData;

/// An option of perf.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Foreign {
    /// Its long name; the short one again where that is all there is.
    long: &'static str,
    short: Option<char>,
    /// Whether it takes a value.
    value: bool,
    /// Whether the value may be left out; then it stands behind a =.
    optional: bool,
    /// Why it is refused; `None` if it changes nothing here.
    refused: Option<&'static str>,
    /// What is said if it is accepted.
    note: Option<&'static str>,
}

/// One that changes nothing here.
pub(crate) const fn accepted(long: &'static str, short: Option<char>, value: bool) -> Foreign {
    Foreign { long, short, value, optional: false, refused: None, note: None }
}

/// One that would change the answer, and why it cannot.
pub(crate) const fn refused(
    long: &'static str,
    short: Option<char>,
    value: bool,
    why: &'static str,
) -> Foreign {
    Foreign { long, short, value, optional: false, refused: Some(why), note: None }
}

/// Why what would need AUX data decoded is refused.
pub(crate) const NO_AUX: &str = "AUX data, as those of Intel PT, are not decoded";

/// Why what would make some events switch others on is refused.
pub(crate) const NO_SWITCH: &str = "events do not switch others on or off; --time chooses a time";

/// The options of one command.
pub(crate) trait Table: Clone + std::fmt::Debug {
    /// All of them.
    const FOREIGN: &[Foreign];
}

/// What of them was given.
#[derive(Clone, Debug)]
pub(crate) struct FromPerf<T> {
    /// What cannot be done, and why.
    refused: Vec<String>,
    /// What is worth knowing of what is done instead.
    notes: Vec<String>,
    table: PhantomData<T>,
}

impl Foreign {
    /// This option, with a value that may be left out.
    pub(crate) const fn optional(self) -> Foreign {
        Foreign { value: true, optional: true, ..self }
    }

    /// This option, with a note that is printed if it is given.
    pub(crate) const fn noted(self, note: &'static str) -> Foreign {
        Foreign { note: Some(note), ..self }
    }
}

impl<T> FromPerf<T> {
    /// Ends the program if anything was given that cannot be done.
    pub(crate) fn check(&self) {
        if let Some(why) = self.refused.first() {
            wrong_usage(why);
        }
        self.notes.iter().for_each(|note| say(note));
    }
}

impl<T: Table> Args for FromPerf<T> {
    fn augment_args(command: Command) -> Command {
        command.args(T::FOREIGN.iter().map(|option| {
            let arg = Arg::new(option.long).hide(true);
            let arg = if option.long.len() > 1 { arg.long(option.long) } else { arg };
            let arg = match option.short {
                Some(short) => arg.short(short),
                None => arg,
            };
            // perf takes most of them more than once.
            match option.value {
                true if option.optional => arg.action(ArgAction::Append).num_args(0..=1).require_equals(true),
                true => arg.action(ArgAction::Append),
                false => arg.action(ArgAction::Count),
            }
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<T: Table> FromArgMatches for FromPerf<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |option: &&Foreign| {
            matches.value_source(option.long) == Some(clap::parser::ValueSource::CommandLine)
        };
        let dashes = |option: &Foreign| if option.long.len() > 1 { "--" } else { "-" };
        let told = |option: &Foreign, why: &str| format!("{}{}: {why}", dashes(option), option.long);
        let given = || T::FOREIGN.iter().filter(given);
        let refused = given().filter_map(|option| Some(told(option, option.refused?))).collect();
        let notes = given().filter_map(|option| Some(told(option, option.note?))).collect();
        Ok(FromPerf { refused, notes, table: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug)]
    struct Example;

    impl Table for Example {
        const FOREIGN: &[Foreign] = &[
            accepted("force", Some('f'), false),
            accepted("verbose", Some('v'), false),
            accepted("objdump", None, true),
            refused("itrace", None, true, NO_AUX).optional(),
            refused("dump-raw-trace", Some('D'), false, "readperf dump shows them"),
            refused("switch-on", None, true, NO_SWITCH),
        ];
    }

    fn parsed(words: &[&str]) -> FromPerf<Example> {
        let command = FromPerf::<Example>::augment_args(Command::new("report").no_binary_name(true));
        FromPerf::from_arg_matches(&command.get_matches_from(words)).unwrap()
    }

    #[test]
    fn what_changes_nothing_is_accepted_and_the_rest_is_refused_with_a_reason() {
        let none: [&str; 0] = [];
        let accepted = ["-f", "-vv", "--objdump", "x"];
        assert_eq!(parsed(&accepted).refused, none);
        assert_eq!(parsed(&[]).refused, none);
        let refused = parsed(&["--itrace=i0", "-D", "--switch-on", "x"]).refused;
        assert_eq!(refused.len(), 3, "{refused:?}");
        assert!(refused.iter().any(|why| why.starts_with("--dump-raw-trace: readperf dump")), "{refused:?}");
    }
}
