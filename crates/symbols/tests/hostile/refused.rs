//! Files that the system does not let be read.

use super::{allocation, directory, options};
use readperf_symbols::unwind::{Machine, Registers, Stack, Unwinder};
use readperf_symbols::{AddressBatch, FileLoader, Options, Reason, Subject, resolve};
use std::io;
use std::path::{Path, PathBuf};

/// Options whose files cannot be read, for the reason with this number.
fn refusing(number: i32) -> Options {
    let file_loader = FileLoader::new(move |_| Err(io::Error::from_raw_os_error(number)));
    Options { file_loader, ..options() }
}

fn file(path: &Path) -> Subject {
    Subject::File { path: path.to_owned(), build_id: None }
}

fn there(test: &str) -> PathBuf {
    let path = directory(test).join("prog");
    std::fs::write(&path, "whatever").unwrap();
    path
}

/// EIO, ENOMEM, EACCES, ENFILE, EMFILE, ELOOP.
const REASONS: [(i32, &str); 6] = [
    (5, "Input/output error"),
    (12, "Cannot allocate memory"),
    (13, "Permission denied"),
    (23, "Too many open files in system"),
    (24, "Too many open files"),
    (40, "Too many levels of symbolic links"),
];

#[test]
fn what_names_are_lost_by_is_said() {
    let _alone = allocation::alone();
    let path = there("refused_names");
    for (number, said) in REASONS {
        let options = refusing(number);
        let answers = resolve(&options, vec![AddressBatch::new(file(&path), vec![0x1000])]);
        assert!(matches!(answers[0].batch_reason, Some(Reason::NotReadable { .. })));
        let losses = options.file_loader.losses();
        assert_eq!(losses, [format!("cannot read {}: {said} (os error {number})", path.display())]);
        // One that is not there is none that could not be read.
        let options = refusing(number);
        let gone = file(Path::new("/none/such"));
        assert!(matches!(
            resolve(&options, vec![AddressBatch::new(gone, vec![0])])[0].batch_reason,
            Some(Reason::NoFile { .. } | Reason::NoFileNorId { .. })
        ));
        assert_eq!(options.file_loader.losses(), [""; 0]);
    }
}

/// A stack that ends early because a file could not be opened has not ended for want of tables alone.
#[test]
fn what_frames_are_lost_by_is_said() {
    let _alone = allocation::alone();
    let path = there("refused_frames");
    let options = refusing(24);
    let unwinder = Unwinder::new(&options);
    let binary = unwinder.binary(&file(&path));
    let mapping =
        readperf_symbols::unwind::Mapping { start: 0x1000, end: 0x9000, offset: 0, binary: Some(binary) };
    let machine = Machine::of_task("x86_64", false).unwrap();
    // All of `PERF_REG_X86_*` up to R15.
    let mut values = vec![0x7000_0000; 24];
    values[8] = 0x1234;
    let registers = Registers::recorded(machine, 0x00ff_ffff, &values).unwrap();
    let stack = Stack { bytes: &[0; 512], big_endian: false };
    let mut frames = Vec::new();
    let lookup = |address: u64| (0x1000..0x9000).contains(&address).then_some(mapping);
    unwinder.unwind(&mut Default::default(), &lookup, &registers, stack, 16, &mut frames);
    assert_eq!(options.file_loader.losses().len(), 1);
}
