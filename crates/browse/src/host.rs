//! What the browser asks of the program around it.

use perffile::Metadata;
use readperf_output::annotate::Sources;
use readperf_profile::view::listing::Listing;
use readperf_session::Session;

/// In which form what is seen is written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrintForm {
    /// As text for people.
    Text,
    /// As JSON.
    Json,
}

impl PrintForm {
    /// By the end of the file's name.
    pub fn of_name(name: &str) -> PrintForm {
        if name.ends_with(".json") { PrintForm::Json } else { PrintForm::Text }
    }
}

/// What is done outside of the browser.
pub trait Host {
    /// What `info` says of the recording.
    ///
    /// # Errors
    /// Why it cannot be said.
    fn info(&mut self, metadata: &Metadata) -> Result<String, String>;

    /// What `check` says of it.
    ///
    /// # Errors
    /// Why it cannot be said.
    fn check(&mut self) -> Result<String, String>;

    /// The source files of listings.
    fn sources(&mut self, listings: &[Listing], session: &Session) -> Sources;

    /// Writes a file that is not there yet.
    ///
    /// # Errors
    /// Why it is not written.
    fn write_file(&mut self, name: &str, content: &[u8]) -> Result<(), String>;
}
