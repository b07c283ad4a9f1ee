//! Recordings made on the spot by the machine's perf, and what perf says about them.

use super::report::{self, Table};
use super::stats::{self, Stats};
use super::{scratch, skip};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Debian names it `perf`; some systems have only a versioned or wrapped one.
const NAMES: [&str; 2] = ["perf", "/usr/lib/linux-tools/perf"];

const SOURCE: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile uint64_t sink;
__attribute__((noinline)) static uint64_t much(uint64_t x) { for (int i = 0; i < 3000000; i++) x = x * 31 + 7; return x; }
__attribute__((noinline)) static uint64_t little(uint64_t x) { for (int i = 0; i < 1000000; i++) x = x * 33 ^ 5; return x; }
__attribute__((noinline)) static void pages(void) {
    for (int i = 0; i < 200; i++) { char *p = malloc(1 << 16); memset(p, i, 1 << 16); sink += (uint64_t)p[i]; if (i % 2) free(p); }
}
int main(void) {
    uint64_t x = 1;
    pid_t child = fork();
    for (int i = 0; i < (child ? 60 : 20); i++) { x = much(x); x = little(x); if (child && i % 10 == 0) usleep(1000); }
    pages();
    sink += x;
    if (child) waitpid(child, NULL, 0);
    return 0;
}
"#;

/// A perf that may record here.
#[derive(Debug)]
pub(crate) struct Perf {
    program: &'static str,
}

fn find() -> Result<Perf, String> {
    let dir = scratch();
    for program in NAMES {
        let perf = Perf { program };
        let data = dir.path().join("try.data");
        if perf
            .command(dir.path())
            .args(["record", "-q", "-e", "cpu-clock", "-o"])
            .arg(&data)
            .args(["--", "true"])
            .output()
            .is_err()
        {
            continue;
        }
        return match std::fs::metadata(&data) {
            Ok(found) if found.len() > 0 => Ok(perf),
            _ => Err(format!("{program} may not record here (perf_event_paranoid, or no such event)")),
        };
    }
    Err("no perf on this machine (Debian: package linux-perf)".to_owned())
}

impl Perf {
    /// perf, or a loud message in the name of `test`.
    pub(crate) fn or_skip(test: &str) -> Option<&'static Self> {
        static FOUND: OnceLock<Result<Perf, String>> = OnceLock::new();
        match FOUND.get_or_init(find) {
            Ok(perf) => Some(perf),
            Err(why) => {
                skip(test, why);
                None
            }
        }
    }

    /// Home and build-id cache in `dir`, so that nothing of the user's is read or written.
    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(self.program);
        command
            .env("HOME", dir)
            .env("LANG", "C")
            .env("TZ", "UTC")
            .env("PERF_CONFIG", "/dev/null")
            .env_remove("DEBUGINFOD_URLS");
        command.arg("--buildid-dir").arg(dir.join("buildid")).current_dir(dir);
        command
    }

    /// `perf record` into `data`, in its folder, ready to be started: for recordings that are made in another way.
    pub(crate) fn recorder(&self, data: &Path, options: &[&str]) -> Command {
        let mut command = self.command(data.parent().expect("a directory"));
        command.args(["record", "-N", "-q", "-o"]).arg(data).args(options);
        command
    }

    /// Records into `dir` with `options` (up to and including the workload). `None` with a message when perf could not.
    pub(crate) fn record(&self, test: &str, dir: &Path, options: &[&str]) -> Option<PathBuf> {
        let data = dir.join("perf.data");
        let output = self.recorder(&data, options).output().expect("perf starts");
        if data.exists() {
            return Some(data);
        }
        skip(test, &format!("perf record {options:?}: {}", String::from_utf8_lossy(&output.stderr).trim()));
        None
    }

    /// What the subcommand `what` of perf says of a recording, with `options`.
    pub(crate) fn says(&self, what: &str, data: &Path, options: &[&str]) -> String {
        let dir = data.parent().expect("a directory");
        let output =
            self.command(dir).args([what, "-i"]).arg(data).args(options).output().expect("perf starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn report(&self, data: &Path, options: &[&str]) -> String {
        self.says("report", data, options)
    }

    /// Every record in the order of delivery, with what perf decodes of it.
    pub(crate) fn dump(&self, data: &Path) -> String {
        self.report(data, &["-D"])
    }

    /// A line per sample, with the text of tracepoints.
    pub(crate) fn script(&self, data: &Path) -> String {
        self.says("script", data, &[])
    }

    /// What `perf script` prints with these options.
    pub(crate) fn script_with(&self, data: &Path, options: &[&str]) -> String {
        self.script_in(data.parent().expect("a directory"), data, options)
    }

    /// The same, working in another directory than that of the recording.
    pub(crate) fn script_in(&self, dir: &Path, data: &Path, options: &[&str]) -> String {
        let output = self
            .command(dir)
            .args(["script", "-f", "-i"])
            .arg(data)
            .args(options)
            .output()
            .expect("perf starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    pub(crate) fn stats(&self, data: &Path) -> Stats {
        stats::parse(&self.report(data, &["--stats"]))
    }

    /// Exact periods of every (comm, dso, symbol), one table for each event that has samples.
    pub(crate) fn tables(&self, data: &Path) -> Vec<Table> {
        let options = [
            "--stdio",
            "--no-children",
            "-g",
            "none",
            "--percent-limit",
            "0",
            "--no-inline",
            "-F",
            "period,sample,comm,dso,sym",
            "-t",
            "|",
        ];
        let mut tables = report::parse(&self.report(data, &options));
        tables.retain(|t| !t.rows.is_empty());
        tables
    }
}

/// Builds the small program above as `dir/NAME`; `None` with a message when there is no C compiler.
pub(crate) fn program(test: &str, dir: &Path, name: &str) -> Option<()> {
    let source = dir.join("burn.c");
    std::fs::write(&source, SOURCE).expect("the source");
    let options = ["-g", "-O2", "-fno-omit-frame-pointer", "burn.c", "-o", name];
    match Command::new("cc").args(options).current_dir(dir).output() {
        Ok(output) if output.status.success() => Some(()),
        Ok(output) => panic!("cc: {}", String::from_utf8_lossy(&output.stderr)),
        Err(_) => {
            skip(test, "no C compiler (cc)");
            None
        }
    }
}
