//! Files from a server, which runs on this machine for the test.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::programs::{compile, directory, options, resolve_file, run, segments};
use readperf_symbols::{BuildId, Debuginfod, Options, Reason, SymbolBatch};

/// A server for some paths; counts the questions.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn start(files: HashMap<String, Vec<u8>>) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let path = answer(stream, &files);
                seen.lock().unwrap().push(path);
            }
        });
        Server { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        // The last question is noted after its answer was sent.
        std::thread::sleep(Duration::from_millis(50));
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(mut stream: TcpStream, files: &HashMap<String, Vec<u8>>) -> String {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let (status, body) = match files.get(&path) {
        Some(bytes) => ("200 OK", bytes.as_slice()),
        None => ("404 Not Found", &b"not found"[..]),
    };
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
    path
}

struct Split {
    dir: PathBuf,
    stripped: Vec<u8>,
    debug: Vec<u8>,
    id: BuildId,
    offsets: Vec<u64>,
    expected: Vec<Option<String>>,
}

fn names(answer: &SymbolBatch) -> Vec<Option<String>> {
    (0..answer.len()).map(|index| answer.name(index).map(str::to_owned)).collect()
}

fn split(test: &str) -> Option<Split> {
    let dir = directory(test);
    let whole = compile(&dir, "inlines.c", "cc", &["-O2", "-g"])?;
    let text = |name: &str| dir.join(name).to_str().unwrap().to_owned();
    let program = whole.to_str()?.to_owned();
    run("objcopy", &["--only-keep-debug".to_owned(), program.clone(), text("debug")])?;
    run("strip", &["-o".to_owned(), text("stripped"), program.clone()])?;
    let notes = run("readelf", &["-n", &program])?;
    let id =
        notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).and_then(BuildId::parse)?;
    let code = *segments(&whole)?.iter().find(|segment| segment.offset > 0)?;
    let offsets: Vec<u64> = (code.offset..code.offset + code.size).step_by(5).collect();
    let expected = names(&resolve_file(&options(), &whole, None, offsets.clone()));
    let bytes = |name: &str| std::fs::read(dir.join(name)).unwrap();
    Some(Split { stripped: bytes("stripped"), debug: bytes("debug"), dir, id, offsets, expected })
}

impl Split {
    fn path(&self, kind: &str) -> String {
        format!("/buildid/{}/{kind}", self.id)
    }

    fn ask(&self, servers: &Debuginfod, program: &Path) -> SymbolBatch {
        let options = Options { debuginfod: Some(servers.clone()), debug_dirs: vec![], ..options() };
        resolve_file(&options, program, Some(self.id), self.offsets.clone())
    }
}

const GONE: &str = "/nonexistent/prog";

#[test]
fn files_are_fetched_once() {
    let Some(split) = split("server_fetch") else { return };
    let files =
        [(split.path("executable"), split.stripped.clone()), (split.path("debuginfo"), split.debug.clone())];
    let empty = Server::start(HashMap::new());
    let server = Server::start(files.into());
    let cache = split.dir.join("cache");
    let fresh = || Debuginfod::new(vec![empty.url.clone(), format!("{}/", server.url)], cache.clone());
    let answer = split.ask(&fresh(), Path::new(GONE));
    assert_eq!(names(&answer), split.expected);
    assert!((0..answer.len()).any(|index| !answer.frames(index).is_empty()));
    assert_eq!(server.asked(), [split.path("executable"), split.path("debuginfo")]);
    assert_eq!(empty.asked().len(), 2);
    // In the places where elfutils' client looks, and nothing else is left there.
    let mut there: Vec<_> = std::fs::read_dir(cache.join(split.id.to_string()))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    there.sort();
    assert_eq!(there, ["debuginfo", "executable"]);
    assert_eq!(std::fs::read(cache.join(split.id.to_string()).join("debuginfo")).unwrap(), split.debug);
    assert_eq!(names(&split.ask(&fresh(), Path::new(GONE))), split.expected);
    assert!(server.asked().is_empty() && empty.asked().is_empty());
    // Without being told to, no server is asked.
    let answer = resolve_file(&options(), Path::new(GONE), Some(split.id), vec![1]);
    assert_eq!(answer.batch_reason, Some(Reason::NoFile { path: GONE.into() }));
}

#[test]
fn that_there_is_none_is_remembered() {
    let Some(split) = split("server_miss") else { return };
    let server = Server::start(HashMap::new());
    let cache = split.dir.join("cache");
    let fresh = || Debuginfod::new(vec![server.url.clone()], cache.clone());
    let missing = Some(Reason::NoFile { path: GONE.into() });
    assert_eq!(split.ask(&fresh(), Path::new(GONE)).batch_reason, missing);
    assert_eq!(server.asked(), [split.path("executable"), split.path("debuginfo")]);
    let mark = cache.join(split.id.to_string()).join("debuginfo");
    assert_eq!(std::fs::metadata(&mark).unwrap().len(), 0);
    assert_eq!(split.ask(&fresh(), Path::new(GONE)).batch_reason, missing);
    assert!(server.asked().is_empty());
    std::fs::write(cache.join("cache_miss_s"), "0\n").unwrap();
    assert_eq!(split.ask(&fresh(), Path::new(GONE)).batch_reason, missing);
    assert_eq!(server.asked().len(), 2);
}

#[test]
fn other_files_are_refused() {
    let Some(split) = split("server_wrong") else { return };
    let mut other = split.stripped.clone();
    let at = other.windows(20).position(|window| window == split.id.as_bytes()).unwrap();
    other[at] ^= 0xff;
    for wrong in [other, b"no ELF file".to_vec(), split.stripped[..40].to_vec(), Vec::new()] {
        let server = Server::start([(split.path("executable"), wrong)].into());
        let cache = split.dir.join("cache");
        let answer = split.ask(&Debuginfod::new(vec![server.url.clone()], cache.clone()), Path::new(GONE));
        let Some(Reason::NotDownloaded { url, error }) = answer.batch_reason else { panic!("{answer:?}") };
        assert_eq!((url, error.as_str()), (server.url.clone(), "a file with another build-id"));
        assert!(!cache.join(split.id.to_string()).join("executable").exists());
        let _ = std::fs::remove_dir_all(cache);
    }
    let server = Server::start([(split.path("executable"), split.stripped.clone())].into());
    let mut small = Debuginfod::new(vec![server.url], split.dir.join("cache"));
    small.max_bytes = 1000;
    let reason = split.ask(&small, Path::new(GONE)).batch_reason.unwrap();
    assert!(reason.to_string().contains("too large"), "{reason}");
}

#[test]
fn servers_that_do_not_answer() {
    let Some(split) = split("server_dead") else { return };
    // It takes the connection and says nothing.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", listener.local_addr().unwrap());
    let gone = {
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", closed.local_addr().unwrap())
    };
    for url in [silent, gone] {
        let cache = split.dir.join("cache");
        let mut servers = Debuginfod::new(vec![url.clone()], cache.clone());
        servers.timeout = Duration::from_millis(300);
        let started = std::time::Instant::now();
        for _ in 0..5 {
            let reason = split.ask(&servers, Path::new(GONE)).batch_reason;
            assert!(
                matches!(&reason, Some(Reason::NotDownloaded { url: of, .. }) if *of == url),
                "{reason:?}"
            );
        }
        // It is asked once, not ten times, and what it may have is not taken for missing.
        assert!(started.elapsed() < Duration::from_millis(1500));
        assert!(!cache.join(split.id.to_string()).join("executable").exists());
    }
}
