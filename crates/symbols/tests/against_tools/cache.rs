//! The cache on disk: its answers are those without it, whatever happens to its files.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::kernel_files::{MOVED, build_id, functions, kernel_image, module, module_subject};
use crate::programs::{compile, directory, options, run, segments};
use readperf_symbols::{
    AddressBatch, BuildId, Demangle, FileBytes, FileLoader, Files, Options, Reason, Resolver, Subject,
    SymbolBatch,
};

/// A stripped program, and its debug file where it is found by build-id.
struct Program {
    dir: PathBuf,
    stripped: PathBuf,
    debug: PathBuf,
    id: BuildId,
    offsets: Vec<u64>,
    loads: Arc<AtomicUsize>,
}

impl Program {
    fn new(test: &str) -> Option<Program> {
        let dir = directory(test);
        let full = compile(&dir, "classes.cc", "c++", &["-O2", "-g", "-Wl,--build-id"])?;
        let notes = run("readelf", &["-n", full.to_str().unwrap()])?;
        let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap();
        let (stripped, debug) =
            (dir.join("prog"), dir.join(format!("debug/.build-id/{}/{}.debug", &id[..2], &id[2..])));
        std::fs::create_dir_all(debug.parent().unwrap()).unwrap();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        run("objcopy", &["--only-keep-debug".into(), text(&full), text(&debug)])?;
        run("strip", &["-o".into(), text(&stripped), text(&full)])?;
        let code = *segments(&full)?.iter().find(|segment| segment.offset > 0)?;
        let offsets = (code.offset..code.offset + code.size).step_by(3).collect();
        let id = BuildId::parse(id).unwrap();
        // Files that were changed just now are not cached.
        std::thread::sleep(Duration::from_millis(1200));
        Some(Program { dir, stripped, debug, id, offsets, loads: Arc::default() })
    }

    fn cache(&self) -> PathBuf {
        self.dir.join("cache")
    }

    fn options(&self) -> Options {
        let loads = Arc::clone(&self.loads);
        let file_loader = FileLoader::new(move |path| {
            loads.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(std::fs::read(path)?) as FileBytes)
        });
        Options { debug_dirs: vec![self.dir.join("debug")], file_loader, ..options() }
    }

    fn cached(&self) -> Options {
        Options { cache: Some(self.cache()), ..self.options() }
    }

    /// Asks a new resolver. Returns the answer and how many files were opened for it.
    fn ask(&self, options: &Options, offsets: &[u64]) -> (SymbolBatch, usize) {
        let before = self.loads.load(Ordering::Relaxed);
        let subject = Subject::File { path: self.stripped.clone(), build_id: Some(self.id) };
        let files = Files::new();
        let mut resolver = Resolver::new(&files, options.clone());
        let answer = resolver.resolve(vec![AddressBatch::new(subject, offsets.to_vec())]).remove(0);
        resolver.save_cache().unwrap();
        (answer, self.loads.load(Ordering::Relaxed) - before)
    }

    fn check(&self, offsets: &[u64]) -> usize {
        let (fresh, _) = self.ask(&self.options(), offsets);
        let (cached, loads) = self.ask(&self.cached(), offsets);
        assert!(fresh == cached, "the cache gives another answer");
        loads
    }

    fn cache_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.cache()) else { return Vec::new() };
        entries.map(|entry| entry.unwrap().path()).collect()
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn the_second_run_opens_nothing() {
    let Some(program) = Program::new("cache_second") else { return };
    let (half, all) = (&program.offsets[..program.offsets.len() / 2], &program.offsets);
    let (fresh, _) = program.ask(&program.options(), all);
    assert!((0..fresh.len()).any(|index| fresh.frames(index).len() > 1), "nothing is inlined");
    assert_eq!(program.check(half), 2);
    assert_eq!(program.check(half), 0);
    // The rest has to be looked up, what is known does not.
    assert_eq!(program.check(all), 2);
    assert_eq!(program.check(all), 0);
    assert_eq!(program.check(&half[half.len() / 3..half.len() / 2]), 0);
    // The names are kept as they are in the file, so another style is only another style.
    for demangle in [Demangle::Full, Demangle::None] {
        let (fresh, _) = program.ask(&Options { demangle, ..program.options() }, all);
        let (cached, loads) = program.ask(&Options { demangle, ..program.cached() }, all);
        assert!(fresh == cached && loads == 0);
    }
    // Another question is not answered with this answer.
    let lines = |options: Options| Options { inlines: false, ..options };
    let (fresh, _) = program.ask(&lines(program.options()), all);
    assert!(fresh == program.ask(&lines(program.cached()), all).0);
    assert_eq!(program.cache_files().len(), 2);
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn damaged_files_are_replaced() {
    let Some(program) = Program::new("cache_damaged") else { return };
    assert_eq!(program.check(&program.offsets), 2);
    let file = program.cache_files().remove(0);
    let sound = std::fs::read(&file).unwrap();
    let flipped = (0..60).map(|n| {
        let mut bytes = sound.clone();
        let at = n * (bytes.len() - 1) / 59;
        bytes[at] ^= 1 << (n % 8);
        bytes
    });
    let cut = (0..20).map(|n| sound[..n * sound.len() / 20].to_vec());
    let longer = [&sound[..], b"x"].concat();
    for bytes in flipped.chain(cut).chain([longer]) {
        std::fs::write(&file, &bytes).unwrap();
        assert_eq!(program.check(&program.offsets[..50]), 2);
        assert_ne!(std::fs::read(&file).unwrap(), bytes);
        assert_eq!(program.check(&program.offsets[..50]), 0);
    }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn another_debug_file_is_noticed() {
    let Some(program) = Program::new("cache_changed") else { return };
    let (first, _) = program.ask(&program.cached(), &program.offsets);
    assert_eq!(program.check(&program.offsets), 0);
    // The debug file goes: no lines any more.
    let aside = program.dir.join("aside");
    std::fs::rename(&program.debug, &aside).unwrap();
    assert_eq!(program.check(&program.offsets), 1);
    assert!(program.ask(&program.cached(), &program.offsets).0 != first);
    // It comes back changed, with the same size and the old time of modification.
    let times = std::fs::metadata(&aside).unwrap().modified().unwrap();
    let mut bytes = std::fs::read(&aside).unwrap();
    let size = bytes.len();
    let name = b"classes.cc";
    for at in 0..size - name.len() {
        if bytes[at..].starts_with(name) {
            bytes[at] = b'k';
        }
    }
    std::fs::write(&program.debug, &bytes).unwrap();
    std::fs::File::options().write(true).open(&program.debug).unwrap().set_modified(times).unwrap();
    program.check(&program.offsets);
    std::thread::sleep(Duration::from_millis(1200));
    assert_eq!(program.check(&program.offsets), 2);
    assert_eq!(program.check(&program.offsets), 0);
    assert!(
        program.ask(&program.cached(), &program.offsets).0.files.iter().any(|f| f.ends_with("klasses.cc"))
    );
    // Another one appears where it is looked for earlier.
    let earlier = program.dir.join("debug").join(program.stripped.strip_prefix("/").unwrap());
    std::fs::create_dir_all(earlier.parent().unwrap()).unwrap();
    std::fs::rename(&aside, &earlier).unwrap();
    assert!(program.check(&program.offsets) > 0);
    assert!(
        program.ask(&program.cached(), &program.offsets).0.files.iter().any(|f| f.ends_with("classes.cc"))
    );
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn several_at_once() {
    let Some(program) = Program::new("cache_at_once") else { return };
    let parts: Vec<&[u64]> = program.offsets.chunks(program.offsets.len() / 8 + 1).collect();
    std::thread::scope(|scope| {
        for turn in 0..4 {
            let (program, parts) = (&program, &parts);
            scope.spawn(move || {
                for round in 0..6 {
                    program.check(parts[(turn * 3 + round) % parts.len()]);
                }
            });
        }
    });
    program.check(&program.offsets);
    assert_eq!(program.check(&program.offsets), 0);
    assert_eq!(program.cache_files().len(), 1, "something temporary was left");
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn the_bound_is_kept() {
    let Some(program) = Program::new("cache_bound") else { return };
    program.check(&program.offsets);
    let old = program.cache_files().remove(0);
    let size = std::fs::metadata(&old).unwrap().len();
    let hour_ago = std::time::SystemTime::now() - Duration::from_secs(7200);
    std::fs::File::options().write(true).open(&old).unwrap().set_modified(hour_ago).unwrap();
    // Not enough room for two: the one that was not used for longer goes.
    let lines = Options { inlines: false, cache_bytes: size + 16, ..program.cached() };
    let (_, loads) = program.ask(&lines, &program.offsets);
    let left = program.cache_files();
    assert!(loads == 2 && left.len() == 1 && left[0] != old, "{left:?}");
    // Without room there is nothing, and the answers are the same.
    let none = Options { cache_bytes: 0, ..program.cached() };
    assert!(program.ask(&none, &program.offsets).0 == program.ask(&program.options(), &program.offsets).0);
    assert!(program.cache_files().is_empty());
}

/// Asks a new resolver about a kernel or a module. Returns the answer and which files were opened for it.
fn ask_kernel(options: &Options, subject: &Subject, addresses: &[u64]) -> (SymbolBatch, Vec<PathBuf>) {
    let opened: Arc<std::sync::Mutex<Vec<PathBuf>>> = Arc::default();
    let noted = Arc::clone(&opened);
    let file_loader = FileLoader::new(move |path| {
        noted.lock().unwrap().push(path.to_owned());
        Ok(Arc::new(std::fs::read(path)?) as FileBytes)
    });
    let files = Files::new();
    let mut resolver = Resolver::new(&files, Options { file_loader, ..options.clone() });
    let answer = resolver.resolve(vec![AddressBatch::new(subject.clone(), addresses.to_vec())]).remove(0);
    resolver.save_cache().unwrap();
    let opened = opened.lock().unwrap().clone();
    (answer, opened)
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn kernels_and_modules() {
    let dir = directory("cache_kernel");
    let (Some(image), Some(module)) = (kernel_image(&dir), module("cache_module")) else { return };
    std::thread::sleep(Duration::from_millis(1200));
    let cached = |options: &Options| Options { cache: Some(dir.join("cache")), ..options.clone() };
    let kernel_at = |moved: u64| Subject::Kernel {
        build_id: Some(build_id(&image)),
        reference: Some(("_text".to_owned(), 0xffff_ffff_8100_0000 + moved)),
    };
    let in_kernel =
        |moved: u64| functions(&image).values().map(|(start, _)| start + moved).collect::<Vec<_>>();
    let with_image = Options { vmlinux: Some(image.clone()), ..options() };
    let module_at = |start| {
        let file = module.file.to_str().unwrap();
        module_subject(file, Some(build_id(&module.file)), Some(start))
    };
    let in_module = |start: u64| module.functions.values().map(|(at, _)| start + at).collect::<Vec<_>>();
    let places = [0xffff_ffff_c0a3_f000, 0xffff_ffff_c0a4_2000];
    let cases = [
        (&with_image, kernel_at(MOVED), in_kernel(MOVED)),
        // Another boot, elsewhere.
        (&with_image, kernel_at(2 * MOVED), in_kernel(2 * MOVED)),
        (&options(), module_at(places[0]), in_module(places[0])),
        (&options(), module_at(places[1]), in_module(places[1])),
    ];
    for (options, subject, addresses) in &cases {
        let (fresh, _) = ask_kernel(options, subject, addresses);
        assert!((0..fresh.len()).all(|index| !fresh.frames(index).is_empty()), "{subject:?}");
        let (first, opened) = ask_kernel(&cached(options), subject, addresses);
        assert!(first == fresh && opened.len() == 1, "{opened:?}");
        let (second, opened) = ask_kernel(&cached(options), subject, addresses);
        assert!(second == fresh && opened.is_empty(), "{opened:?}");
    }
    // A list that is given now is used, although an image was asked before.
    let list = dir.join("kallsyms");
    std::fs::write(&list, format!("{:016x} T _text\n{:016x} T from_list\n", 0x1000, 0x1000)).unwrap();
    let with_list = cached(&Options { kallsyms: Some(list), ..with_image.clone() });
    let (answer, _) = ask_kernel(&with_list, &cases[0].1, &cases[0].2);
    assert!((0..answer.len()).all(|index| answer.frames(index).is_empty()));
    // What was kept does not outlive the file.
    std::fs::remove_file(&module.file).unwrap();
    let (answer, _) = ask_kernel(&cached(&options()), &cases[2].1, &cases[2].2);
    assert!(
        matches!(answer.batch_reason, Some(Reason::ModuleNotFound { recorded: Some(_), .. })),
        "{:?}",
        answer.batch_reason
    );
}
