//! `readperf completions SHELL`.

use super::Cmd;
use crate::out::Out;
use crate::outcome::Outcome;
use clap::Args;
use clap_complete::Shell;
use std::io::Write as _;

/// Prints the completion script of a shell.
#[derive(Args, Debug)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

impl Cmd for Completions {
    const NAME: &'static str = "completions";
    const ABOUT: &'static str = "Print the completion script of a shell";
    const EXAMPLES: &'static str = "\
Examples:
  readperf completions bash > ~/.local/share/bash-completion/completions/readperf
  readperf completions zsh > ~/.zfunc/_readperf
  readperf completions fish > ~/.config/fish/completions/readperf.fish";

    fn run(&self) -> anyhow::Result<Outcome> {
        // The generator cannot report that its reader went away: it writes to memory.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::cli::command(), "readperf", &mut script);
        let mut out = Out::standard();
        out.write_all(&script)?;
        Outcome::default().publishing(out.complete()?)
    }
}
