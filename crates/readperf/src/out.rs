//! Where a command writes: standard output or a file, with or without colour.

use crate::blocks::InBlocks;
use crate::input::{Input, is_address};
use crate::pager::Pager;
use anstream::{AutoStream, ColorChoice};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use readperf_files::WholeFile;
use std::fs::File;
use std::io::{self, IsTerminal as _, Write};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};

/// Begins a file, unless it is a recording that is being read: that would be gone.
pub(crate) fn create(path: &Path, inputs: &[&Input]) -> anyhow::Result<WholeFile> {
    if inputs.iter().any(|input| input.is_at(path)) {
        anyhow::bail!("{} is the recording itself and would be overwritten", path.display());
    }
    WholeFile::create(path).with_context(|| path.display().to_string())
}

/// Puts complete files in their places.
pub(crate) fn publish(files: impl IntoIterator<Item = WholeFile>) -> anyhow::Result<()> {
    readperf_files::publish(files)
        .map_err(|(path, error)| anyhow::Error::new(error).context(path.display().to_string()))
}

/// An output that is open.
pub(crate) struct Out {
    text: Box<dyn Write + Send>,
    /// The file that it goes to, which is not there before it is published.
    file: Option<WholeFile>,
}

impl Out {
    /// To standard output, as it is.
    pub(crate) fn standard() -> Out {
        Out { text: buffered_standard(), file: None }
    }

    /// Into a pager.
    pub(crate) fn paged(pager: Pager) -> Out {
        Out { text: Box::new(pager), file: None }
    }

    /// Into a file; `dress` sees to colours.
    fn to<W: Write + Send + 'static>(
        file: WholeFile,
        dress: impl FnOnce(Box<dyn Write + Send>) -> W,
    ) -> anyhow::Result<Out> {
        let writer = file.writer().with_context(|| file.path().display().to_string())?;
        Ok(Out { text: Box::new(dress(buffered(writer))), file: Some(file) })
    }

    /// Writes what is still held. The file, if it is one, is complete then.
    pub(crate) fn complete(mut self) -> anyhow::Result<Option<WholeFile>> {
        self.flush()?;
        Ok(self.file)
    }

    /// Says of what an error is.
    fn explained(&self, error: io::Error) -> io::Error {
        let name = self
            .file
            .as_ref()
            .map_or_else(|| "standard output".into(), |file| file.path().display().to_string());
        io::Error::new(error.kind(), format!("{name}: {error}"))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.write(bytes).map_err(|error| self.explained(error))
    }

    // Passed on, as most that is written is short.
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.write_all(bytes).map_err(|error| self.explained(error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.text.flush().map_err(|error| self.explained(error))
    }
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
    #[arg(short, long, value_name = "OUT", default_value = "-", value_parser = place)]
    output: PathBuf,

    /// Colour the text
    #[arg(long, alias = "stdio-color", value_enum, default_value_t)]
    color: Color,
}

fn place(text: &str) -> Result<PathBuf, String> {
    match is_address(text.as_ref()) {
        true => Err("nothing is written to object stores: write it here, and copy it".to_owned()),
        false => Ok(text.into()),
    }
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
        // Terminals of test runners and scripts may have columns but no rows: then what the shell says counts.
        size.map(|(width, _)| usize::from(width.0)).or_else(|| if is_cut { told_columns() } else { None })
    }
}

/// Columns of the terminal, if the shell tells them.
pub(crate) fn told_columns() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok().filter(|columns| *columns > 0)
}

impl Output {
    /// Standard output, for a command that has no option for another place.
    #[cfg(feature = "view")]
    pub(crate) fn standard() -> Output {
        Output { output: PathBuf::from("-"), color: Color::default() }
    }

    /// Whether it goes to a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.output.as_os_str() == "-" && io::stdout().is_terminal()
    }

    /// The path that was named; nothing for standard output.
    pub(crate) fn path(&self) -> Option<&Path> {
        (self.output.as_os_str() != "-").then_some(self.output.as_path())
    }

    /// The name of the file it goes to.
    pub(crate) fn file_name(&self) -> Option<String> {
        Some(self.path()?.file_name()?.to_string_lossy().into_owned())
    }

    /// Whether it may be coloured: as asked for, else as standard output is.
    pub(crate) fn color_choice(&self) -> ColorChoice {
        match self.color {
            Color::Auto => AutoStream::choice(&io::stdout()),
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }

    /// Opens it for bytes that are not to be touched: nothing is coloured, nothing is stripped. Refuses to write over an
    /// input.
    pub(crate) fn open_bytes(&self, inputs: &[&Input]) -> anyhow::Result<Out> {
        if self.output.as_os_str() == "-" {
            return Ok(Out::standard());
        }
        Out::to(create(&self.output, inputs)?, |text| text)
    }

    /// Opens it; refuses to write over an input.
    pub(crate) fn open(&self, inputs: &[&Input]) -> anyhow::Result<Out> {
        if self.output.as_os_str() == "-" {
            let choice = self.color_choice();
            return Ok(Out { text: Box::new(AutoStream::new(buffered_standard(), choice)), file: None });
        }
        let choice = match self.color {
            Color::Always => ColorChoice::Always,
            Color::Auto | Color::Never => ColorChoice::Never,
        };
        Out::to(create(&self.output, inputs)?, |text| AutoStream::new(text, choice))
    }
}

/// In large pieces: what takes colours out of a text passes it on in small ones.
fn buffered(to: impl Write + Send + 'static) -> Box<dyn Write + Send> {
    Box::new(InBlocks::new(to))
}

/// Standard output in large pieces. It is the descriptor itself: what is between would write up to the last end of a line, and hold the rest.
fn buffered_standard() -> Box<dyn Write + Send> {
    let standard = io::stdout();
    match standard.as_fd().try_clone_to_owned() {
        Ok(descriptor) => buffered(File::from(descriptor)),
        Err(_) => buffered(standard),
    }
}
