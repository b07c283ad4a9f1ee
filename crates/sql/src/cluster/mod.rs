//! Questions to a cluster, by Ballista.
//!
//! The process that asks plans a query and sends the plan ([`codec`]) to the scheduler, which cuts it into stages; executors open the
//! recordings that their part of the plan names. So only they need to see recordings, and only the process that asks knows the
//! views. Scheduler and executors ([`serve`]) are this program, too: all processes of a cluster have to be of one version.

mod asking;
mod codec;
mod damage;
mod jobs;
mod listed_exec;
mod readings;
mod serve;

pub(crate) use asking::Cluster;
pub use damage::Damaged;
pub use serve::{ExecutorOptions, SchedulerOptions, execute, schedule};

use crate::source::{BoxError, Opener, Place};
use readperf_profile::SampleFilter;
use readperf_tables::{Tables, Wanted};

/// The port of a scheduler, where none is given.
pub const SCHEDULER_PORT: u16 = 50050;

/// Largest message between the processes, bytes: a plan names all recordings in each of its scans.
const MESSAGE_BYTES: u32 = 256 << 20;

/// For a process that plans and opens nothing.
#[derive(Debug)]
struct Nobody;

impl Opener for Nobody {
    fn open(&self, _: Place<'_>, _: Wanted, _: SampleFilter) -> Result<Tables, BoxError> {
        Err("only executors open recordings".into())
    }
}
