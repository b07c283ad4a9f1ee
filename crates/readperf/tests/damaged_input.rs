//! Damaged recordings through the program itself, command by command: it answers, or says in a line why it cannot. No panic, no signal,
//! no hang, no memory and no output beyond reason.
//!
//! A few mutants of the fixtures are tried with every run of the tests. `READPERF_MUTANTS=100000 cargo test --release -p readperf --test
//! damaged_input` tries as many, of the corpus too, and tells what they took.
#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::duplicate_mod
)]

mod oracle;

#[path = "../../perffile/tests/hostile/mod.rs"]
mod hostile;

use hostile::mutation::{Anatomy, mutant};
use hostile::{files, noise::Noise};
use oracle::{scratch, tool};
use readperf::output::export::FORMATS;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mutants, unless asked for more.
const FEW: usize = 60;

/// Commands that one mutant goes through. They take turns.
const RUNS: usize = 4;

/// Seconds of processor time, and KiB of address space, that no damage may take: far beyond what any of the files needs.
const MOST_SECONDS: usize = if cfg!(debug_assertions) { 60 } else { 10 };
const MOST_MEMORY: usize = 4 << 20;

/// Output for each byte of input, and what is free.
const MOST_OUTPUT: (usize, usize) = (40, 4 << 20);

/// Largest recordings that are damaged.
const LARGEST: usize = 1 << 20;

/// What is run of each command; a command that is not here fails the test.
fn words(command: &str) -> Vec<Vec<String>> {
    let lines: &[&str] = match command {
        "info" => &["info", "info --json"],
        "stats" => &["stats", "stats --json"],
        "stat" => &["stat", "stat --json"],
        "dump" => &["dump", "dump --json"],
        "report" => &["report -g caller", "report --json -g callee", "report --hierarchy", "report --csv"],
        "annotate" => &["annotate --top 3", "annotate --top 3 --json --inclusive"],
        "script" => {
            &["script", "script --json", "script --header --show-mmap-events --show-task-events --inline"]
        }
        "diff" => &["diff ORIGINAL", "diff --json ORIGINAL"],
        "timeline" => &["timeline", "timeline --json"],
        "check" => &["check", "check --json"],
        "edit" => &[
            "edit -o - --pipe",
            "edit -o /dev/null --file --repair --sort",
            "edit -o /dev/null --file --byte-order big --compress",
            "edit -o /dev/null --file --decompress --comm work --every 3 --strip raw,stack,regs --max-stack 2",
        ],
        "split" => &[
            "split -o PARTS --by process",
            "split -o PARTS --by event",
            "split -o PARTS --every 1ms",
            "split -o PARTS --size 1k --compress",
        ],
        "merge" => &["merge -o /dev/null ORIGINAL", "merge -o PARTS --pids apart --events apart ORIGINAL"],
        "pack" => &["pack --dry-run --sources --only-symbols"],
        // Those that write to standard output are in `runs`.
        "export" => &["export -f parquet -o PARTS", "export -f arrow -o PARTS"],
        // A query is one word here: SQL needs no spaces. A program without the engine says so, and ends.
        "sql" => &[r#"sql SELECT*FROM"samples""#, r#"sql --format json SELECT*FROM"functions""#],
        // It needs a terminal: its views are tried by the tests of its crate.
        "browse" => &[],
        // It serves a page: its views are tried in a browser (tests/browser).
        "view" => &[],
        // They take no recording.
        "completions" | "man" | "help" => &[],
        other => panic!("damaged recordings are not tried with {other}: add it here"),
    };
    lines.iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

/// What is run of all commands, as the program lists them.
fn runs() -> Vec<Vec<String>> {
    let help = tool::answer(&["--help"]);
    let (_, commands) = help.split_once("Commands:\n").expect("a list of commands");
    let names = commands.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.split_whitespace().next());
    let exports = FORMATS.iter().map(|format| ["export", "-f", format.name].map(str::to_owned).to_vec());
    let overview = vec!["--no-csv".to_owned()];
    let all: Vec<_> = names.flat_map(words).chain(exports).chain([overview]).collect();
    assert!(all.len() > 30, "{all:?}");
    all
}

/// A recording to be damaged.
struct Original {
    path: std::path::PathBuf,
    bytes: Vec<u8>,
    anatomy: Anatomy,
}

fn originals(all: bool) -> Vec<Original> {
    let paths = if all { files::recordings() } else { files::fixtures() };
    let read = |path: std::path::PathBuf| {
        let bytes = std::fs::read(&path).unwrap();
        let anatomy = Anatomy::of(&bytes);
        Original { path, bytes, anatomy }
    };
    paths.into_iter().map(read).filter(|original| original.bytes.len() <= LARGEST).collect()
}

/// Runs the program under limits; says what is wrong with how it ended, and its exit status.
fn run(words: &[String], file: &Path, original: &Path) -> Result<i32, String> {
    let parts = file.with_extension("parts");
    let _ = std::fs::remove_dir_all(&parts);
    let _ = std::fs::remove_file(&parts);
    let limits = format!("ulimit -t {MOST_SECONDS}; ulimit -v {MOST_MEMORY}; exec \"$@\"");
    let mut command = tool::under("sh", &["-c", &limits, "sh"]);
    command.args(words.iter().map(|word| match word.as_str() {
        "ORIGINAL" => original.as_os_str(),
        "PARTS" => parts.as_os_str(),
        word => word.as_ref(),
    }));
    // Names of the running system would change from run to run, and take most of the time.
    command.args(
        ["--symfs", "/nonexistent", "--kallsyms", "/dev/null"].iter().filter(|_| names_functions(words)),
    );
    let mut child = command.arg(file).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let (counted, told) = std::thread::scope(|scope| {
        let counted = scope.spawn(|| std::io::copy(&mut stdout, &mut std::io::sink()).unwrap());
        let mut told = Vec::new();
        child.stderr.take().unwrap().read_to_end(&mut told).unwrap();
        (counted.join().unwrap(), String::from_utf8_lossy(&told).into_owned())
    });
    let status = child.wait().unwrap();
    let size = std::fs::metadata(file).unwrap().len();
    let most = size * MOST_OUTPUT.0 as u64 + MOST_OUTPUT.1 as u64;
    let first = told.lines().next().unwrap_or("").to_owned();
    match status.code() {
        _ if told.contains("panicked") => Err(told),
        Some(code @ (0 | 1 | 3)) if counted > most => {
            Err(format!("status {code}, {counted} bytes of {size}"))
        }
        Some(0) => Ok(0),
        Some(code @ (1 | 3)) if !first.is_empty() || words.iter().any(|word| word == "--json") => Ok(code),
        Some(1 | 3) if words[0] == "check" => Ok(3),
        Some(code) => Err(format!("status {code}: {first}")),
        None => Err(format!("{status}: {first}")),
    }
}

/// Whether a command looks for names of functions.
fn names_functions(words: &[String]) -> bool {
    !["info", "stats", "stat", "dump", "check", "edit", "split", "merge"].contains(&words[0].as_str())
}

#[test]
fn damaged_recordings_are_answered_by_every_command() {
    let asked = std::env::var("READPERF_MUTANTS").ok().and_then(|count| count.parse().ok());
    let most: usize = asked.unwrap_or(FEW);
    let (originals, runs) = (originals(asked.is_some()), runs());
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let statuses: Mutex<BTreeMap<(String, i32), usize>> = Mutex::default();
    let work = || {
        let directory = scratch();
        let file = directory.path().join("perf.data");
        loop {
            let nr = next.fetch_add(1, Ordering::Relaxed);
            if nr >= most {
                return;
            }
            let mut noise = Noise::new(nr as u64 + 1);
            let original = &originals[noise.below(originals.len())];
            let (bytes, what) = mutant(&original.bytes, &original.anatomy, &mut noise);
            std::fs::write(&file, bytes).unwrap();
            for run_nr in 0..RUNS {
                let words = &runs[(nr * RUNS + run_nr) % runs.len()];
                match run(words, &file, &original.path) {
                    Ok(status) => {
                        *statuses.lock().unwrap().entry((words.join(" "), status)).or_default() += 1;
                    }
                    Err(told) => {
                        let what = format!("{}, mutant {nr}: {what}", original.path.display());
                        eprintln!("{words:?} of {what}: {told}");
                        failures.lock().unwrap().push(format!("{words:?} of {what}: {told}"));
                    }
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let statuses = statuses.into_inner().unwrap();
    if asked.is_some() {
        statuses
            .iter()
            .for_each(|((words, status), count)| eprintln!("{count:7} ended with {status}: {words}"));
    }
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert_eq!(statuses.values().sum::<usize>(), most * RUNS);
}
