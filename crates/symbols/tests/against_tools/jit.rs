//! Generated code: what runtimes write of it, with bytes made by a script and by perf.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::programs::{directory, options, resolve_one, run, run_any};
use readperf_symbols::{
    AddressBatch, GeneratedLine, JitDamage, JitDump, Options, PerfMap, Reason, Subject, SymbolBatch,
};

pub(crate) const START: u64 = 0x7f00_1234_0000;
pub(crate) const PID: u32 = 4321;

/// The directory in which the script wrote its files.
pub(crate) fn written(test: &str, order: &str) -> Option<PathBuf> {
    let dir = directory(test);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/against_tools/programs/jitdump.py");
    let arguments =
        [script.to_str()?, dir.to_str()?, order, &PID.to_string(), &format!("{START:#x}")].map(str::to_owned);
    run("python3", &arguments)?;
    Some(dir)
}

fn dump(path: &Path) -> JitDump {
    JitDump::parse(Arc::new(std::fs::read(path).unwrap())).unwrap()
}

fn name(dump: &JitDump, number: Option<usize>) -> String {
    number
        .and_then(|number| dump.function(number))
        .map_or(String::new(), |function| function.name.into_owned())
}

fn lines(dump: &JitDump, number: usize) -> Vec<(u64, String, u32)> {
    let shown = |line: GeneratedLine<'_>| (line.address - START, line.file.into_owned(), line.line);
    dump.lines(number).into_iter().map(shown).collect()
}

#[test]
#[ignore = "live: needs python3"]
fn dumps_of_both_byte_orders() {
    for order in ["little", "big"] {
        let Some(dir) = written(&format!("jitdump_{order}"), order) else { return };
        let path = dir.join(format!("jit-{PID}.dump"));
        assert_eq!(JitDump::pid_in_name(&path), Some(PID));
        let dump = dump(&path);
        assert_eq!((dump.pid(), dump.machine(), dump.len()), (PID, 62, 6));
        let expected = JitDamage {
            damaged_records: 1,
            unknown_records: 1,
            moves_of_nothing: 1,
            unused_details: 1,
            damaged_lines: 0,
            is_cut: false,
        };
        assert_eq!(dump.damage, expected);
        // In the end.
        let last: Vec<String> = [0, 15, 16, 47, 48, 79, 80, 128, 256, 287, 288, 519]
            .map(|offset| name(&dump, dump.last_at(START + offset)))
            .into();
        let third = "third ä";
        let expected = [
            "first one",
            "first one",
            "instead",
            "instead",
            "",
            "second",
            "",
            third,
            third,
            third,
            "",
            "without lines",
        ];
        assert_eq!(last, expected);
        // At a time.
        let questions = [
            (0, 99),
            (0, 100),
            (16, 399),
            (16, 400),
            (40, 399),
            (256, 499),
            (256, 500),
            (128, 299),
            (300, 9),
        ];
        let answers: Vec<String> = dump
            .all_at(&questions.map(|(offset, time)| (START + offset, time)))
            .into_iter()
            .map(|number| name(&dump, number))
            .collect();
        assert_eq!(answers, ["", "first one", "first one", "instead", "", "", third, "", ""]);
        // Lines, also of code that was moved.
        let of = |file: &str, all: &[(u64, u32)]| -> Vec<(u64, String, u32)> {
            all.iter().map(|(at, line)| (*at, file.to_owned(), *line)).collect()
        };
        let first = dump.last_at(START).unwrap();
        let expected = [of("first.js", &[(0, 10), (8, 11)]), of("other.js", &[(16, 7), (20, 8)])].concat();
        assert_eq!(lines(&dump, first), expected);
        let third = dump.last_at(START + 128).unwrap();
        assert_eq!(lines(&dump, third), of("moved.js", &[(128, 1), (144, 2)]));
        let moved = dump.last_at(START + 256).unwrap();
        assert_eq!(lines(&dump, moved), of("moved.js", &[(256, 1), (272, 2)]));
        assert!(lines(&dump, dump.last_at(START + 512).unwrap()).is_empty());
        // Code and unwinding information.
        assert_eq!(dump.code(first), (0..32).collect::<Vec<u8>>());
        assert_eq!(dump.unwinding(first), Some((&b"FRAMEFRAME"[..], &b"HEAD"[..])));
        assert_eq!(dump.unwinding(third), None);
    }
}

#[test]
#[ignore = "live: needs python3"]
fn dumps_that_end_early() {
    let Some(dir) = written("jitdump_cut", "little") else { return };
    let path = dir.join("cut.dump");
    let whole = dump(&path);
    assert_eq!((whole.len(), whole.damage.is_cut), (1, true));
    // Whatever is cut off or changed, nothing fails.
    let bytes = std::fs::read(dir.join(format!("jit-{PID}.dump"))).unwrap();
    for end in 0..bytes.len() {
        let cut = JitDump::parse(Arc::new(bytes[..end].to_vec()));
        assert_eq!(cut.is_some(), end >= 40);
        cut.into_iter()
            .for_each(|dump| (0..dump.len()).for_each(|number| assert!(dump.lines(number).len() < 5)));
    }
    let mut changed = bytes.clone();
    for at in 0..bytes.len() {
        changed[at] = 0xff;
        if let Some(dump) = JitDump::parse(Arc::new(changed.clone())) {
            (0..dump.len()).for_each(|number| assert!(dump.lines(number).len() < 5));
        }
        changed[at] = bytes[at];
    }
    // A writer that was killed leaves zeros behind its last record.
    let padded = [&bytes[..], &[0; 64]].concat();
    assert!(!JitDump::parse(Arc::new(padded)).unwrap().damage.is_cut);
}

#[test]
#[ignore = "live: needs python3"]
fn lines_that_were_moved() {
    let Some(dir) = written("jitdump_shifted", "little") else { return };
    let dump = dump(&dir.join("shifted.dump"));
    let file = || "shifted.js".to_owned();
    assert_eq!(lines(&dump, 0), [(0, file(), 1), (16, file(), 2)]);
    assert_eq!(lines(&dump, 1), [(128 + 8, file(), 3)]);
}

/// A program that spends its time in two functions.
const SCRIPT: &str = "function first(n){let s=0;for(let i=0;i<n;i++){s+=i%7;}return s;}\n\
    function second(n){let s=1;for(let i=0;i<n;i++){s^=i*3;}return s;}\n\
    const t=Date.now();let x=0;while(Date.now()-t<1000){x+=first(50000)+second(50000);}console.log(x);\n";

/// What perf prints of each sample: time in ns, address, name and binary.
fn samples(data: &Path) -> Option<Vec<(u64, u64, String, String)>> {
    let arguments = ["script", "--ns", "-F", "time,ip,sym,dso", "-i", data.to_str()?];
    let text = String::from_utf8_lossy(&run_any("perf", &arguments)?.stdout).into_owned();
    let sample = |line: &str| {
        let (time, rest) = line.trim().split_once(": ")?;
        let (seconds, ns) = time.split_once('.')?;
        let (ip, rest) = rest.trim().split_once(' ')?;
        let (name, binary) = rest.rsplit_once(" (")?;
        let time = seconds.parse::<u64>().ok()? * 1_000_000_000 + ns.parse::<u64>().ok()?;
        let binary = binary.trim_end_matches(')').to_owned();
        Some((time, u64::from_str_radix(ip, 16).ok()?, name.to_owned(), binary))
    };
    Some(text.lines().filter_map(sample).collect())
}

/// Each sample of generated code, at its time, has the name that perf prints after it has made files of the dump.
#[test]
#[ignore = "live: needs node"]
fn samples_of_a_runtime() {
    let dir = directory("runtime");
    std::fs::write(dir.join("program.js"), SCRIPT).unwrap();
    let path = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let (data, made) = (path("perf.data"), path("made.data"));
    if run_any("node", &["--version"]).is_none() {
        return;
    }
    let record = [
        "perf",
        "record",
        "-N",
        "-q",
        "-k",
        "mono",
        "-e",
        "cpu-clock",
        "-F",
        "2000",
        "-o",
        &data,
        "--",
        "node",
        "--perf-prof",
    ];
    // The dump goes to the current directory.
    let there = ["-C".to_owned(), path("")];
    let record = record.iter().map(|word| (*word).to_owned());
    let all: Vec<String> = there.into_iter().chain(record).chain([path("program.js")]).collect();
    if run_any("env", &all).is_none() || !Path::new(&data).exists() {
        eprintln!("SKIPPED: perf cannot record here");
        return;
    }
    let entries = std::fs::read_dir(&dir).unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let Some(file) = entries.into_iter().find(|path| JitDump::pid_in_name(path).is_some()) else {
        eprintln!("SKIPPED: node has written no dump");
        return;
    };
    run_any("perf", &["inject", "-j", "-i", &data, "-o", &made]);
    let dump = dump(&file);
    let all = samples(Path::new(&made)).unwrap();
    let generated: Vec<_> = all.iter().filter(|(.., binary)| binary.contains("/jitted-")).collect();
    let questions: Vec<(u64, u64)> = generated.iter().map(|(time, ip, ..)| (*ip, *time)).collect();
    let answers = dump.all_at(&questions);
    for ((time, ip, theirs, _), answer) in generated.iter().zip(answers) {
        assert_eq!(name(&dump, answer), *theirs, "{ip:#x} at {time}");
    }
    let functions: BTreeSet<&str> = generated.iter().map(|(.., name, _)| name.as_str()).collect();
    eprintln!("{} samples, {} functions, {dump:?}", generated.len(), functions.len());
    assert!(generated.len() > 200 && functions.len() > 2, "{functions:?}");
}

#[test]
#[ignore = "live: needs python3"]
fn perf_maps() {
    let Some(dir) = written("perf_map", "little") else { return };
    let map = PerfMap::parse(std::fs::read(dir.join(format!("perf-{PID}.map"))).unwrap()).unwrap();
    assert_eq!((map.len(), map.bad_lines()), (4, 1));
    let names = [0, 15, 16, 47, 48, 79, 80, 128].map(|offset| {
        map.find(START + offset).map(|function| function.name.into_owned()).unwrap_or_default()
    });
    assert_eq!(names, ["first one", "first one", "instead", "instead", "", "second", "", "third ä"]);
}

#[test]
fn names_of_dump_files() {
    for (path, pid) in [
        ("/tmp/jit-12.dump", Some(12)),
        ("jit-4294967295.dump", Some(u32::MAX)),
        ("/x/jit-4294967296.dump", None),
        ("/x/jit-.dump", None),
        ("/x/jit-+1.dump", None),
        ("/x/jit-1.dump.so", None),
        ("/x/perf-1.map", None),
    ] {
        assert_eq!(JitDump::pid_in_name(Path::new(path)), pid, "{path}");
    }
}

fn subject(pid: u32, dump: Option<&Path>) -> Subject {
    Subject::Generated { pid, inner_pid: None, dump: dump.map(Path::to_owned), generation: 0 }
}

fn ask(options: &Options, subject: Subject, offsets: &[u64]) -> SymbolBatch {
    let addresses = offsets.iter().map(|offset| START + offset).collect();
    resolve_one(options, AddressBatch::new(subject, addresses))
}

/// Name and line of each address.
fn shown(answer: &SymbolBatch) -> Vec<String> {
    let line = |index: usize| {
        let frame = answer.frames(index).first();
        let source = frame.map(|frame| {
            let function = answer.function(frame.function.unwrap()).unwrap();
            assert_eq!(Some(function.shown()), answer.name(index));
            format!(" {}:{}", answer.file(frame.file.unwrap()).unwrap(), frame.line)
        });
        format!("{}{}", answer.name(index).unwrap_or("-"), source.unwrap_or_default())
    };
    (0..answer.len()).map(line).collect()
}

#[test]
#[ignore = "live: needs python3"]
fn names_and_lines_of_a_process() {
    let Some(dir) = written("jit_process", "little") else { return };
    let recorded = Path::new("/nonexistent/jit-4321.dump");
    let searched = Options { search_dirs: vec![dir.clone()], ..options() };
    let offsets = [0, 9, 40, 70, 257, 280, 600];
    let answer = ask(&searched, subject(PID, Some(recorded)), &offsets);
    let expected = [
        "first one first.js:10",
        "first one first.js:11",
        "instead",
        "second",
        "third ä moved.js:1",
        "third ä moved.js:2",
        "-",
    ];
    assert_eq!(shown(&answer), expected);
    let damaged = Reason::ListDamaged { path: dir.join("jit-4321.dump"), count: 2 };
    assert_eq!(answer.symbol(6), Err(&damaged));
    // The map alone; and where the process has another number for itself.
    let answer = ask(&searched, subject(PID, None), &offsets);
    assert_eq!(shown(&answer), ["first one", "first one", "instead", "second", "-", "-", "-"]);
    let inside = Subject::Generated { pid: 1, inner_pid: Some(PID), dump: None, generation: 0 };
    assert_eq!(ask(&searched, inside, &offsets).name(0), Some("first one"));
    // Below another root.
    std::fs::create_dir_all(dir.join("root/tmp")).unwrap();
    std::fs::rename(dir.join("perf-4321.map"), dir.join("root/tmp/perf-4321.map")).unwrap();
    let below = Options { symfs: Some(dir.join("root")), ..options() };
    assert_eq!(ask(&below, subject(PID, None), &offsets).name(0), Some("first one"));
    let reason = ask(&below, subject(77, None), &offsets).batch_reason;
    assert_eq!(reason, Some(Reason::NoFile { path: "/tmp/perf-77.map".into() }));
}

#[test]
fn files_of_other_users() {
    // Processes have lower numbers.
    let pid = 4_200_000_001_u32;
    let path = PathBuf::from(format!("/tmp/perf-{pid}.map"));
    std::fs::write(&path, format!("{START:x} 10 mine\n")).unwrap();
    let of = |subject| ask(&options(), subject, &[0]);
    assert_eq!(of(subject(pid, None)).name(0), Some("mine"));
    if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
        let foreign = Reason::ForeignOwner { path: path.clone(), owner: 12345 };
        assert_eq!(of(subject(pid, None)).batch_reason, Some(foreign));
    } else {
        eprintln!("SKIPPED: only root can give files away");
    }
    std::fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
    let reason = of(subject(pid, None)).batch_reason.unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(&reason, Reason::NotReadable { .. }), "{reason}");
}

/// A process that sees another `/tmp`, and another number of itself.
#[test]
#[ignore = "live: needs unshare"]
fn processes_in_containers() {
    use std::io::BufRead;
    use std::process::{Command, Stdio};
    let script = format!(
        "mount -t tmpfs none /tmp && echo '{START:x} 10 inner' > /tmp/perf-$$.map && echo ready $$ && exec sleep 60"
    );
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", &script]);
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        eprintln!("SKIPPED: no unshare");
        return;
    };
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let children =
        std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap_or_default();
    let pid = children.trim().parse::<u32>();
    let answer = pid.clone().map(|pid| ask(&options(), subject(pid, None), &[0]));
    child.kill().unwrap();
    child.wait().unwrap();
    if line.trim() != "ready 1" || pid.is_err() {
        eprintln!("SKIPPED: no namespaces here: {line:?}");
        return;
    }
    assert_eq!(answer.unwrap().name(0), Some("inner"));
}
