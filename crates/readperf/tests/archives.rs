//! Archives of binaries given to the program: nothing of them goes to a folder, and what is wrong with them is said.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops where something is not as expected"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A member of a tar file (POSIX, ustar): its header, and its contents filled up to whole blocks.
fn member(name: &str, data: &[u8]) -> Vec<u8> {
    let mut header = [0_u8; 512];
    header[..name.len()].copy_from_slice(name.as_bytes());
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", data.len()).as_bytes());
    header[148..156].fill(b' ');
    header[156] = b'0';
    header[257..265].copy_from_slice(b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut all = header.to_vec();
    all.extend(data);
    all.resize(all.len().next_multiple_of(512), 0);
    all
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name)
}

/// What `script` shows with these symbols: exit status, how many places have no name, and what is said. Folders for temporary files
/// are `scratch`.
fn script(symbols: &Path, scratch: &Path) -> (Option<i32>, usize, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_readperf"));
    command.arg("script").arg(fixture("dwarf/perf.data")).arg("--no-cache").arg("--symbols").arg(symbols);
    let output = command.env("HOME", scratch).env("TMPDIR", scratch).output().unwrap();
    let unknown = String::from_utf8_lossy(&output.stdout).matches("[unknown]").count();
    (output.status.code(), unknown, String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn only_what_is_asked_for_is_unpacked_and_what_is_wrong_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = dir.path().join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let packed = |members: &[Vec<u8>], cut: usize| {
        let mut tar = members.concat();
        tar.extend([0; 1024]);
        tar.truncate(tar.len() - cut);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&tar).unwrap();
        let path = dir.path().join("symbols.tar.gz");
        std::fs::write(&path, gzip.finish().unwrap()).unwrap();
        path
    };
    let program = member("tree", &std::fs::read(fixture("bin/tree")).unwrap());
    let bomb = member("bomb", &vec![0; 300 << 20]);
    let (usual, with_program, said) = script(&packed(std::slice::from_ref(&program), 0), &scratch);
    assert_eq!((usual, said.as_str()), (Some(0), ""));
    let (_, without, _) = script(&packed(&[member("other", b"")], 0), &scratch);
    assert!(without > with_program + 50, "{without} {with_program}");

    // What leads out is no damage: nothing is missing.
    let path = packed(&[member("../outside", b"bad"), program.clone()], 0);
    let (status, unknown, said) = script(&path, &scratch);
    assert_eq!((status, unknown), (Some(0), with_program));
    assert!(
        said.contains("symbols.tar.gz: 1 member was refused: ../outside (leads out of the archive)"),
        "{said}"
    );

    // What lies before the damage, or before what is too much, is used.
    let cut = [program.clone(), member("rest", &[0; 8192])];
    let early = "the archive ends early, after 2 entries: it is not all there";
    for (members, cut, why) in [(cut, 4096, early), ([program, bomb], 0, "more than ")] {
        let (status, unknown, said) = script(&packed(&members, cut), &scratch);
        assert_eq!((status, unknown), (Some(3), with_program), "{said}");
        assert!(said.contains("names may be missing: ") && said.contains(why), "{said}");
    }
    assert_eq!(std::fs::read_dir(&scratch).unwrap().count(), 0);
}
