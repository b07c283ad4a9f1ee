//! What is asked: recordings and exported folders.

use crate::store::Address;
use readperf_profile::SampleFilter;
use readperf_tables::{Tables, Wanted};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// A recording that is to be opened.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// What the user calls it: a path, an address in an object store, or `-` for standard input.
    pub name: &'p Path,
    /// Where it can be read: the same path, or that of a file with what was fetched.
    pub path: &'p Path,
}

impl Place<'_> {
    /// The name as users read it.
    pub fn shown(&self) -> String {
        shown(self.name)
    }
}

/// A recording that arrives on standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// The name of a recording as users read it.
pub(crate) fn shown(name: &Path) -> String {
    match name.as_os_str() == STANDARD_INPUT {
        true => "standard input".to_owned(),
        false => name.display().to_string(),
    }
}

/// What opens recordings: the program, which knows where names come from.
pub trait Opener: Debug + Send + Sync {
    /// Reads a recording, and makes of it what is wanted.
    fn open(&self, recording: Place<'_>, wanted: Wanted, samples: SampleFilter) -> Result<Tables, BoxError>;
}

/// Opens nothing: for engines that are asked about exported folders alone.
#[derive(Debug)]
pub(crate) struct NoRecordings;

impl Opener for NoRecordings {
    fn open(&self, recording: Place<'_>, _: Wanted, _: SampleFilter) -> Result<Tables, BoxError> {
        Err(format!("{}: recordings are not read here", recording.name.display()).into())
    }
}

/// Any error.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// Recordings, each once.
    pub recordings: Vec<PathBuf>,
    /// Folders that `readperf export --format parquet` made.
    pub folders: Vec<PathBuf>,
    /// Addresses in object stores (`s3://BUCKET/KEY`). What lies there is found out when an [`Engine`](crate::Engine) is made.
    pub addresses: Vec<PathBuf>,
}

/// The tables of which an exported folder has at least one.
pub(crate) const SIGNS: [&str; 2] = ["samples", "profiles"];

impl Sources {
    /// Sorts out which of these are exported folders: they have one for samples, or for recordings.
    pub fn of(places: impl IntoIterator<Item = PathBuf>) -> Sources {
        let mut sources = Sources::default();
        for place in places {
            let is_folder = || SIGNS.iter().any(|table| place.join(table).is_dir());
            let kind = match Address::is(&place) {
                true => &mut sources.addresses,
                false if is_folder() => &mut sources.folders,
                false => &mut sources.recordings,
            };
            if !kind.contains(&place) {
                kind.push(place);
            }
        }
        sources
    }

    /// The same, by paths that are right in other processes, too.
    #[cfg(feature = "cluster")]
    pub(crate) fn absolute(self) -> std::io::Result<Sources> {
        let absolute = |places: Vec<PathBuf>| {
            places.into_iter().map(std::path::absolute).collect::<std::io::Result<_>>()
        };
        let Sources { recordings, folders, addresses } = self;
        Ok(Sources { recordings: absolute(recordings)?, folders: absolute(folders)?, addresses })
    }

    /// The same, with what was found at its addresses.
    pub(crate) fn with(mut self, recordings: Vec<PathBuf>, folders: Vec<PathBuf>) -> Sources {
        self.recordings.extend(recordings);
        self.folders.extend(folders);
        self
    }

    /// How many things have rows of their own.
    pub(crate) fn len(&self) -> usize {
        self.recordings.len() + self.folders.len()
    }
}
