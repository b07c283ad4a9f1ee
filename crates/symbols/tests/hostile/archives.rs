//! Archives that were made to fill the disk, to lead out of themselves, or that are not all there.

use super::{MIB, allocation, directory, name_at, options};
use readperf_symbols::{
    AddressBatch, BuildId, FileBytes, FileLoader, Files, Options, Resolver, Subject, SymbolArchive,
};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tar::{EntryType, Header};

const ID: &str = "0123456789abcdef0123456789abcdef01234567";
const OTHER_ID: &str = "fedcba9876543210fedcba9876543210fedcba98";
const LIST: &str = "ffffffff81000000 T _stext\nffffffff81001000 T found\nffffffff81009000 T end\n";

/// Writes an archive.
struct Tar<W: Write>(tar::Builder<W>);

impl<W: Write> Tar<W> {
    fn new(out: W) -> Tar<W> {
        Tar(tar::Builder::new(out))
    }

    fn raw(&mut self, name: &str, kind: EntryType, link: &str, size: u64, data: impl Read) -> &mut Self {
        let mut header = Header::new_gnu();
        // The safe ways to set these refuse what is tested here.
        let old = header.as_old_mut();
        old.name[..name.len()].copy_from_slice(name.as_bytes());
        old.linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_size(size);
        header.set_mode(0o644);
        header.set_cksum();
        self.0.append(&header, data).unwrap();
        self
    }

    fn file(&mut self, name: &str, data: &str) -> &mut Self {
        self.raw(name, EntryType::Regular, "", data.len() as u64, data.as_bytes())
    }

    fn zeros(&mut self, name: &str, size: u64) -> &mut Self {
        self.raw(name, EntryType::Regular, "", size, io::repeat(0).take(size))
    }

    fn link(&mut self, name: &str, target: &str) -> &mut Self {
        self.raw(name, EntryType::Symlink, target, 0, io::empty())
    }

    /// What `perf archive` packs of a kernel.
    fn kernel(&mut self, id: &str, list: &str) -> &mut Self {
        let target = format!("../../[kernel.kallsyms]/{id}");
        self.link(&format!(".build-id/{}/{}", &id[..2], &id[2..]), &target);
        self.file(&format!("[kernel.kallsyms]/{id}/kallsyms"), list)
    }

    fn done(self) -> W {
        self.0.into_inner().unwrap()
    }
}

fn write(dir: &Path, bytes: &[u8]) -> PathBuf {
    let path = dir.join("symbols.tar");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn read(mut file: File) -> io::Result<FileBytes> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(Arc::new(bytes))
}

fn with(archive: SymbolArchive) -> Options {
    let search_dirs = vec![archive.directory().to_owned()];
    Options {
        search_dirs,
        file_loader: FileLoader::default().with_archives(vec![archive], read),
        ..options()
    }
}

/// The name of a place in the kernel with this build-id.
fn name(options: &Options, id: &str) -> String {
    let subject = Subject::Kernel { build_id: BuildId::parse(id), reference: None };
    let files = Files::new();
    let mut resolver = Resolver::new(&files, options.clone());
    let answer = resolver.resolve(vec![AddressBatch::new(subject, vec![0xffff_ffff_8100_1004])]);
    name_at(&answer[0], 0).to_owned()
}

fn unpacked(options: &Options) -> (u64, u64) {
    options.file_loader.archives()[0].unpacked_bytes()
}

/// Compressed 1:20,000, and of no build-id that is asked for.
#[test]
fn a_bomb_is_not_unpacked() {
    let _alone = allocation::alone();
    const BOMB: u64 = 700 << 20;
    let mut tar = Tar::new(zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap());
    tar.kernel(ID, LIST);
    tar.zeros(&format!("usr/bin/x/{OTHER_ID}/elf"), BOMB);
    tar.kernel(OTHER_ID, LIST);
    let bytes = tar.done().finish().unwrap();
    assert!(bytes.len() < MIB / 2);
    let path = write(&directory("archive_bomb"), &bytes);
    let (options, held) = allocation::total(|| with(SymbolArchive::open(&path).unwrap()));
    assert!(held < 4 * MIB, "{held}");
    let damage = options.file_loader.archives()[0].damage().unwrap();
    assert!(damage.ends_with("would come out of it, which is too much for its size"), "{damage}");
    assert_eq!(unpacked(&options), (0, 0), "nothing was asked for");
    assert_eq!(name(&options, ID), "found");
    assert_eq!(unpacked(&options), (LIST.len() as u64, 0));
    // Behind the bomb.
    assert_eq!(name(&options, OTHER_ID), "");
    assert_eq!(unpacked(&options), (LIST.len() as u64, 0));
}

/// What is large and asked for goes to a file without a name, once.
#[test]
fn only_what_is_asked_for_is_unpacked() {
    let _alone = allocation::alone();
    let large = format!("{LIST}{}", "#".repeat(65 * MIB));
    let mut tar = Tar::new(flate2_encoder());
    tar.kernel(OTHER_ID, LIST).kernel(ID, &large).zeros(&format!("[kernel.kallsyms]/{ID}/kcore"), 1 << 20);
    let path = write(&directory("archive_asked"), &tar.done().finish().unwrap());
    let options = with(SymbolArchive::open(&path).unwrap());
    for _ in 0..3 {
        assert_eq!(name(&options, ID), "found");
        assert_eq!(unpacked(&options), (0, large.len() as u64));
    }
    assert_eq!(name(&options, OTHER_ID), "found");
    assert_eq!(unpacked(&options), (LIST.len() as u64, large.len() as u64));
}

fn flate2_encoder() -> flate2::write::GzEncoder<Vec<u8>> {
    flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast())
}

#[test]
fn what_leads_out_is_refused_by_name() {
    let _alone = allocation::alone();
    let mut tar = Tar::new(Vec::new());
    tar.kernel(ID, LIST)
        .file("../outside", "bad")
        .file("good/../../outside", "bad")
        .link("absolute", "/etc")
        .link("up", "../..")
        .link("good/down", "x/../../..")
        .raw("hard", EntryType::Link, "../passwd", 0, io::empty())
        .raw("device", EntryType::Char, "", 0, io::empty())
        .raw("pipe", EntryType::Fifo, "", 0, io::empty())
        .file(&format!("[kernel.kallsyms]/{ID}/kallsyms"), "ffffffff81001000 T planted\n");
    let path = write(&directory("archive_refused"), &tar.done());
    let archive = SymbolArchive::open(&path).unwrap();
    assert_eq!((archive.refused(), archive.damage()), (9, None));
    let told = archive.told().unwrap();
    for part in [
        "symbols.tar: 9 members were refused: ../outside (leads out of the archive)",
        "good/../../outside (leads out of the archive)",
        "absolute (leads out of the archive)",
        "and 5 more",
    ] {
        assert!(told.contains(part), "{told}");
    }
    // The first of two counts.
    assert_eq!(name(&with(archive), ID), "found");
}

#[test]
fn links_are_followed_within_the_archive_alone() {
    let _alone = allocation::alone();
    let dir = directory("archive_links");
    let mut tar = Tar::new(Vec::new());
    // Through a link to a directory, and through a hard link.
    tar.file("kept", LIST);
    tar.raw(&format!("moved/{ID}/kallsyms"), EntryType::Link, "kept", 0, io::empty());
    tar.link("[kernel.kallsyms]", "moved");
    tar.link("round", "round").link("a", "b").link("b", "a");
    let path = write(&dir, &tar.done());
    let archive = SymbolArchive::open(&path).unwrap();
    assert_eq!(archive.refused(), 0);
    assert_eq!(name(&with(archive), ID), "found");
}

/// Whatever is cut off, what is before it is used, and it is said.
#[test]
fn an_archive_that_is_not_all_there() {
    let _alone = allocation::alone();
    let dir = directory("archive_cut");
    let mut tar = Tar::new(Vec::new());
    tar.kernel(ID, LIST).zeros("rest", 4096);
    let bytes = tar.done();
    // Four members of two blocks each, but the link and the last one, and two blocks that mark the end.
    for cut in [bytes.len() - 1024, bytes.len() - 1200, 3 * 512 + 100, 3 * 512] {
        let path = write(&dir, &bytes[..cut]);
        let archive = SymbolArchive::open(&path).unwrap();
        let damage = archive.damage().unwrap();
        assert!(damage.contains("the archive ends early, after"), "{cut}: {damage}");
        assert_eq!(name(&with(archive), ID), "found", "{cut}");
    }
    let mut wrong = bytes.clone();
    wrong[3 * 512] ^= 1;
    let archive = SymbolArchive::open(&write(&dir, &wrong)).unwrap();
    assert!(archive.damage().unwrap().contains("the archive is damaged behind entry 2"));
    assert_eq!(name(&with(archive), ID), "found");
    for nothing in [&bytes[..0], &bytes[..100], &b"no archive at all".repeat(100)[..]] {
        assert!(SymbolArchive::open(&write(&dir, nothing)).is_err());
    }
}

/// Sizes that cannot be, in headers and in extended headers; a long name of 300 MiB; holes.
#[test]
fn headers_that_lie() {
    let _alone = allocation::alone();
    let dir = directory("archive_lies");
    let gnu = |kind: u8| EntryType::new(kind);
    let lies: [(&str, u64, EntryType, &str); 4] = [
        ("8 EiB", u64::MAX >> 1, EntryType::Regular, "is not all there"),
        ("16 EiB", u64::MAX, EntryType::Regular, "more bytes than can be"),
        ("a long name", 300 << 20, gnu(b'L'), "more bytes than can be"),
        ("an extended header", 300 << 20, gnu(b'x'), "more bytes than can be"),
    ];
    for (what, size, kind, said) in lies {
        let mut tar = Tar::new(Vec::new());
        tar.kernel(ID, LIST).raw("lie", kind, "", size, io::empty());
        let path = write(&dir, &tar.done());
        let (archive, held) = allocation::total(|| SymbolArchive::open(&path).unwrap());
        assert!(held < MIB, "{what}: {held}");
        assert!(archive.damage().unwrap().contains(said), "{what}: {:?}", archive.damage());
        assert_eq!(name(&with(archive), ID), "found", "{what}");
    }
    // GNU's form of holes, with one that is as large as can be.
    let mut header = Header::new_gnu();
    let sparse = header.as_gnu_mut().unwrap();
    sparse.name[..5].copy_from_slice(b"holes");
    sparse.sparse[0].offset = *b"777777777777";
    sparse.set_real_size(0o777_777_777_777);
    header.set_entry_type(EntryType::GNUSparse);
    header.set_size(0);
    header.set_cksum();
    let mut tar = Tar::new(Vec::new());
    tar.0.append(&header, io::empty()).unwrap();
    // And that of pax.
    let record = "22 GNU.sparse.major=1\n";
    tar.raw("PaxHeaders/x", gnu(b'x'), "", record.len() as u64, record.as_bytes()).file("packed", "x");
    tar.kernel(ID, LIST);
    let archive = SymbolArchive::open(&write(&dir, &tar.done())).unwrap();
    assert_eq!((archive.refused(), archive.damage()), (2, None));
    assert!(archive.told().unwrap().contains("holes (a file with holes"), "{:?}", archive.told());
    assert_eq!(name(&with(archive), ID), "found");
}

/// A window that would need gigabytes of memory is not made.
#[test]
fn a_huge_window_is_refused() {
    let _alone = allocation::alone();
    // A frame header (RFC 8878, 3.1.1.1): a window of 2^41 bytes, and one block, which is empty and the last one.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0x00, 0x00];
    let path = write(&directory("archive_window"), &frame);
    let (error, held) = allocation::total(|| SymbolArchive::open(&path).unwrap_err());
    assert!(held < MIB, "{held}");
    assert!(error.to_string().contains("memory"), "{error}");
}

/// `perf archive --all` packs an archive into another.
#[test]
fn an_archive_within_another() {
    let _alone = allocation::alone();
    let dir = directory("archive_nested");
    let mut inner = Tar::new(flate2_encoder());
    inner.kernel(ID, LIST);
    let inner = inner.done().finish().unwrap();
    let mut tar = Tar::new(Vec::new());
    tar.file("perf.data", "not looked at");
    let data = inner.as_slice();
    tar.raw("perf.symbols.tar.gz", EntryType::Regular, "", inner.len() as u64, data).kernel(OTHER_ID, LIST);
    let options = with(SymbolArchive::open(&write(&dir, &tar.done())).unwrap());
    assert_eq!([name(&options, ID), name(&options, OTHER_ID)], ["found", "found"]);
    // One that is cut costs only what is in it.
    let half = &inner[..inner.len() / 2];
    let mut tar = Tar::new(Vec::new());
    tar.raw("perf.symbols.tar.gz", EntryType::Regular, "", half.len() as u64, half).kernel(OTHER_ID, LIST);
    let archive = SymbolArchive::open(&write(&dir, &tar.done())).unwrap();
    assert!(archive.damage().unwrap().contains("perf.symbols.tar.gz: "), "{:?}", archive.damage());
    assert_eq!(name(&with(archive), OTHER_ID), "found");
}
