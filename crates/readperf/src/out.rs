//! Where a command writes: standard output or a file, with or without colour.

use crate::input::Input;
use anstream::{AutoStream, ColorChoice};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

/// Creates a file, unless it is the recording that is being read: that would be gone before it has been read.
pub(crate) fn create(path: &Path, input: &Input) -> anyhow::Result<File> {
    if input.is_at(path) {
        anyhow::bail!("{} is the recording itself and would be overwritten", path.display());
    }
    File::create(path).with_context(|| path.display().to_string())
}

/// When to use colour.
#[derive(ValueEnum, Clone, Copy, Debug, Default)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Where to write.
#[derive(Args, Debug, Clone)]
pub(crate) struct Output {
    /// Write to this file; - is standard output
    #[arg(short, long, value_name = "OUT", default_value = "-")]
    output: PathBuf,

    /// Colour the text
    #[arg(long, alias = "stdio-color", value_enum, default_value_t)]
    color: Color,
}

/// Whether names are shortened.
#[derive(Args, Debug, Clone, Copy)]
pub(crate) struct NameWidth {
    /// Do not shorten names to the width of the terminal
    #[arg(long)]
    full_names: bool,
}

impl NameWidth {
    /// Columns that text may take; as many as it likes where it goes to no terminal.
    pub(crate) fn columns(self, output: &Output) -> Option<usize> {
        let is_cut = output.is_terminal() && !self.full_names;
        let size = is_cut.then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    }
}

impl Output {
    /// Whether it goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.output.as_os_str() == "-" && io::stdout().is_terminal()
    }

    /// The name of the file it goes to.
    pub(crate) fn file_name(&self) -> Option<String> {
        let name = self.output.file_name()?.to_string_lossy().into_owned();
        (self.output.as_os_str() != "-").then_some(name)
    }

    /// Whether it may be coloured: as asked for, else as standard output is.
    pub(crate) fn color_choice(&self) -> ColorChoice {
        match self.color {
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }

    /// Opens it for bytes that are not to be touched: nothing is coloured, nothing is stripped. Any thread may write
    /// it. Refuses to write over the input.
    pub(crate) fn open_bytes(&self, input: &Input) -> anyhow::Result<Box<dyn Write + Send>> {
        if self.output.as_os_str() == "-" {
            return Ok(Box::new(BufWriter::with_capacity(1 << 16, io::stdout())));
        }
        Ok(Box::new(BufWriter::with_capacity(1 << 16, create(&self.output, input)?)))
    }

    /// Opens it; refuses to write over the input.
    pub(crate) fn open(&self, input: &Input) -> anyhow::Result<Box<dyn Write>> {
        let choice = match self.color {
            Color::Auto => None,
            Color::Always => Some(ColorChoice::Always),
            Color::Never => Some(ColorChoice::Never),
        };
        if self.output.as_os_str() == "-" {
            let stdout = io::stdout();
            let choice = choice.unwrap_or_else(|| AutoStream::choice(&stdout));
            // Standard output writes with every end of a line, if it is not given many lines at once; without colour the text comes in
            // pieces.
            let stdout = Box::new(BufWriter::with_capacity(1 << 16, stdout.lock())) as Box<dyn Write>;
            return Ok(Box::new(AutoStream::new(stdout, choice)));
        }
        let file = create(&self.output, input)?;
        let choice = choice.unwrap_or(ColorChoice::Never);
        Ok(Box::new(AutoStream::new(
            Box::new(BufWriter::with_capacity(1 << 16, file)) as Box<dyn Write>,
            choice,
        )))
    }
}
