//! What the browser asks of the program: other commands, and files.

use crate::cmd::check;
use crate::input::Input;
use crate::out::publish;
use crate::outcome::in_words;
use crate::source_files::{SourceFiles, SourceOptions};
use crate::symbol_options::SymbolOptions;
use anstream::adapter::strip_str;
use perffile::Metadata;
use readperf::output::annotate::Sources;
use readperf::output::info;
use readperf::profile::view::listing::Listing;
use readperf::session::Session;
use readperf::symbols::Options;
use readperf_browse::Host;
use readperf_files::WholeFile;
use std::io::Write as _;
use std::path::Path;

/// The program around the browser.
pub(super) struct ProgramHost<'p> {
    input: &'p Input,
    symbols: &'p SymbolOptions,
    sources: SourceFiles<'p>,
}

impl<'p> ProgramHost<'p> {
    pub(super) fn new(
        input: &'p Input,
        source: &'p SourceOptions,
        symbols: &'p SymbolOptions,
        options: &'p Options,
    ) -> Self {
        ProgramHost { input, symbols, sources: SourceFiles::new(source, input, options) }
    }
}

/// A text without the styles that are meant for terminals.
fn plain(text: &[u8]) -> String {
    strip_str(&String::from_utf8_lossy(text)).to_string()
}

impl Host for ProgramHost<'_> {
    fn info(&mut self, metadata: &Metadata) -> Result<String, String> {
        let mut text = Vec::new();
        info::write_text(&mut text, metadata).map_err(|error| error.to_string())?;
        Ok(plain(&text))
    }

    fn check(&mut self) -> Result<String, String> {
        if self.input.path().is_none() {
            return Err(
                "the recording came on standard input and is gone: `readperf check` reads one".to_owned()
            );
        }
        let text = check::text(self.input, self.symbols).map_err(|error| in_words(&error))?;
        Ok(plain(&text))
    }

    fn sources(&mut self, listings: &[Listing], session: &Session) -> Sources {
        self.sources.of(listings, session)
    }

    fn write_file(&mut self, name: &str, content: &[u8]) -> Result<(), String> {
        let path = Path::new(name);
        let told = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        if path.symlink_metadata().is_ok() {
            return Err(told(&"is there already"));
        }
        let file = WholeFile::create(path).map_err(|error| told(&error))?;
        let written = file.writer().and_then(|mut out| {
            out.write_all(content)?;
            out.flush()
        });
        written.map_err(|error| told(&error))?;
        publish([file]).map_err(|error| in_words(&error))
    }
}
