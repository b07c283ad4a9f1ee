//! How a run ended: exit status, and what is said on stderr.

use crate::input::Input;
use crate::out::publish;
use perffile::{IssueKind, Issues, Severity};
use readperf_files::{WholeFile, remove_scratch};
use readperf_output::text::printable;
use std::io::{self, Write};
use std::process::ExitCode;

/// Exit status of wrong usage.
pub(crate) const USAGE: i32 = 2;

/// Exit status where there is no answer, or not all of it.
pub(crate) const FAILED: u8 = 1;
const DAMAGED: u8 = 3;
const REGRESSED: u8 = 4;

/// Most issues that are told on stderr.
const MOST_TOLD: usize = 8;

/// What a command leaves behind: its answer is out, this is what was wrong with the input.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// The input, as the user named it.
    pub(crate) input: String,
    /// What was wrong with it.
    pub(crate) issues: Issues,
    /// What was wrong with other inputs of the same run, by their names.
    pub(crate) others: Vec<(String, Issues)>,
    /// What was damaged of recordings that other processes read, in their words, by the names of the recordings.
    #[cfg(feature = "cluster")]
    pub(crate) elsewhere: Vec<(String, Vec<String>)>,
    /// Whether the issues are not printed.
    pub(crate) quiet: bool,
    /// Whether any issue is a failure.
    pub(crate) strict: bool,
    /// Whether a comparison found what it was asked to fail on.
    pub(crate) regressed: bool,
    /// Whether an output that was asked for could not be written.
    pub(crate) failed: bool,
}

impl Outcome {
    /// Of a command with one input: what was wrong with it.
    pub(crate) fn of(input: &Input, issues: Issues) -> Outcome {
        Outcome { input: input.name(), issues, strict: input.reading.strict, ..Outcome::default() }
    }

    /// Every input with what was wrong with it.
    fn inputs(&self) -> impl Iterator<Item = (&str, &Issues)> {
        let others = self.others.iter().map(|(input, issues)| (input.as_str(), issues));
        std::iter::once((self.input.as_str(), &self.issues)).chain(others)
    }

    /// Puts complete outputs in their places, unless the run is a failure all the same.
    pub(crate) fn publishing(self, files: impl IntoIterator<Item = WholeFile>) -> anyhow::Result<Outcome> {
        if !self.is_refused() {
            publish(files)?;
        }
        Ok(self)
    }

    /// Whether damage is a failure, and there is some.
    pub(crate) fn is_refused(&self) -> bool {
        self.strict && (self.is_damaged_elsewhere() || self.inputs().any(|(_, issues)| issues.damaged()))
    }

    #[cfg(feature = "cluster")]
    fn is_damaged_elsewhere(&self) -> bool {
        !self.elsewhere.is_empty()
    }

    #[cfg(not(feature = "cluster"))]
    fn is_damaged_elsewhere(&self) -> bool {
        false
    }

    /// Tells what other processes found damaged.
    #[cfg(feature = "cluster")]
    fn tell_elsewhere(&self) {
        for (input, issues) in self.elsewhere.iter().filter(|_| !self.quiet) {
            for issue in issues.iter().take(MOST_TOLD) {
                say(&format!("{input}: {issue}"));
            }
        }
    }

    /// Tells the issues on stderr and says how the program ends: 0 fine, 3 the input was damaged (1 if that is not
    /// accepted), 4 a comparison found what it was asked to fail on, 1 not all that was asked for could be written.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let mut damaged = self.is_damaged_elsewhere();
        #[cfg(feature = "cluster")]
        self.tell_elsewhere();
        for (input, issues) in self.inputs() {
            damaged |= issues.damaged();
            if !self.quiet {
                tell(input, issues);
            }
        }
        match (damaged, self.strict) {
            _ if self.failed => ExitCode::from(FAILED),
            (true, true) => ExitCode::from(FAILED),
            _ if self.regressed => ExitCode::from(REGRESSED),
            (true, false) => ExitCode::from(DAMAGED),
            (false, _) => ExitCode::SUCCESS,
        }
    }
}

/// Tells the damage of one input.
pub(crate) fn tell(input: &str, issues: &Issues) {
    let mut told = issues.iter().filter(|issue| issue.kind.severity() == Severity::Damage);
    for issue in told.by_ref().take(MOST_TOLD) {
        let way_out = match issue.kind {
            IssueKind::ExpandsTooFar => "; --max-expansion TIMES reads more",
            _ => "",
        };
        say(&format!("{input}: {issue}{way_out}"));
    }
    let untold = told.count();
    if untold > 0 {
        say(&format!("{input}: and {untold} more kinds of issues"));
    }
}

/// Tells why there is no answer. A reader that went away is no failure.
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    say(&format!("error: {}", in_words(error)));
    ExitCode::from(FAILED)
}

/// An error with what lies behind it.
pub(crate) fn in_words(error: &anyhow::Error) -> String {
    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
    let mut text = String::new();
    for (nr, part) in chain.iter().enumerate() {
        // A source that its parent has quoted, or that begins with what its parent says, is not said twice.
        let repeated = chain.get(nr + 1).is_some_and(|next| next.starts_with(part.as_str()));
        if !repeated && !text.contains(part.as_str()) {
            if !text.is_empty() {
                text.push_str(": ");
            }
            text.push_str(part);
        }
    }
    text
}

/// Ends the program as after any other wrong argument.
pub(crate) fn wrong_usage(message: &str) -> ! {
    // That is an exit without any drop.
    remove_scratch();
    let lines: String = message.lines().flat_map(|line| [printable(line), "\n".into()]).collect();
    clap::Error::raw(clap::error::ErrorKind::ValueValidation, lines).exit()
}

/// Says of a recording that has counts and no samples which command shows them.
pub(crate) fn say_only_counts(input: &Input) {
    if !input.quiet {
        let name = input.name();
        say(&format!(
            "{name}: a recording of `perf stat record`: it has counts and no samples; `readperf stat` shows them"
        ));
    }
}

/// One line on stderr under the program's name.
pub(crate) fn say(line: &str) {
    // Nobody to tell it to is no reason to fail.
    let _ = writeln!(io::stderr(), "readperf: {}", printable(line));
}

/// Lines on stderr that are about what is said next.
#[cfg(feature = "sql")]
pub(crate) fn quote(lines: &str) {
    for line in lines.lines() {
        let _ = writeln!(io::stderr(), "{}", printable(line));
    }
}

/// A reader that went away is no failure of what else is to be done.
pub(crate) fn unless_reader_left<T: Default>(error: anyhow::Error) -> anyhow::Result<T> {
    if is_broken_pipe(&error) { Ok(T::default()) } else { Err(error) }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json)
    };
    error.chain().any(|cause| kind(cause) == Some(io::ErrorKind::BrokenPipe))
}
