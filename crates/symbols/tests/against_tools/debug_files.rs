//! Stripped binaries with separate debug files, in each place where one may be, and binaries that are not the
//! recorded ones.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::programs::{compile, directory, options, resolve_file, run, segments};
use readperf_symbols::{BuildId, MountNamespaces, Options, Provides, Reason, SymbolBatch};

struct Split {
    dir: PathBuf,
    full: PathBuf,
    stripped: PathBuf,
    debug: PathBuf,
    id: BuildId,
    /// Offsets in the file all over the code.
    offsets: Vec<u64>,
}

fn split(test: &str, flags: &[&str]) -> Option<Split> {
    let dir = directory(test);
    let full = compile(&dir, "inlines.c", "cc", flags)?;
    let (stripped, debug) = (dir.join("bin/prog"), dir.join("prog.debug"));
    std::fs::create_dir_all(dir.join("bin")).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    run(
        "objcopy",
        &["--only-keep-debug".into(), "--compress-debug-sections".into(), text(&full), text(&debug)],
    )?;
    run("strip", &["-o".into(), text(&stripped), text(&full)])?;
    let notes = run("readelf", &["-n".into(), text(&full)])?;
    let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).and_then(BuildId::parse);
    let code = *segments(&full)?.iter().find(|segment| segment.offset > 0)?;
    let offsets = (code.offset..code.offset + code.size).step_by(3).collect();
    Some(Split { dir, full, stripped, debug, id: id.unwrap_or(BuildId::parse("01").unwrap()), offsets })
}

/// Names and frames without the numbers behind them.
fn shown(answer: &SymbolBatch) -> Vec<String> {
    let line = |index: usize| {
        let frames = answer.frames(index).iter().map(|frame| {
            let name = frame.function.and_then(|id| answer.function(id)).map(|function| function.shown());
            format!("{name:?} {:?}:{}", frame.file.and_then(|id| answer.file(id)), frame.line)
        });
        format!("{:?} {:?}", answer.name(index), frames.collect::<Vec<_>>())
    };
    (0..answer.len()).map(line).collect()
}

impl Split {
    fn expected(&self) -> Vec<String> {
        let answer = resolve_file(&self.only(vec![]), &self.full, None, self.offsets.clone());
        let names: Vec<String> = shown(&answer);
        assert!(names.iter().any(|line| line.contains("spin")), "the whole program has no names");
        names
    }

    fn only(&self, debug_dirs: Vec<PathBuf>) -> Options {
        Options { debug_dirs, ..options() }
    }

    /// The stripped binary has the names of the whole one with these options, out of the debug file.
    fn check(&self, options: &Options, debug: &Path) {
        let answer = resolve_file(options, &self.stripped, Some(self.id), self.offsets.clone());
        assert_eq!(shown(&answer), self.expected());
        let from = |provides| {
            answer.found.iter().find(|found| found.provides == provides).map(|found| found.path.as_path())
        };
        assert_eq!(from(Provides::SymbolTable), Some(debug));
        assert_eq!(from(Provides::DebugInfo), Some(debug));
        assert_eq!(from(Provides::Layout), Some(self.stripped.as_path()));
    }

    fn move_debug(&self, to: PathBuf) -> PathBuf {
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::rename(&self.debug, &to).unwrap();
        to
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn without_debug_file_it_is_stripped() {
    let Some(split) = split("split_none", &["-O2", "-g"]) else { return };
    let answer = resolve_file(&split.only(vec![]), &split.stripped, Some(split.id), split.offsets.clone());
    assert!(
        (0..answer.len())
            .all(|index| answer.name(index).is_none_or(|name| name.contains("plt") || name.starts_with('_')))
    );
    assert!((0..answer.len()).all(|index| answer.frames(index).is_empty()));
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn by_build_id_below_a_debug_root() {
    for flags in [&["-O2", "-g"][..], &["-O2", "-g", "-no-pie", "-fno-pie"]] {
        let Some(split) = split("split_build_id", flags) else { return };
        let (first, rest) = (split.id.to_string()[..2].to_owned(), split.id.to_string()[2..].to_owned());
        let debug = split.move_debug(split.dir.join(format!("root/.build-id/{first}/{rest}.debug")));
        split.check(&split.only(vec![split.dir.join("root")]), &debug);
        let searched = Options { search_dirs: vec![split.dir.join("root")], ..split.only(vec![]) };
        split.check(&searched, &debug);
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn by_path_below_a_debug_root() {
    let Some(split) = split("split_path", &["-O2", "-g"]) else { return };
    let below = split.stripped.strip_prefix("/").unwrap().to_owned();
    let debug = split.move_debug(split.dir.join("root").join(below).with_extension("debug"));
    split.check(&split.only(vec![split.dir.join("root")]), &debug);
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn by_debug_link() {
    // Without build-id the checksum alone tells that the file is right.
    for flags in [&["-O2", "-g"][..], &["-O2", "-g", "-Wl,--build-id=none"]] {
        let Some(split) = split("split_link", flags) else { return };
        let link = format!("--add-gnu-debuglink={}", split.debug.display());
        run("objcopy", &[link.as_str(), split.stripped.to_str().unwrap()]).unwrap();
        let debug = split.move_debug(split.stripped.with_file_name(".debug").join("prog.debug"));
        let with_id = !flags.contains(&"-Wl,--build-id=none");
        let ask = || {
            let id = with_id.then_some(split.id);
            resolve_file(&split.only(vec![]), &split.stripped, id, split.offsets.clone())
        };
        assert_eq!(shown(&ask()), split.expected());
        if !with_id {
            let mut bytes = std::fs::read(&debug).unwrap();
            bytes.push(0);
            std::fs::write(&debug, bytes).unwrap();
            assert!(ask().found.iter().all(|found| found.path != debug), "used in spite of its checksum");
        }
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn in_the_cache_of_the_recorder() {
    let Some(split) = split("split_cache", &["-O2", "-g"]) else { return };
    let (first, rest) = (split.id.to_string()[..2].to_owned(), split.id.to_string()[2..].to_owned());
    let entry = split.dir.join(format!("cache/.build-id/{first}/{rest}"));
    let cached = Options { build_id_cache: Some(split.dir.join("cache")), ..split.only(vec![]) };
    let gone = Path::new("/nonexistent/prog");
    // New style: a directory; old style: the file itself.
    std::fs::create_dir_all(&entry).unwrap();
    std::fs::copy(&split.full, entry.join("elf")).unwrap();
    let answer = resolve_file(&cached, gone, Some(split.id), split.offsets.clone());
    assert_eq!(shown(&answer), split.expected());
    std::fs::remove_dir_all(&entry).unwrap();
    std::fs::copy(&split.full, &entry).unwrap();
    let answer = resolve_file(&cached, gone, Some(split.id), split.offsets.clone());
    assert_eq!(shown(&answer), split.expected());
    let answer = resolve_file(&cached, gone, None, split.offsets.clone());
    assert_eq!(answer.batch_reason, Some(Reason::NoFileNorId { path: gone.to_owned() }));
    // Memory that a program was run from; the kernel tells its build-id as that of a file.
    let memory = Path::new("/memfd:prog (deleted)");
    let answer = resolve_file(&cached, memory, Some(split.id), split.offsets.clone());
    assert_eq!(shown(&answer), split.expected());
}

/// Who strips what was recorded still has the names, since the cache keeps a copy of it as it was; and who has one file with the
/// symbols and another one with the lines gets both.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn the_binary_before_it_was_stripped() {
    let Some(split) = split("split_unstripped", &["-O2", "-g"]) else { return };
    let (first, rest) = (split.id.to_string()[..2].to_owned(), split.id.to_string()[2..].to_owned());
    let entry = split.dir.join(format!("cache/.build-id/{first}/{rest}"));
    std::fs::create_dir_all(&entry).unwrap();
    let cached = Options { build_id_cache: Some(split.dir.join("cache")), ..split.only(vec![]) };
    std::fs::copy(&split.full, entry.join("elf")).unwrap();
    split.check(&cached, &entry.join("elf"));
    // Without the lines, which are in a debug file elsewhere.
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    run("strip", &["-g".into(), "-o".into(), text(&entry.join("elf")), text(&split.full)]).unwrap();
    let debug = split.move_debug(split.dir.join(format!("root/.build-id/{first}/{rest}.debug")));
    let both = Options { debug_dirs: vec![split.dir.join("root")], ..cached };
    let answer = resolve_file(&both, &split.stripped, Some(split.id), split.offsets.clone());
    assert_eq!(shown(&answer), split.expected());
    let lines = answer.found.iter().find(|found| found.provides == Provides::DebugInfo);
    assert_eq!(lines.map(|found| &found.path), Some(&debug));
}

/// The file system of a container is another one, and ends with its last process.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn in_a_container_that_is_running() {
    let Some(split) = split("split_container", &["-O2", "-g"]) else { return };
    let inside = split.dir.join("inside");
    std::fs::create_dir_all(&inside).unwrap();
    let script = "mount -t tmpfs none \"$1\" && cp \"$2\" \"$1/prog\" && echo ready && exec cat";
    let mut container = Command::new("unshare");
    container.args(["-m", "sh", "-c", script, "sh"]).arg(&inside).arg(&split.full);
    container.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(mut container) = container.spawn() else {
        eprintln!("SKIPPED in_a_container_that_is_running: no unshare");
        return;
    };
    let mut said = [0; 5];
    if container.stdout.take().unwrap().read_exact(&mut said).is_err() || &said != b"ready" {
        eprintln!("SKIPPED in_a_container_that_is_running: not allowed here");
        container.wait().unwrap();
        return;
    }
    let (path, options) = (inside.join("prog"), split.only(vec![]));
    let answer = resolve_file(&options, &path, Some(split.id), split.offsets.clone());
    let without_id = resolve_file(&options, &path, None, vec![1]).batch_reason;
    let alone = Options { mount_namespaces: MountNamespaces::none(), ..options };
    let not_searched = resolve_file(&alone, &path, Some(split.id), vec![1]).batch_reason;
    // Without input it ends.
    drop(container.stdin.take());
    container.wait().unwrap();
    assert_eq!(shown(&answer), split.expected());
    assert_eq!(without_id, Some(Reason::NoFileNorId { path: path.clone() }));
    assert_eq!(not_searched, Some(Reason::NoFile { path }));
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn another_build_is_never_used() {
    let Some(split) = split("split_other", &["-O2", "-g"]) else { return };
    let other = BuildId::parse("0123456789abcdef0123456789abcdef01234567").unwrap();
    let searched = Options { search_dirs: vec![split.dir.join("bin")], ..split.only(vec![]) };
    let answer = resolve_file(&searched, &split.full, Some(other), split.offsets.clone());
    let reason = Reason::BuildIdDiffers { path: split.full.clone(), recorded: other, found: Some(split.id) };
    assert_eq!(answer.batch_reason, Some(reason.clone()));
    assert!((0..answer.len()).all(|index| answer.symbol(index) == Err(&reason)));
    let moved = resolve_file(&searched, Path::new("/nonexistent/prog"), Some(other), vec![1]);
    assert!(matches!(moved.batch_reason, Some(Reason::BuildIdDiffers { .. })));
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn below_another_root_and_by_name() {
    let Some(split) = split("split_symfs", &["-O2", "-g"]) else { return };
    let root = split.dir.join("root/opt/app");
    std::fs::create_dir_all(&root).unwrap();
    std::fs::copy(&split.full, root.join("prog")).unwrap();
    let recorded = Path::new("/opt/app/prog");
    let below = Options { symfs: Some(split.dir.join("root")), ..split.only(vec![]) };
    assert_eq!(shown(&resolve_file(&below, recorded, None, split.offsets.clone())), split.expected());
    let by_name = Options { search_dirs: vec![root], ..split.only(vec![]) };
    assert_eq!(
        shown(&resolve_file(&by_name, recorded, Some(split.id), split.offsets.clone())),
        split.expected()
    );
    let deleted = PathBuf::from(format!("{} (deleted)", split.full.display()));
    let replaced = resolve_file(&split.only(vec![]), &deleted, Some(split.id), split.offsets.clone());
    assert_eq!(shown(&replaced), split.expected());
    let moved =
        resolve_file(&by_name, Path::new("/gone/prog (deleted)"), Some(split.id), split.offsets.clone());
    assert_eq!(shown(&moved), split.expected());
    let unknown = resolve_file(&split.only(vec![]), &deleted, None, split.offsets.clone());
    assert_eq!(unknown.batch_reason, Some(Reason::NoFileNorId { path: deleted }));
    let unproven = resolve_file(&by_name, recorded, None, split.offsets.clone());
    assert_eq!(unproven.batch_reason, Some(Reason::NoFileNorId { path: recorded.to_owned() }));
    let remedy = unproven.batch_reason.and_then(|reason| reason.remedy()).unwrap();
    assert!(!remedy.contains("--symbols"), "a directory does not help without a build-id: {remedy}");
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn the_debug_file_alone_has_no_layout() {
    let Some(split) = split("split_alone", &["-O2", "-g"]) else { return };
    let searched = Options { search_dirs: vec![split.dir.clone()], ..split.only(vec![]) };
    let answer =
        resolve_file(&searched, Path::new("/nonexistent/prog"), Some(split.id), split.offsets.clone());
    // The directory also holds the stripped program under that name only in `bin`.
    assert_eq!(answer.batch_reason, Some(Reason::LayoutUnknown { path: split.debug.clone() }));
}

#[test]
fn what_is_no_file() {
    let ask =
        |path: &str| resolve_file(&options(), Path::new(path), None, vec![0x1000]).batch_reason.unwrap();
    for name in ["[heap]", "//anon", "/memfd:x (deleted)", "anon_inode:[perf_event]", ""] {
        assert!(matches!(ask(name), Reason::NotAFile { .. }), "{name}");
    }
    for name in ["/dev/full", "/proc", "/"] {
        assert!(matches!(ask(name), Reason::NotReadable { .. }), "{name}");
    }
    assert!(matches!(ask("/etc/passwd"), Reason::NotElf { .. }));
    assert!(matches!(ask("/etc/passwd/x"), Reason::NoFileNorId { .. }));
}

/// What a stripped program exports has names; what it keeps to itself has a reason, also out of the cache.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn stripped_but_for_what_is_exported() {
    let dir = directory("exported");
    let flags = ["-O1", "-g", "-rdynamic", "-s", "-Wl,--build-id"];
    let Some(program) = compile(&dir, "inlines.c", "cc", &flags) else { return };
    let code = *crate::programs::segments(&program).unwrap().iter().find(|one| one.offset > 0).unwrap();
    let notes = run("readelf", &["-n", program.to_str().unwrap()]).unwrap();
    let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).and_then(BuildId::parse);
    let none = Options { debug_dirs: vec![], ..options() };
    let cached = Options { cache: Some(dir.join("cache")), ..none.clone() };
    let expected = Reason::NotExported { path: program.clone(), build_id: id };
    std::thread::sleep(std::time::Duration::from_millis(1200));
    for options in [&none, &cached, &cached] {
        let answer = resolve_file(options, &program, id, (code.offset..code.offset + code.size).collect());
        let named = (0..answer.len()).filter(|index| answer.name(*index).is_some()).count();
        assert!(named > 0 && named < answer.len());
        assert!((0..answer.len()).all(|index| answer.symbol(index).err().is_none_or(|why| *why == expected)));
    }
    assert!(expected.to_string().contains(&id.unwrap().to_string()));
}
