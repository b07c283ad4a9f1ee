//! What is asked: recordings and exported folders.

use readperf_profile::SampleFilter;
use readperf_tables::{Tables, Wanted};
use std::fmt::Debug;
use std::path::{Path, PathBuf};

/// What opens recordings: the program, which knows where names come from.
pub trait Opener: Debug + Send + Sync {
    /// Reads a recording, and makes of it what is wanted.
    fn open(&self, recording: &Path, wanted: Wanted, samples: SampleFilter) -> Result<Tables, BoxError>;
}

/// Opens nothing: for engines that are asked about exported folders alone.
#[derive(Debug)]
pub(crate) struct NoRecordings;

impl Opener for NoRecordings {
    fn open(&self, recording: &Path, _: Wanted, _: SampleFilter) -> Result<Tables, BoxError> {
        Err(format!("{}: recordings are not read here", recording.display()).into())
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
}

impl Sources {
    /// Sorts out which of these are exported folders: they have one for samples, or for recordings.
    pub fn of(places: impl IntoIterator<Item = PathBuf>) -> Sources {
        let mut sources = Sources::default();
        for place in places {
            let is_folder = ["samples", "profiles"].iter().any(|table| place.join(table).is_dir());
            let kind = if is_folder { &mut sources.folders } else { &mut sources.recordings };
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
        Ok(Sources { recordings: absolute(self.recordings)?, folders: absolute(self.folders)? })
    }

    /// How many things have rows of their own.
    pub(crate) fn len(&self) -> usize {
        self.recordings.len() + self.folders.len()
    }
}
