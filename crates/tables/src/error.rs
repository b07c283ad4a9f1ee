//! What can go wrong for a recording as a whole.

use crate::schema::Table;
use crate::store::PartitionError;
use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, Error>;

/// What can go wrong for a recording as a whole.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// It cannot be read at all.
    Recording(perffile::Error),
    /// What the operating system says of a file.
    Io {
        /// The file.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
    /// What Arrow says: a table that is too large for it.
    Arrow(ArrowError),
    /// What Parquet says: mostly that a file cannot be written.
    Parquet(ParquetError),
    /// A folder of tables that is divided otherwise.
    Partition {
        /// The folder.
        folder: PathBuf,
        /// How.
        error: Box<PartitionError>,
    },
    /// A column that is asked for was not among what was [wanted](crate::Wanted) when the recording was read.
    NotMade {
        /// The table.
        table: Table,
        /// The column.
        column: &'static str,
    },
    /// A number of a column that the table does not have.
    NoColumn {
        /// The table.
        table: Table,
        /// The number.
        number: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Recording(error) => error.fmt(f),
            Error::Io { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Arrow(error) => error.fmt(f),
            Error::Parquet(error) => error.fmt(f),
            Error::Partition { folder, error } => write!(f, "{}: {error}", folder.display()),
            Error::NotMade { table, column } => {
                write!(f, "{}.{column} was not asked for when the recording was read", table.name())
            }
            Error::NoColumn { table, number } => {
                write!(f, "{} has {} columns, none with number {number}", table.name(), table.columns().len())
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Recording(error) => error.source(),
            Error::Io { error, .. } => Some(error),
            Error::Arrow(error) => Some(error),
            Error::Parquet(error) => Some(error),
            Error::Partition { .. } | Error::NotMade { .. } | Error::NoColumn { .. } => None,
        }
    }
}

impl From<perffile::Error> for Error {
    fn from(error: perffile::Error) -> Error {
        Error::Recording(error)
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Error {
        Error::Arrow(error)
    }
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Error {
        Error::Parquet(error)
    }
}
