//! `readperf cluster`: the processes that answer `readperf sql --cluster`.

use super::Cmd;
use super::sql::bytes;
use super::sql::recordings::Recordings;
use crate::input::Reading;
use crate::outcome::{Outcome, say};
use crate::symbol_options::SymbolOptions;
use anyhow::Context as _;
use clap::{Args, Subcommand};
use readperf_files::ScratchFolder;
use readperf_sql::cluster::{ExecutorOptions, SCHEDULER_PORT, SchedulerOptions, execute, schedule};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;

/// Runs a process of a cluster.
#[derive(Args, Debug)]
pub(crate) struct ClusterCommand {
    #[command(subcommand)]
    process: Process,
}

#[derive(Subcommand, Debug)]
enum Process {
    /// Hand out work: the process that queries go to, one a cluster
    Scheduler(Scheduler),
    /// Read recordings and tables, and work out answers: as many as there are machines
    Executor(Box<Executor>),
}

#[derive(Args, Debug)]
struct Scheduler {
    /// Where to listen for queries and executors
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, SCHEDULER_PORT)))]
    listen: SocketAddr,
}

#[derive(Args, Debug)]
struct Executor {
    /// The scheduler to work for
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050", value_parser = host_and_port)]
    scheduler: (String, u16),

    /// Where the other executors and the process that asks fetch results; a port of its own for each executor of a machine
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = SocketAddr::from((Ipv4Addr::LOCALHOST, SCHEDULER_PORT + 1)))]
    listen: SocketAddr,

    /// The name or address by which they reach this machine [default: the address of --listen]
    #[arg(long, value_name = "HOST")]
    host: Option<String>,

    /// Memory that sorting and grouping may take before they go to disk, as 500M or 4G, all tasks together [default: 70 % of that
    /// of the machine]
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    memory: Option<usize>,

    /// Where to put what goes to disk [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    work: Option<PathBuf>,

    #[command(flatten)]
    reading: Reading,

    #[command(flatten)]
    symbols: SymbolOptions,
}

impl Cmd for ClusterCommand {
    const NAME: &'static str = "cluster";
    const ABOUT: &'static str = "Run a scheduler or an executor, which answer readperf sql --cluster";
    const EXAMPLES: &'static str = "\
Whoever reaches a port of these processes can have them read any recording and table that they may read: they belong into a network of their own.

Examples:
  readperf cluster scheduler --listen 10.0.0.1:50050
  readperf cluster executor --scheduler 10.0.0.1:50050 --listen 10.0.0.2:50051
  readperf sql --cluster df://10.0.0.1:50050 \"SELECT count(*) FROM samples\" /shared/*.data";

    fn run(&self) -> anyhow::Result<Outcome> {
        match &self.process {
            Process::Scheduler(Scheduler { listen }) => {
                say(&format!("scheduler: readperf sql --cluster df://{listen} asks it"));
                schedule(&SchedulerOptions { listen: *listen })?;
            }
            Process::Executor(executor) => executor.run()?,
        }
        Ok(Outcome::default())
    }
}

impl Executor {
    fn run(&self) -> anyhow::Result<()> {
        // It goes on every end of the program.
        let scratch = self.work.is_none().then(ScratchFolder::create).transpose();
        let scratch = scratch.context("a folder for what goes to disk")?;
        let work = self.work.as_deref().or(scratch.as_ref().map(ScratchFolder::path));
        let options = ExecutorOptions {
            scheduler: self.scheduler.clone(),
            listen: self.listen,
            host: self.host.clone(),
            threads: self.symbols.thread_count(),
            memory: self.memory,
            work: work.context("no folder for what goes to disk")?.to_owned(),
        };
        let (host, port) = &self.scheduler;
        say(&format!("executor at {} for the scheduler at {host}:{port}", self.listen));
        Ok(execute(&options, Arc::new(Recordings::new(&self.reading, &self.symbols, 0)))?)
    }
}

fn host_and_port(text: &str) -> Result<(String, u16), String> {
    let address = text.strip_prefix("df://").unwrap_or(text);
    let (host, port) = address.rsplit_once(':').unwrap_or((address, ""));
    let port = if port.is_empty() { Ok(SCHEDULER_PORT) } else { port.parse() };
    match port {
        Ok(port) if !host.is_empty() => Ok((host.to_owned(), port)),
        _ => Err("HOST:PORT is wanted, as 10.0.0.1:50050".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn schedulers_are_named_by_host_and_port() {
        assert_eq!(host_and_port("a:1"), Ok(("a".to_owned(), 1)));
        assert_eq!(host_and_port("df://a:1"), Ok(("a".to_owned(), 1)));
        assert_eq!(host_and_port("a"), Ok(("a".to_owned(), 50050)));
        for wrong in ["", ":1", "a:b", "a:99999"] {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }
}
