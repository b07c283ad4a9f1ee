//! `readperf man DIR`: the manual pages, one a command.

use super::Cmd;
use crate::out::publish;
use crate::outcome::Outcome;
use anyhow::Context as _;
use clap::{Args, Command};
use clap_mangen::{Man, roff::Roff};
use readperf_files::WholeFile;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Writes the manual pages.
#[derive(Args, Debug)]
pub(crate) struct ManPages {
    /// Where to write them; made if it is not there
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Cmd for ManPages {
    const NAME: &'static str = "man";
    const ABOUT: &'static str = "Write the manual pages, one a command";
    const EXAMPLES: &'static str = "\
Examples:
  readperf man ~/.local/share/man/man1    then: man readperf, man readperf-report
  readperf man pages && man ./pages/readperf-export.1";

    fn run(&self) -> anyhow::Result<Outcome> {
        std::fs::create_dir_all(&self.directory).with_context(|| self.directory.display().to_string())?;
        // `readperf help COMMAND` says what the page of the command says.
        let mut whole = crate::cli::command().disable_help_subcommand(true);
        // So that a command has what it inherits, and its usage begins with the name of the program.
        whole.build();
        let mut pages = vec![write(&self.directory, "readperf", &whole)?];
        for command in whole.get_subcommands() {
            pages.push(write(&self.directory, &format!("readperf-{}", command.get_name()), command)?);
        }
        publish(pages)?;
        Ok(Outcome::default())
    }
}

fn write(directory: &Path, name: &str, command: &Command) -> anyhow::Result<WholeFile> {
    let path = directory.join(format!("{name}.1"));
    let write = || {
        let mut page = Vec::new();
        render(name, command, &mut page)?;
        let file = WholeFile::create(&path)?;
        file.writer()?.write_all(&page)?;
        Ok(file)
    };
    write().map_err(|error: io::Error| anyhow::Error::new(error).context(path.display().to_string()))
}

/// A page. What stands behind the options is set as it is: examples are lines, not a paragraph.
fn render(name: &str, command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let examples = command.get_after_help().map(ToString::to_string);
    let is_whole = command.has_subcommands();
    // A heading has no author of its own, so the manual is named.
    let version = format!("readperf {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone().display_name(name)).title(name).source(version).manual("readperf");
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if is_whole {
        man.render_subcommands_section(page)?;
    }
    let Some(examples) = examples else { return Ok(()) };
    let mut section = Roff::default();
    section.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in examples.lines().filter(|line| *line != "Examples:") {
        section.text([clap_mangen::roff::roman(line)]);
    }
    section.control("fi", []);
    section.to_writer(page)
}
