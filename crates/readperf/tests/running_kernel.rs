//! Recordings without a build-id of their kernel, as perf makes them through a pipe and compressed: the running kernel's names
//! are used if it is proved to be the same, and it is said.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

mod handmade;
mod oracle;

use handmade::{Attr, KERNEL, Pipe, Sample};
use oracle::{scratch, tool};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const NOTE: &str = "is taken for the running one";

/// Records work of the kernel.
fn record(dir: &Path, name: &str, options: &[&str], to_pipe: bool) -> PathBuf {
    let path = dir.join(name);
    let mut perf = Command::new("perf");
    perf.args(["record", "-q", "-e", "cpu-clock:k", "-c", "100000"]).args(options);
    match to_pipe {
        true => perf.args(["-o", "-"]).stdout(std::fs::File::create(&path).unwrap()),
        false => perf.arg("-o").arg(&path).stdout(Stdio::null()),
    };
    let status = perf
        .args(["--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=2000"])
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("perf starts").success());
    path
}

/// Names of the kernel's functions with their samples, and what is said on stderr.
fn report(path: &Path) -> (Vec<String>, String) {
    let output = tool::run(&["report".as_ref(), "--sort".as_ref(), "dso,symbol".as_ref(), path.as_os_str()]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let rows = text.lines().filter(|line| line.contains("[kernel.kallsyms]  "));
    let names = rows.map(|line| line.split_whitespace().last().unwrap().to_owned()).collect();
    (names, format!("{text}{}", tool::stderr(&output)))
}

#[test]
#[ignore = "live: records with perf"]
fn pipes_and_compressed_recordings_have_the_names_of_the_running_kernel() {
    let dir = scratch();
    for (path, is_pipe) in [
        (record(dir.path(), "pipe.data", &[], true), true),
        (record(dir.path(), "z.data", &["-z"], false), false),
        (record(dir.path(), "z-pipe.data", &["-z"], true), true),
    ] {
        let (names, said) = report(&path);
        assert!(!names.is_empty() && names.iter().all(|name| !name.starts_with("0x")), "{said}");
        assert!(said.contains(NOTE), "{said}");
        // check asks in a way of its own.
        let checked = tool::run(&["check".as_ref(), path.as_os_str()]);
        assert!(
            !String::from_utf8_lossy(&checked.stdout).contains("function names cannot be found"),
            "{path:?}"
        );
        // script's way to names is another one.
        let lines = tool::run(&["script".as_ref(), "-F".as_ref(), "ip,sym".as_ref(), path.as_os_str()]);
        assert!(!String::from_utf8_lossy(&lines.stdout).contains("[unknown]"), "{path:?} {is_pipe}");
        assert!(tool::stderr(&lines).contains(NOTE), "{path:?}");
        // perf finds the same symbols, by trust alone.
        let perf = Command::new("perf").args(["script", "-F", "ip,sym", "-i"]).arg(&path).output().unwrap();
        let words = |text: &[u8]| {
            String::from_utf8_lossy(text).split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(words(&lines.stdout), words(&perf.stdout), "{path:?}");
    }
}

/// A recording of the same kernel without `--buildid-mmap` in a file has a build-id: nothing needs a proof.
#[test]
#[ignore = "live: records with perf"]
fn a_build_id_needs_no_proof() {
    let dir = scratch();
    let (names, said) = report(&record(dir.path(), "file.data", &[], false));
    assert!(!names.is_empty() && names.iter().all(|name| !name.starts_with("0x")), "{said}");
    assert!(!said.contains(NOTE), "{said}");
}

fn text_feature(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((bytes.len() + 64) / 64 * 64, 0);
    [&u32::try_from(bytes.len()).unwrap().to_le_bytes()[..], &bytes].concat()
}

/// A recording of another machine, on the same release by chance, has no names of this one's kernel.
#[test]
fn another_machine_proves_nothing() {
    let dir = scratch();
    let path = dir.path().join("perf.data");
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut pipe = Pipe::sound(&[Attr::default()]);
    for (bit, text) in [(3, "not-this-machine"), (4, release.trim()), (6, "x86_64")] {
        pipe.feature(bit, &text_feature(text));
    }
    let ip = handmade::KERNEL_CODE + 0x1000;
    pipe.samples(3, &Sample { mode: KERNEL, ip, chain: Vec::new(), ..Sample::default() });
    std::fs::write(&path, &pipe.bytes).unwrap();
    let (names, said) = report(&path);
    assert!(names.iter().all(|name| name.starts_with("0x")), "{said}");
    assert!(
        said.contains("the recording has no build-id of its kernel; it was made on not-this-machine"),
        "{said}"
    );
    assert!(said.contains("or record with --buildid-mmap") && !said.contains(NOTE), "{said}");
}
