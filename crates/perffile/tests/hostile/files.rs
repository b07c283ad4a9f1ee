//! Recordings to be damaged: the fixtures of the repository, and the corpus beside it if it is there.

#[path = "../../../../tests/corpus_root.rs"]
mod corpus_root;

use std::path::{Path, PathBuf};

/// First bytes of what can be opened: both versions, both byte orders, and the wrappers.
const MAGICS: [&[u8]; 6] =
    [b"PERFILE2", b"2ELIFREP", b"PERFFILE", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All recordings, by name.
pub fn recordings() -> Vec<PathBuf> {
    let corpus = corpus_root::corpus_root();
    if !corpus.is_dir() {
        eprintln!(
            "SKIPPED: no corpus at {}; set READPERF_CORPUS. Only the fixtures are used.",
            corpus.display()
        );
    }
    let mut found = fixtures();
    found.extend(below(&corpus));
    found
}

/// Those that are part of the repository, by name.
pub fn fixtures() -> Vec<PathBuf> {
    let found = below(&root().join("tests/fixtures"));
    assert!(!found.is_empty(), "the fixtures are part of the repository");
    found
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_recording(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn is_recording(path: &Path) -> bool {
    use std::io::Read;
    let text = path.extension().is_some_and(|end| end == "gz") && !path.to_string_lossy().contains(".data");
    let mut start = Vec::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(8).read_to_end(&mut start));
    !text && read.is_ok() && MAGICS.iter().any(|magic| start.starts_with(magic))
}

/// A number made of a name, the same in every run.
pub fn seed(path: &Path) -> u64 {
    let name = path.file_name().map(|name| name.as_encoded_bytes().to_vec()).unwrap_or_default();
    name.iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}
