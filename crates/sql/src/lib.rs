//! SQL on recordings and on folders that were exported from them, by DataFusion.
//!
//! [`Engine`] answers: tables of `readperf-tables`, views (a file each in `views/`), functions. A recording is read once a query, and of
//! it is made only what the query needs. [`Writer`] writes the answers, [`prompt`] asks for questions.
//!
//! Without the feature `engine` the crate is empty: DataFusion takes longer to build than everything else here together.
#![forbid(unsafe_code)]
#![cfg(feature = "engine")]

#[cfg(feature = "cluster")]
pub mod cluster;
mod describe;
mod engine;
mod error;
mod folder;
mod functions;
mod kept;
mod lookups;
mod once_exec;
mod order;
pub mod prompt;
mod provider;
mod pushdown;
mod reading;
mod recording_exec;
mod source;
mod stacks;
mod store;
mod views;
mod write;

pub use engine::{Answer, Engine, EngineOptions, Question};
pub use error::{Error, Result};
pub use source::{BoxError, Opener, Place, Sources};
pub use stacks::{StackQuestion, SummedStacks};
pub use write::{Format, Writer};
