//! Symbols that are packed: into the binary itself, or with the binaries into an archive.

use std::path::Path;

use crate::programs::{
    compile, directory, offset, options, resolve_file, resolve_one, run, run_any, segments,
};
use readperf_symbols::{
    AddressBatch, BuildId, FileBytes, FileLoader, Options, Provides, Reason, Subject, SymbolArchive,
};

pub(crate) fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

fn build_id(path: &Path) -> Option<BuildId> {
    let notes = run("readelf", &["-n".to_owned(), text(path)])?;
    notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).and_then(BuildId::parse)
}

/// File offsets in the middle of each function, and its names, as nm prints them.
fn functions(path: &Path) -> Option<Vec<(u64, Vec<String>)>> {
    let segments = segments(path)?;
    let mut all: Vec<(u64, Vec<String>)> = Vec::new();
    let listed = run("nm", &["-nS".to_owned(), text(path)])?;
    for line in listed.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, size, "T" | "t", name] = words[..] else { continue };
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let Some(at) = offset(&segments, number(address) + number(size) / 2) else { continue };
        match all.last_mut().filter(|(last, _)| *last == at) {
            Some((_, names)) => names.push(name.to_owned()),
            None => all.push((at, vec![name.to_owned()])),
        }
    }
    Some(all)
}

/// How the gdb manual says that the section is made.
pub(crate) const EMBED: &str = r#"set -e; cd "$1"
nm -D whole --format=posix --defined-only | awk '{ print $1 }' | sort > dynamic
nm whole --format=posix --defined-only | awk '{ if ($2 == "T" || $2 == "t" || $2 == "D") print $1 }' | sort > all
comm -13 dynamic all > wanted
objcopy --only-keep-debug whole debug
objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=wanted debug mini
strip --strip-all -R .comment -o stripped whole
xz -kf mini
objcopy --add-section .gnu_debugdata=mini.xz stripped prog"#;

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn symbols_embedded_in_the_binary() {
    let dir = directory("embedded");
    for flags in [&["-O2", "-g", "-rdynamic"][..], &["-O2", "-g", "-no-pie", "-fno-pie"]] {
        let Some(whole) = compile(&dir, "inlines.c", "cc", flags) else { return };
        std::fs::copy(&whole, dir.join("whole")).unwrap();
        let Some(_) = run("sh", &["-c", EMBED, "sh", dir.to_str().unwrap()]) else { return };
        let functions = functions(&whole).unwrap();
        let offsets = functions.iter().map(|(offset, _)| *offset).collect();
        let bare = Options { debug_dirs: vec![], ..options() };
        let answer = resolve_file(&bare, &dir.join("prog"), build_id(&whole), offsets);
        assert!(answer.found.iter().any(|found| found.provides == Provides::EmbeddedSymbols));
        for (offset, names) in &functions {
            let index = answer.addresses.binary_search(offset).unwrap();
            let name = answer.name(index).unwrap_or_default();
            assert!(names.iter().any(|expected| expected == name), "{offset:#x} {name:?} {names:?}");
        }
        assert!(functions.len() > 4, "{functions:?}");
    }
    // A section that is damaged is none.
    let mut bytes = std::fs::read(dir.join("prog")).unwrap();
    let at = bytes.windows(6).position(|bytes| bytes == b"\xfd7zXZ\0").unwrap();
    bytes[at + 40..at + 60].fill(0xa5);
    std::fs::write(dir.join("damaged"), bytes).unwrap();
    let answer = resolve_file(&options(), &dir.join("damaged"), None, vec![0x1200]);
    assert!(answer.found.iter().all(|found| found.provides != Provides::EmbeddedSymbols));
}

/// A tree like the cache of a recorder: links by build-id to directories by path.
pub(crate) fn cache(dir: &Path, program: &Path) -> Option<BuildId> {
    let id = build_id(program)?;
    let (first, rest) = (id.to_string()[..2].to_owned(), id.to_string()[2..].to_owned());
    let entry = dir.join(format!("opt/app/prog/{id}"));
    std::fs::create_dir_all(&entry).unwrap();
    std::fs::copy(program, entry.join("elf")).unwrap();
    std::fs::create_dir_all(dir.join(".build-id").join(&first)).unwrap();
    std::os::unix::fs::symlink(
        format!("../../opt/app/prog/{id}"),
        dir.join(".build-id").join(first).join(rest),
    )
    .unwrap();
    Some(id)
}

/// Options that look for binaries in an archive.
pub(crate) fn searched(archive: SymbolArchive) -> Options {
    let read = |mut file: std::fs::File| {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut file, &mut bytes)?;
        Ok(std::sync::Arc::new(bytes) as FileBytes)
    };
    let search_dirs = vec![archive.directory().to_owned()];
    let file_loader = FileLoader::default().with_archives(vec![archive], read);
    Options { search_dirs, file_loader, ..options() }
}

#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn archives_of_binaries() {
    let dir = directory("archive");
    let Some(program) = compile(&dir, "inlines.c", "cc", &["-O2", "-g"]) else { return };
    let Some(id) = cache(&dir.join("cache"), &program) else { return };
    let functions = functions(&program).unwrap();
    let offsets: Vec<u64> = functions.iter().map(|(offset, _)| *offset).collect();
    let gone = Path::new("/opt/app/prog");
    let check = |searched: &Options| {
        let answer = resolve_file(searched, gone, Some(id), offsets.clone());
        assert_eq!(answer.batch_reason, None);
        assert_eq!(answer.len(), (0..answer.len()).filter(|index| answer.name(*index).is_some()).count());
    };
    check(&Options { search_dirs: vec![dir.join("cache")], ..options() });
    for how in ["--no-auto-compress", "--gzip", "--bzip2", "--xz", "--zstd"] {
        let archive = dir.join(format!("symbols{how}.tar"));
        let arguments =
            ["-c", how, "-f", archive.to_str().unwrap(), "-C", dir.join("cache").to_str().unwrap(), "."]
                .map(str::to_owned);
        let Some(output) = run_any("tar", &arguments) else { return };
        if !output.status.success() {
            eprintln!("SKIPPED: tar {how}: {}", String::from_utf8_lossy(&output.stderr));
            continue;
        }
        let packed = SymbolArchive::open(&archive).unwrap();
        assert_eq!((packed.refused(), packed.damage()), (0, None));
        check(&searched(packed));
        // Cut off in the middle: an error, or said.
        let bytes = std::fs::read(&archive).unwrap();
        std::fs::write(dir.join("cut"), &bytes[..bytes.len() / 2]).unwrap();
        assert!(SymbolArchive::open(&dir.join("cut")).map_or(true, |cut| cut.damage().is_some()), "{how}");
    }
    assert!(SymbolArchive::open(&program).is_err());
    assert!(SymbolArchive::open(Path::new("/dev/zero")).is_err());
}

/// What `perf archive` itself packs.
#[test]
#[ignore = "live: builds programs and compares with other tools"]
fn archives_by_perf() {
    let dir = directory("archive_perf");
    let Some(program) = compile(&dir, "inlines.c", "cc", &["-O2", "-g"]) else { return };
    let script = "cd \"$1\" && export HOME=\"$1/home\" && mkdir -p home && \
        perf record -q -e cpu-clock -o perf.data -- \"$2\" 300 && perf archive perf.data";
    let Some(_) = run_any("sh", &["-c", script, "sh", dir.to_str().unwrap(), program.to_str().unwrap()])
    else {
        return;
    };
    let Some(packed) =
        ["bz2", "xz", "gz"].iter().map(|e| dir.join(format!("perf.data.tar.{e}"))).find(|p| p.exists())
    else {
        eprintln!("SKIPPED: perf cannot record or pack here");
        return;
    };
    let id = build_id(&program);
    let functions = functions(&program).unwrap();
    std::fs::remove_file(&program).unwrap();
    let searched = searched(SymbolArchive::open(&packed).unwrap());
    let offsets = functions.iter().map(|(offset, _)| *offset).collect();
    let answer = resolve_file(&searched, &program, id, offsets);
    assert_eq!(answer.batch_reason, None);
    assert!((0..answer.len()).all(|index| answer.name(index).is_some()));
}

/// The image of the running kernel, put into a cache, stands for a recorded one.
#[test]
#[ignore = "live: needs python3"]
fn the_vdso_of_the_cache() {
    let dir = directory("vdso_cache");
    let script = "import sys\n\
        lines = [l for l in open('/proc/self/maps') if l.endswith(' [vdso]\\n')]\n\
        start, end = (int(x, 16) for x in lines[0].split()[0].split('-'))\n\
        m = open('/proc/self/mem', 'rb'); m.seek(start); open(sys.argv[1], 'wb').write(m.read(end - start))";
    let image = dir.join("image");
    if run_any("python3", &["-c".to_owned(), script.to_owned(), text(&image)]).is_none() || !image.exists() {
        eprintln!("SKIPPED: no vdso");
        return;
    }
    // Another build: the last byte of the build-id is changed.
    let id = build_id(&image).unwrap();
    let mut bytes = std::fs::read(&image).unwrap();
    let at = bytes.windows(20).position(|window| window == id.as_bytes()).unwrap();
    bytes[at + 19] ^= 0xff;
    std::fs::write(&image, &bytes).unwrap();
    let other = build_id(&image).unwrap();
    let (first, rest) = (other.to_string()[..2].to_owned(), other.to_string()[2..].to_owned());
    let entry = dir.join(format!("cache/.build-id/{first}/{rest}"));
    std::fs::create_dir_all(&entry).unwrap();
    std::fs::copy(&image, entry.join("vdso")).unwrap();
    let listed = run("nm", &["-D".to_owned(), text(&image)]).unwrap();
    let line = listed
        .lines()
        .find(|line| line.ends_with("__vdso_clock_gettime@@LINUX_2.6") || line.contains("clock_gettime"))
        .unwrap();
    let address = u64::from_str_radix(line.split_whitespace().next().unwrap(), 16).unwrap();
    let subject = Subject::Vdso { build_id: Some(other) };
    let cached = Options { build_id_cache: Some(dir.join("cache")), ..options() };
    let answer = resolve_one(&cached, AddressBatch::new(subject.clone(), vec![address + 1]));
    assert!(answer.name(0).unwrap().ends_with("clock_gettime"), "{:?}", answer.name(0));
    // As packages of kernels have it.
    let (root, release) = (dir.join("root"), "6.9.0-test".to_owned());
    for place in [
        format!("usr/lib/debug/.build-id/{first}/{rest}.debug"),
        format!("lib/modules/{release}/vdso/vdso64.so"),
    ] {
        let place = root.join(place);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(&image, &place).unwrap();
        let below = Options { symfs: Some(root.clone()), kernel_release: Some(release.clone()), ..options() };
        let answer = resolve_one(&below, AddressBatch::new(subject.clone(), vec![address + 1]));
        assert!(answer.name(0).is_some_and(|name| name.ends_with("clock_gettime")), "{}", place.display());
        std::fs::remove_file(&place).unwrap();
    }
    let reason = resolve_one(&options(), AddressBatch::new(subject, vec![address])).batch_reason;
    assert!(matches!(reason, Some(Reason::VdsoDiffers { .. })));
}
