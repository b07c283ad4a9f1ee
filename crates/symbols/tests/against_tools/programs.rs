//! The programs, and running other tools.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use readperf_symbols::{AddressBatch, BuildId, Options, Subject, SymbolBatch};

/// A directory of its own for each test.
pub(crate) fn directory(test: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    dir
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/against_tools/programs").join(name)
}

/// Compiles a program; `None`, loudly, when there is no compiler for it.
pub(crate) fn compile(dir: &Path, name: &str, compiler: &str, flags: &[&str]) -> Option<PathBuf> {
    let out = dir.join(format!("{}{}", name.replace('.', "_"), flags.join("").replace(['/', '=', ','], "_")));
    let mut arguments: Vec<&OsStr> = flags.iter().map(OsStr::new).collect();
    let source = source(name);
    arguments.extend([OsStr::new("-o"), out.as_os_str(), source.as_os_str()]);
    run(compiler, &arguments)?;
    Some(out)
}

/// Whether a cross compiler has a C library to link with: distributions package it by itself.
pub(crate) fn has_libc(compiler: &str) -> bool {
    // What is not found is printed as it was asked for.
    let has = run(compiler, &["-print-file-name=libc.a"]).is_some_and(|path| path.trim_end() != "libc.a");
    if !has {
        eprintln!("{compiler}: no C library for it: skipped");
    }
    has
}

/// Every program, in the ways that lay out a binary differently.
pub(crate) fn all_programs(dir: &Path, more: &[&str]) -> Vec<PathBuf> {
    let ways: &[(&str, &str, &[&str])] = &[
        ("inlines.c", "cc", &["-O2", "-g"]),
        ("inlines.c", "cc", &["-O2", "-g", "-no-pie", "-fno-pie"]),
        ("inlines.c", "cc", &["-O1", "-g", "-static"]),
        ("inlines.c", "cc", &["-O2", "-g", "-fcf-protection", "-Wl,-z,lazy,-z,ibtplt"]),
        ("inlines.c", "cc", &["-O2", "-g", "-shared", "-fPIC"]),
        ("classes.cc", "c++", &["-O2", "-g"]),
        ("classes.cc", "c++", &["-O0", "-g", "-gdwarf-4", "-gz"]),
        ("closures.rs", "rustc", &["-O", "-g", "--edition=2021"]),
    ];
    let compile = |(name, compiler, flags): &(&str, &str, &[&str])| {
        let more = if *compiler == "rustc" { &[] } else { more };
        compile(dir, name, compiler, &[*flags, more].concat())
    };
    ways.iter().filter_map(compile).collect()
}

/// Runs a tool and returns what it printed; `None`, loudly, when it is missing. It is a failure if it fails.
pub(crate) fn run<A: AsRef<OsStr>>(tool: &str, arguments: &[A]) -> Option<String> {
    let output = run_any(tool, arguments)?;
    assert!(output.status.success(), "{tool}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a tool whose exit status means nothing.
pub(crate) fn run_any<A: AsRef<OsStr>>(tool: &str, arguments: &[A]) -> Option<Output> {
    match Command::new(tool).args(arguments).env("LC_ALL", "C").output() {
        Ok(output) => Some(output),
        Err(error) => {
            eprintln!("SKIPPED: cannot run {tool}: {error}");
            None
        }
    }
}

/// Runs a tool with some text as its input.
pub(crate) fn filter(tool: &str, arguments: &[&str], input: &str) -> Option<String> {
    use std::io::Write;
    use std::process::Stdio;
    let child = Command::new(tool).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            eprintln!("SKIPPED: cannot run {tool}: {error}");
            return None;
        }
    };
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// One loadable segment as readelf prints it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) offset: u64,
    pub(crate) address: u64,
    pub(crate) size: u64,
}

/// The loadable segments, by readelf.
pub(crate) fn segments(path: &Path) -> Option<Vec<Segment>> {
    let text = run("readelf", &[OsStr::new("-lW"), path.as_os_str()])?;
    let lines = text.lines().filter(|line| line.trim_start().starts_with("LOAD"));
    let number = |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).unwrap();
    let segments = lines.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        Segment { offset: number(words[1]), address: number(words[2]), size: number(words[4]) }
    });
    Some(segments.collect())
}

/// The file offset of a virtual address.
pub(crate) fn offset(segments: &[Segment], address: u64) -> Option<u64> {
    let segment = segments.iter().find(|s| address >= s.address && address - s.address < s.size)?;
    Some(address - segment.address + segment.offset)
}

/// Options that look at nothing but the given file and the system's own debug files.
pub(crate) fn options() -> Options {
    Options { build_id_cache: None, ..Options::default() }
}

/// Resolves addresses of one file.
pub(crate) fn resolve_file(
    options: &Options,
    path: &Path,
    id: Option<BuildId>,
    offsets: Vec<u64>,
) -> SymbolBatch {
    let subject = Subject::File { path: path.to_owned(), build_id: id };
    resolve_one(options, AddressBatch::new(subject, offsets))
}

/// Resolves one batch.
pub(crate) fn resolve_one(options: &Options, batch: AddressBatch) -> SymbolBatch {
    readperf_symbols::resolve(options, vec![batch]).remove(0)
}
