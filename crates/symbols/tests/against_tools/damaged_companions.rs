//! Damage in the files that belong to a binary, or stand in for it: any answer will do, but there must be one, soon.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::jit::{PID, START, written};
use crate::kernel_files::{MOVED, functions, kernel_image, module, module_subject};
use crate::mutants::{Numbers, damage, peak_kib, rounds};
use crate::packed::{EMBED, cache, searched, text};
use crate::programs::{compile, directory, options, resolve_one, run, segments};
use readperf_symbols::{AddressBatch, Options, Reason, Subject, SymbolArchive, SymbolBatch};

/// A file that is damaged, and what is asked that needs it.
struct Companion {
    what: &'static str,
    /// The undamaged bytes.
    good: Vec<u8>,
    /// Where the damaged ones are put.
    place: PathBuf,
    /// Makes the file in which the damaged bytes are, if they are not one themselves.
    wrap: Option<(&'static str, PathBuf)>,
    ask: Box<dyn Fn() -> SymbolBatch>,
}

impl Companion {
    /// A file at its place, which is asked for in this way.
    fn new(what: &'static str, place: PathBuf, ask: impl Fn() -> SymbolBatch + 'static) -> Companion {
        let good = std::fs::read(&place).unwrap();
        Companion { what, good, place, wrap: None, ask: Box::new(ask) }
    }

    fn answer(&self, bytes: &[u8]) -> SymbolBatch {
        std::fs::write(&self.place, bytes).unwrap();
        if let Some((script, dir)) = &self.wrap {
            run("sh", &["-c", script, "sh", dir.to_str().unwrap()]).unwrap();
        }
        (self.ask)()
    }
}

/// How much an answer has: names and frames.
fn amount(answer: &SymbolBatch) -> usize {
    let indices = 0..answer.len();
    indices.map(|index| usize::from(answer.name(index).is_some()) + answer.frames(index).len()).sum()
}

fn code(program: &Path) -> Vec<u64> {
    let code = *segments(program).unwrap().iter().find(|segment| segment.offset > 0).unwrap();
    (code.offset..code.offset + code.size).step_by(4).collect()
}

/// Asks for all code of a program.
fn all_of(program: &Path, options: Options) -> impl Fn() -> SymbolBatch + use<> {
    let subject = Subject::File { path: program.to_owned(), build_id: None };
    let addresses = code(program);
    move || resolve_one(&options, AddressBatch::new(subject.clone(), addresses.clone()))
}

fn split(dir: &Path) -> Option<Vec<Companion>> {
    let flags = ["-O2", "-g", "-gdwarf-5", "-gsplit-dwarf"];
    let unit_program = compile(dir, "inlines.c", "cc", &flags)?;
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let unit = entries.into_iter().find(|path| path.extension().is_some_and(|e| e == "dwo")).unwrap();
    let packed = dir.join("packed");
    std::fs::copy(&unit_program, &packed).unwrap();
    let package = dir.join("packed.dwp");
    run("llvm-dwp", &["-e", packed.to_str()?, "-o", package.to_str()?])?;
    // The package must be what is read: the unit is where the program says only for the first.
    let unit_of_first = Companion::new("a unit", unit.clone(), all_of(&unit_program, options()));
    let away = move || std::fs::remove_file(&unit).unwrap_or_default();
    let ask = all_of(&packed, options());
    let package = Companion::new("a package", package, move || {
        away();
        ask()
    });
    Some(vec![unit_of_first, package])
}

fn shared(dir: &Path) -> Option<Companion> {
    for name in ["first", "second"] {
        let program = compile(dir, "classes.cc", "c++", &["-O2", "-g", "-gdwarf-4"])?;
        std::fs::rename(&program, dir.join(name)).unwrap();
    }
    run("dwz", &["--version"])?;
    run("sh", &["-c", "cd \"$1\" && dwz -m common.debug -M common.debug first second", "sh", dir.to_str()?])?;
    Some(Companion::new(
        "what several share",
        dir.join("common.debug"),
        all_of(&dir.join("first"), options()),
    ))
}

fn embedded(dir: &Path) -> Option<Companion> {
    let whole = compile(dir, "inlines.c", "cc", &["-O2", "-g"])?;
    std::fs::copy(&whole, dir.join("whole")).unwrap();
    run("sh", &["-c", EMBED, "sh", dir.to_str()?])?;
    let bare = Options { debug_dirs: vec![], ..options() };
    let pack = "cd \"$1\" && xz -kf0 mini && objcopy --add-section .gnu_debugdata=mini.xz stripped prog";
    let companion = Companion::new("embedded symbols", dir.join("mini"), all_of(&dir.join("prog"), bare));
    Some(Companion { wrap: Some((pack, dir.to_owned())), ..companion })
}

fn generated() -> Option<Vec<Companion>> {
    let dir = written("damaged_generated", "little")?;
    let generated = |dump: Option<PathBuf>| {
        let searched = Options { search_dirs: vec![dir.clone()], ..options() };
        let subject = Subject::Generated { pid: PID, inner_pid: None, dump, generation: 0 };
        move || {
            let addresses = (START..START + 600).collect();
            resolve_one(&searched, AddressBatch::new(subject.clone(), addresses))
        }
    };
    let dump = dir.join(format!("jit-{PID}.dump"));
    let map = dir.join(format!("perf-{PID}.map"));
    Some(vec![
        Companion::new("a jitdump file", dump.clone(), generated(Some(dump))),
        Companion::new("a perf map", map, generated(None)),
    ])
}

fn kernel(dir: &Path) -> Option<Vec<Companion>> {
    let image = kernel_image(dir)?;
    let functions = functions(&image);
    let reference = Some(("_text".to_owned(), 0xffff_ffff_8100_0000 + MOVED));
    let subject = Subject::Kernel { build_id: None, reference };
    let ends = functions.values().flat_map(|(start, size)| [start + MOVED, start + size - 1 + MOVED]);
    let addresses: Vec<u64> = ends.collect();
    let ask = |options: Options| {
        let (subject, addresses) = (subject.clone(), addresses.clone());
        move || resolve_one(&options, AddressBatch::new(subject.clone(), addresses.clone()))
    };
    let list = dir.join("kallsyms");
    let lines = functions.iter().map(|(name, (start, _))| format!("{:016x} T {name}\n", start + MOVED));
    let first = format!("{:016x} T _text\n", 0xffff_ffff_8100_0000 + MOVED);
    std::fs::write(&list, first + &lines.collect::<String>()).unwrap();
    let from_list = Options { kallsyms: Some(list.clone()), ..options() };
    let from_image = Options { vmlinux: Some(image.clone()), ..options() };
    Some(vec![
        Companion::new("an image of the kernel", image, ask(from_image)),
        Companion::new("a list of kernel symbols", list, ask(from_list)),
    ])
}

fn loaded() -> Option<Companion> {
    let module = module("damaged_module")?;
    let start = 0xffff_ffff_c0a3_f000;
    let ends = module.functions.values().flat_map(|(at, size)| [start + at, start + at + size - 1]);
    let addresses: Vec<u64> = ends.collect();
    let subject = module_subject(module.file.to_str().unwrap(), None, Some(start));
    Some(Companion::new("a module", module.file, move || {
        resolve_one(&options(), AddressBatch::new(subject.clone(), addresses.clone()))
    }))
}

fn archive(dir: &Path) -> Option<Companion> {
    let program = compile(dir, "inlines.c", "cc", &["-O2", "-g"])?;
    let id = cache(&dir.join("cache"), &program)?;
    let place = dir.join("symbols.tar");
    run("tar", &["-c", "-f", &text(&place), "-C", &text(&dir.join("cache")), "."])?;
    let (packed, addresses) = (place.clone(), code(&program));
    Some(Companion::new("an archive", place, move || {
        let options = SymbolArchive::open(&packed).map_or_else(|_| options(), searched);
        let subject = Subject::File { path: "/opt/app/prog".into(), build_id: Some(id) };
        resolve_one(&options, AddressBatch::new(subject, addresses.clone()))
    }))
}

#[test]
#[ignore = "live: needs python3"]
fn damaged_companions_do_no_harm() {
    let dir = |name: &str| directory(&format!("damaged_{name}"));
    let mut all: Vec<Companion> = Vec::new();
    all.extend(split(&dir("split")).unwrap_or_default());
    all.extend(shared(&dir("shared")));
    all.extend(embedded(&dir("embedded")));
    all.extend(generated().unwrap_or_default());
    all.extend(kernel(&dir("kernel")).unwrap_or_default());
    all.extend(loaded());
    all.extend(archive(&dir("archive")));
    let mut numbers = Numbers(0x0dd_ba11_5eed_f00d);
    for companion in &all {
        let what = companion.what;
        let whole = amount(&companion.answer(&companion.good));
        assert!(whole > 0, "{what}: nothing is found undamaged");
        let (mut changed, mut useful, mut slowest) = (0, 0, Duration::ZERO);
        let rounds = rounds() / 10;
        for round in 0..rounds {
            let mut bytes = companion.good.clone();
            damage(&mut bytes, &mut numbers, round);
            let start = Instant::now();
            let answer = companion.answer(&bytes);
            slowest = slowest.max(start.elapsed());
            assert_ne!(answer.batch_reason, Some(Reason::Defect), "{what}, round {round}: panicked");
            let amount = amount(&answer);
            changed += usize::from(amount != whole);
            useful += usize::from(amount > 0);
        }
        let peak = peak_kib();
        eprintln!(
            "{what}: of {rounds} {useful} are useful, {changed} less than before; slowest {slowest:?}, {peak} KiB"
        );
        assert!(
            changed > rounds / 20 && useful > rounds / 10,
            "{what}: the damage is too small or too great"
        );
        assert!(slowest < Duration::from_secs(10) && peak < 1 << 20, "{what}: {slowest:?}, {peak} KiB");
    }
}
