//! The kernel and its modules out of their files: images and modules made by the test stand for real ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::lines::{chains, our_chain};
use crate::programs::{compile, directory, filter, options, resolve_one, run};
use readperf_symbols::{AddressBatch, BuildId, GuestFiles, Options, Provides, Reason, Subject, SymbolBatch};

/// How far the kernel was moved at boot.
pub(crate) const MOVED: u64 = 0x1d60_0000;

/// Where the module was loaded.
const START: u64 = 0xffff_ffff_c0a3_f000;

const RELEASE: &str = "6.9.0-test";

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub(crate) fn build_id(path: &Path) -> BuildId {
    let notes = run("readelf", &["-n".to_owned(), text(path)]).unwrap();
    notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).and_then(BuildId::parse).unwrap()
}

/// Functions by name, as nm prints them: address and size.
pub(crate) fn functions(path: &Path) -> BTreeMap<String, (u64, u64)> {
    functions_by("nm", path)
}

fn functions_by(nm: &str, path: &Path) -> BTreeMap<String, (u64, u64)> {
    let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [address, size, "T" | "t", name] => Some((name.to_owned(), (number(address), number(size)))),
            _ => None,
        }
    };
    run(nm, &["-S".to_owned(), text(path)]).unwrap().lines().filter_map(line).collect()
}

pub(crate) fn kernel_image(dir: &Path) -> Option<PathBuf> {
    let flags = [
        "-O1",
        "-g",
        "-static",
        "-nostdlib",
        "-no-pie",
        "-fno-pie",
        "-mcmodel=kernel",
        "-fno-stack-protector",
        "-Wl,-Ttext=0xffffffff81000000,-e,start_here,--build-id,--defsym=_text=0xffffffff81000000",
    ];
    if !cfg!(target_arch = "x86_64") {
        eprintln!("SKIPPED: the image is made for x86-64");
        return None;
    }
    compile(dir, "kernel.c", "cc", &flags)
}

fn put(from: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::copy(from, to).unwrap();
}

/// Asks for the first and the last byte of each function, and checks its name and its start.
fn check(
    options: &Options,
    subject: Subject,
    functions: &BTreeMap<String, (u64, u64)>,
    moved: u64,
) -> SymbolBatch {
    let ends = functions.values().flat_map(|(start, size)| [start + moved, start + size - 1 + moved]);
    let answer = resolve_one(options, AddressBatch::new(subject, ends.collect()));
    assert_eq!(answer.batch_reason, None);
    for (name, (start, size)) in functions {
        for address in [start + moved, start + size - 1 + moved] {
            let index = answer.addresses.binary_search(&address).unwrap();
            let symbol = answer.symbol(index).map(|id| answer.symbol_by_id(id).unwrap());
            let symbol = symbol.map(|symbol| (symbol.name.shown(), symbol.start, symbol.end));
            assert_eq!(symbol, Ok((name.as_str(), start + moved, start + size + moved)), "{address:#x}");
        }
    }
    answer
}

fn provider(answer: &SymbolBatch) -> (&Path, Provides) {
    let symbols = |provides| matches!(provides, Provides::SymbolTable | Provides::KernelSymbols);
    answer.found.iter().find(|f| symbols(f.provides)).map(|f| (f.path.as_path(), f.provides)).unwrap()
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn images_in_every_place() {
    let dir = directory("kernel_image");
    let Some(image) = kernel_image(&dir) else { return };
    let (id, functions) = (build_id(&image), functions(&image));
    let functions: BTreeMap<_, _> = functions.into_iter().filter(|(name, _)| name != "_text").collect();
    assert_eq!(functions.len(), 3);
    let recorded = |build_id| Subject::Kernel {
        build_id,
        reference: Some(("_text".to_owned(), 0xffff_ffff_8100_0000 + MOVED)),
    };
    let (first, rest) = (id.to_string()[..2].to_owned(), id.to_string()[2..].to_owned());
    let root = dir.join("root");
    let released = Options { kernel_release: Some(RELEASE.to_owned()), ..options() };
    let below = Options { symfs: Some(root.clone()), ..released.clone() };
    let cached = Options { build_id_cache: Some(dir.join("cache")), ..options() };
    let searched = Options { search_dirs: vec![dir.join("dir")], ..released };
    let places = [
        (root.join("boot/vmlinux"), &below),
        (root.join(format!("boot/vmlinux-{RELEASE}")), &below),
        (root.join(format!("usr/lib/debug/boot/vmlinux-{RELEASE}")), &below),
        (root.join(format!("lib/modules/{RELEASE}/build/vmlinux")), &below),
        (root.join(format!("usr/lib/debug/.build-id/{first}/{rest}.debug")), &below),
        (dir.join(format!("cache/.build-id/{first}/{rest}/elf")), &cached),
        (dir.join("dir/vmlinux"), &searched),
        (dir.join(format!("dir/.build-id/{first}/{rest}/elf")), &searched),
    ];
    for (place, options) in places {
        put(&image, &place);
        let answer = check(options, recorded(Some(id)), &functions, MOVED);
        assert_eq!(provider(&answer), (place.as_path(), Provides::SymbolTable));
        // Lines as addr2line prints them.
        for (index, address) in answer.addresses.iter().enumerate() {
            let plain = format!("{:#x}", address - MOVED);
            let theirs = run("addr2line", &["-e".to_owned(), text(&image), plain]).unwrap();
            let frame = answer.frames(index).first().unwrap();
            let ours = format!("{}:{}", answer.file(frame.file.unwrap()).unwrap(), frame.line);
            assert_eq!(ours, theirs.split_whitespace().next().unwrap());
        }
        // Without proof it is not used.
        let unproven = resolve_one(options, AddressBatch::new(recorded(None), vec![1])).batch_reason;
        assert_eq!(unproven, Some(Reason::KernelUnknown));
        std::fs::remove_file(&place).unwrap();
        let gone = resolve_one(options, AddressBatch::new(recorded(Some(id)), vec![1])).batch_reason;
        assert!(matches!(gone, Some(Reason::KernelDiffers { .. })), "{gone:?}");
    }
    // The one that is given is used without a recorded build-id, but not against it.
    let given = Options { vmlinux: Some(image.clone()), ..options() };
    check(&given, recorded(Some(id)), &functions, MOVED);
    check(&given, recorded(None), &functions, MOVED);
    let other = BuildId::parse("0123456789abcdef0123456789abcdef01234567").unwrap();
    let reason = resolve_one(&given, AddressBatch::new(recorded(Some(other)), vec![1])).batch_reason;
    assert_eq!(reason, Some(Reason::BuildIdDiffers { path: image, recorded: other, found: Some(id) }));
    let unmoved = Subject::Kernel { build_id: Some(id), reference: Some(("_stext".to_owned(), 1)) };
    let reason = resolve_one(&given, AddressBatch::new(unmoved, vec![1])).batch_reason;
    assert_eq!(reason, Some(Reason::ReferenceMissing { symbol: "_stext".to_owned() }));
}

pub(crate) struct Module {
    dir: PathBuf,
    pub(crate) file: PathBuf,
    id: BuildId,
    /// Where each function is in memory, relative to the start of the module.
    pub(crate) functions: BTreeMap<String, (u64, u64)>,
}

pub(crate) fn module(test: &str) -> Option<Module> {
    let flags = ["-O1", "-g", "-c", "-fno-pie", "-fcf-protection=none"];
    module_of(test, "cc", "", &flags)
}

/// Made by a compiler, and by the other tools whose names begin like this.
fn module_of(test: &str, compiler: &str, prefix: &str, flags: &[&str]) -> Option<Module> {
    let dir = directory(test);
    let object = compile(&dir, "module.c", compiler, flags)?;
    let file = dir.join("made-here.ko");
    run(&format!("{prefix}ld"), &["-r", "--build-id", "-o", file.to_str()?, object.to_str()?])?;
    let named = functions_by(&format!("{prefix}nm"), &file);
    // The kernel puts the sections behind each other.
    let sections = run("readelf", &["-SW".to_owned(), text(&file)])?;
    let section = |name: &str| {
        let line = sections.lines().find(|line| line.contains(&format!(" {name} "))).unwrap();
        let words: Vec<&str> = line.split(']').nth(1).unwrap().split_whitespace().collect();
        let alignment = words.last().unwrap().parse::<u64>().unwrap();
        (u64::from_str_radix(words[4], 16).unwrap(), alignment)
    };
    let mut at = 0_u64;
    let mut functions = BTreeMap::new();
    for (name, inside) in [
        (".text", &["add_one", "handle_request"][..]),
        (".text.unlikely", &["handle_error"]),
        (".exit.text", &["stop_module"]),
    ] {
        let (size, alignment) = section(name);
        at = at.next_multiple_of(alignment);
        for function in inside {
            let (value, length) = named[*function];
            functions.insert((*function).to_owned(), (value + at, length));
        }
        at += size;
    }
    Some(Module { id: build_id(&file), dir, file, functions })
}

pub(crate) fn module_subject(name: &str, build_id: Option<BuildId>, start: Option<u64>) -> Subject {
    Subject::KernelModule { name: PathBuf::from(name), build_id, start }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn modules_in_every_place() {
    let Some(module) = module("modules") else { return };
    let root = module.dir.join("root");
    let tree = root.join("lib/modules").join(RELEASE);
    let below = Options { symfs: Some(root.clone()), kernel_release: Some(RELEASE.to_owned()), ..options() };
    let searched = Options { search_dirs: vec![module.dir.join("dir")], ..options() };
    let recorded = format!("/lib/modules/{RELEASE}/kernel/made-here.ko");
    let dependencies = |path: &str| {
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(tree.join("modules.dep"), format!("kernel/other.ko:\n{path}: kernel/other.ko\n"))
            .unwrap();
    };
    for (compressor, suffix) in [("", ""), ("gzip", ".gz"), ("xz", ".xz"), ("zstd", ".zst")] {
        let mut file = module.file.clone();
        if !compressor.is_empty() {
            let Some(_) = run(compressor, &["-kf".to_owned(), text(&module.file)]) else { continue };
            file = PathBuf::from(format!("{}{suffix}", module.file.display()));
        }
        let name = format!("made-here.ko{suffix}");
        let places = [
            // By the path, by the name in the list of the release, by the name in a directory.
            (tree.join("kernel").join(&name), &below, recorded.clone()),
            (tree.join("kernel").join(&name), &below, format!("{recorded}{suffix}")),
            (tree.join("extra").join(&name), &below, "[made_here]".to_owned()),
            (module.dir.join("dir").join(&name), &searched, "[made_here]".to_owned()),
            (module.dir.join("dir").join(&name), &searched, recorded.clone()),
        ];
        dependencies(&format!("extra/{name}"));
        for (place, options, recorded) in places {
            put(&file, &place);
            let subject = module_subject(&recorded, Some(module.id), Some(START));
            let answer = check(options, subject, &module.functions, START);
            assert_eq!(provider(&answer), (place.as_path(), Provides::SymbolTable));
            let subject = module_subject(&recorded, Some(module.id), None);
            let reason = resolve_one(options, AddressBatch::new(subject, vec![START])).batch_reason;
            assert_eq!(reason, Some(Reason::ModuleStartUnknown { module: "made_here".to_owned() }));
            std::fs::remove_file(&place).unwrap();
        }
    }
    // Another build is not used.
    put(&module.file, &root.join(&recorded[1..]));
    let other = BuildId::parse("0123456789abcdef0123456789abcdef01234567").unwrap();
    let subject = module_subject(&recorded, Some(other), Some(START));
    let reason = resolve_one(&below, AddressBatch::new(subject, vec![START])).batch_reason;
    assert!(matches!(reason, Some(Reason::BuildIdDiffers { .. })), "{reason:?}");
    // Without a recorded build-id only the recorded path counts.
    let by_path = module_subject(&recorded, None, Some(START));
    check(&below, by_path.clone(), &module.functions, START);
    put(&module.file, &module.dir.join("dir/made-here.ko"));
    let reason = resolve_one(&searched, AddressBatch::new(by_path.clone(), vec![START])).batch_reason;
    assert!(matches!(reason, Some(Reason::ModuleNotFound { recorded: None, .. })), "{reason:?}");
    // Unless it is for the recorded release of the kernel.
    let of_release = |release: &str| Options { kernel_release: Some(release.to_owned()), ..searched.clone() };
    let other = resolve_one(&of_release("6.9.0-tes"), AddressBatch::new(by_path.clone(), vec![START]));
    assert!(matches!(other.batch_reason, Some(Reason::ModuleNotFound { .. })), "{:?}", other.batch_reason);
    check(&of_release(RELEASE), by_path, &module.functions, START);
}

/// The debug information of a module has no addresses yet: those of its sections are to be filled in. Some modules keep it in
/// a file of its own, whose other sections are empty.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn lines_of_modules() {
    let Some(module) = module("module_lines") else { return };
    let [file, debug, stripped] =
        ["made-here.ko", "made-here.ko.debug", "bare.ko"].map(|n| module.dir.join(n));
    let only = ["--only-keep-debug".to_owned(), text(&file), text(&debug)];
    let bare = [
        "--strip-debug".to_owned(),
        format!("--add-gnu-debuglink={}", text(&debug)),
        text(&file),
        text(&stripped),
    ];
    if run("objcopy", &only).is_none() || run("objcopy", &bare).is_none() {
        return;
    }
    compare_lines(&module, "", &[&file, &stripped]);
}

/// Machines on which the debug information of a module has relocations of other kinds.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn lines_of_modules_of_other_machines() {
    for (machine, more) in [
        // Differences of addresses are filled in here; code may shrink when it is linked, or not.
        ("riscv64", &["-mno-relax"][..]),
        ("riscv64", &["-mrelax", "-gdwarf-4"]),
        ("riscv64", &["-mrelax", "-gdwarf-5", "-gz"]),
        ("aarch64", &[]),
        ("s390x", &[]),
        ("powerpc64le", &[]),
    ] {
        let prefix = format!("{machine}-linux-gnu-");
        let flags = [&["-O1", "-g", "-c", "-fno-pie"], more].concat();
        let test = format!("module_lines_{machine}_{}", more.join(""));
        let Some(module) = module_of(&test, &format!("{prefix}gcc"), &prefix, &flags) else { continue };
        compare_lines(&module, &prefix, &[&module.file]);
    }
}

/// Compares the lines of each address of a module's functions with those that addr2line prints, for the module in these files.
fn compare_lines(module: &Module, prefix: &str, files: &[&Path]) {
    let file = &module.file;
    let values = functions_by(&format!("{prefix}nm"), file);
    for (name, section) in
        [("handle_request", ".text"), ("handle_error", ".text.unlikely"), ("stop_module", ".exit.text")]
    {
        let (start, size) = module.functions[name];
        let value = values[name].0;
        let input: String = (0..size).map(|at| format!("{:#x}\n", value + at)).collect();
        let arguments = ["-a", "-i", "-f", "-j", section, "-e", file.to_str().unwrap()];
        let Some(told) = filter(&format!("{prefix}addr2line"), &arguments, &input) else { return };
        let expected = chains(&told);
        assert_eq!(expected.iter().any(|chain| chain.len() == 2), name == "handle_error", "{prefix}{name}");
        for path in files {
            let addresses = (START + start..START + start + size).collect();
            let subject =
                Subject::KernelModule { name: path.to_path_buf(), build_id: None, start: Some(START) };
            let answer = resolve_one(&options(), AddressBatch::new(subject, addresses));
            for (index, expected) in expected.iter().enumerate() {
                assert_eq!(&our_chain(&answer, index), expected, "{name}+{index:#x}, {}", path.display());
            }
        }
    }
}

/// A list as the kernel prints it, of a kernel and a module.
const LIST: &str = "ffffffff80000000 T _text\nffffffff80001000 T alpha\nffffffff80001100 t beta\n\
    ffffffffc0004000 d table\t[some_mod]\nffffffffc0008010 t gamma\t[some_mod]\nffffffffc0008100 t delta\t[some_mod]\n";

fn name_at(options: &Options, subject: Subject, address: u64) -> String {
    let answer = resolve_one(options, AddressBatch::new(subject, vec![address]));
    answer.name(0).map_or_else(|| format!("{:?}", answer.symbol(0)), str::to_owned)
}

fn kernel_at(text: u64) -> Subject {
    let id = BuildId::parse("00112233445566778899aabbccddeeff00112233");
    Subject::Kernel { build_id: id, reference: Some(("_text".to_owned(), text)) }
}

#[test]
fn lists_of_the_recording_and_of_the_cache() {
    let dir = directory("kernel_copies");
    let id = "00112233445566778899aabbccddeeff00112233";
    let gamma = |start| module_subject("[some_mod]", None, Some(start));
    let write = |at: &Path, modules: Option<&str>| {
        std::fs::create_dir_all(at).unwrap();
        std::fs::write(at.join("kallsyms"), LIST).unwrap();
        modules.into_iter().for_each(|text| std::fs::write(at.join("modules"), text).unwrap());
    };
    // Beside the recording: a list of the memory as it was.
    write(&dir.join("kcore_dir"), Some("some_mod 49152 1 - Live 0xffffffffc0008000\n"));
    let beside = Options { kcore_dir: Some(dir.join("kcore_dir")), ..options() };
    assert_eq!(name_at(&beside, kernel_at(0xffff_ffff_8000_0000), 0xffff_ffff_8000_1010), "alpha");
    assert_eq!(name_at(&beside, gamma(0xffff_ffff_c000_8000), 0xffff_ffff_c000_8020), "gamma");
    // In the cache: the kernel and its modules may have been elsewhere.
    let cached =
        Options { build_id_cache: Some(dir.join("cache")), kernel_build_id: BuildId::parse(id), ..options() };
    for (place, modules) in [
        ("[kernel.kcore]", Some("some_mod 49152 1 - Live 0xffffffffc0008000\n")),
        ("[kernel.kcore]", None),
        ("[kernel.kallsyms]", None),
    ] {
        let copy = dir.join("cache").join(place).join(id);
        write(&if place == "[kernel.kcore]" { copy.join("2026112110503245") } else { copy }, modules);
        assert_eq!(name_at(&cached, kernel_at(0xffff_ffff_9000_0000), 0xffff_ffff_9000_1110), "beta");
        assert_eq!(name_at(&cached, gamma(0xffff_ffff_c0aa_8000), 0xffff_ffff_c0aa_8020), "gamma");
        assert_eq!(name_at(&cached, gamma(0xffff_ffff_c0aa_8000), 0xffff_ffff_c0aa_8120), "delta");
        std::fs::remove_dir_all(dir.join("cache")).unwrap();
    }
}

#[test]
fn kernels_of_guests() {
    let dir = directory("kernel_guests");
    std::fs::create_dir_all(dir.join("mount/77/proc")).unwrap();
    std::fs::write(dir.join("mount/77/proc/kallsyms"), LIST).unwrap();
    let mount = GuestFiles { mount: Some(dir.join("mount")), ..GuestFiles::default() };
    let list = GuestFiles { kallsyms: Some(dir.join("mount/77/proc/kallsyms")), ..GuestFiles::default() };
    let kernel = |pid| Subject::GuestKernel { pid, build_id: None, reference: None };
    let module = |pid| Subject::GuestModule { pid, name: "[some_mod]".into(), build_id: None, start: None };
    for (guest, pid) in [(mount.clone(), Some(77)), (list, None)] {
        let options = Options { guest, ..options() };
        assert_eq!(name_at(&options, kernel(pid), 0xffff_ffff_8000_1010), "alpha");
        assert_eq!(name_at(&options, module(pid), 0xffff_ffff_c000_8110), "delta");
    }
    // A copy of its kernel that belongs to the recording, by the process that ran it.
    for pid in [77, 78] {
        std::fs::create_dir_all(dir.join(format!("kcore_dir__{pid}"))).unwrap();
    }
    std::fs::write(dir.join("kcore_dir__77/kallsyms"), LIST).unwrap();
    let kcore_dirs = vec![(77, dir.join("kcore_dir__77")), (78, dir.join("kcore_dir__78"))];
    let both = Options { guest: GuestFiles { kcore_dirs, ..GuestFiles::default() }, ..options() };
    assert_eq!(name_at(&both, kernel(Some(77)), 0xffff_ffff_8000_1010), "alpha");
    for pid in [Some(78), Some(79), None] {
        let answer = resolve_one(&both, AddressBatch::new(kernel(pid), vec![0xffff_ffff_8000_1010]));
        assert!(answer.batch_reason.is_some(), "{pid:?}");
    }
    let kcore_dirs = vec![(77, dir.join("kcore_dir__77"))];
    let only = Options { guest: GuestFiles { kcore_dirs, ..GuestFiles::default() }, ..options() };
    assert_eq!(name_at(&only, kernel(None), 0xffff_ffff_8000_1010), "alpha");
    // What runs here is no guest.
    let trusting = Options { trust_running_kernel: true, guest: mount, ..options() };
    let answer = resolve_one(&trusting, AddressBatch::new(kernel(Some(78)), vec![0xffff_ffff_8100_0000]));
    assert_eq!(answer.batch_reason, Some(Reason::KernelUnknown));
    let answer = resolve_one(&trusting, AddressBatch::new(module(Some(78)), vec![1]));
    assert!(matches!(answer.batch_reason, Some(Reason::ModuleNotFound { .. })));
}
