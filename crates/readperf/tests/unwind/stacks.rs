//! From a recording to unwound stacks, and what other tools say of them.

use crate::oracle::skip;
use perffile::Recording;
use perffile::bytes::map_file;
use readperf_session::{AddressSpace, Binary, BinaryKind, Moment, Session};
use readperf_symbols::unwind::{BinaryId, Cache, End, Machine, Mapping, Registers, Stack, Unwinder};
use readperf_symbols::{BuildId, FileLoader, Options, Subject};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// How the program is built.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Pie,
    Fixed,
    Static,
    Unoptimised,
    Stripped,
    Pointers,
}

/// Builds the program and its library into `dir`; `None`, loudly, when there is no compiler.
pub(crate) fn program(test: &str, dir: &Path, kind: Kind) -> Option<PathBuf> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/unwind/programs");
    let flags: &[&str] = match kind {
        Kind::Pie => &["-O2", "-fomit-frame-pointer", "-fPIE", "-pie"],
        Kind::Fixed => &["-O2", "-fomit-frame-pointer", "-fno-pie", "-no-pie"],
        Kind::Static => &["-O0", "-fomit-frame-pointer", "-static", "-fno-pie", "-no-pie"],
        Kind::Unoptimised => &["-O0"],
        Kind::Stripped => &["-O2", "-s"],
        // With any optimisation gcc leaves the frame out of functions that call nothing.
        Kind::Pointers => &["-O0", "-fno-omit-frame-pointer", "-fno-pie", "-no-pie"],
    };
    let program = dir.join("stacks");
    let library = dir.join("library.so");
    let mut build_library = Command::new("cc");
    build_library.args(["-O2", "-fPIC", "-shared", "-fno-omit-frame-pointer", "-o"]).arg(&library);
    let mut build = Command::new("c++");
    build.args(flags).args(["-w", "-pthread", "-o"]).arg(&program).arg(sources.join("stacks.cc")).arg("-ldl");
    for command in [build_library.arg(sources.join("library.c")), &mut build] {
        match command.output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                skip(test, &format!("compiling: {}", String::from_utf8_lossy(&output.stderr)));
                return None;
            }
            Err(error) => {
                skip(test, &format!("no compiler: {error}"));
                return None;
            }
        }
    }
    Some(program)
}

/// The functions of a program that is not moved when it is loaded, as `nm` tells them: first address, end, name.
pub(crate) fn functions(test: &str, program: &Path) -> Option<Vec<(u64, u64, String)>> {
    let Ok(output) = Command::new("nm").args(["-S", "--defined-only"]).arg(program).output() else {
        skip(test, "no nm");
        return None;
    };
    let text = String::from_utf8(output.stdout).unwrap();
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let function = |line: &str| {
        let [start, size, "t" | "T", name] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
        Some((number(start)?, number(start)? + number(size)?, name.to_owned()))
    };
    Some(text.lines().filter_map(function).collect())
}

/// An unwound stack.
#[derive(Debug)]
pub(crate) struct Unwound {
    /// The thread, and the time in ns.
    pub(crate) sample: (u32, u64),
    pub(crate) frames: Vec<u64>,
    pub(crate) end: End,
    /// For each frame its offset in the file that is mapped there, which is what perf prints, and the name of the file.
    places: Vec<Option<(u64, String)>>,
}

impl Unwound {
    /// Whether the frame `at` is what perf prints as `address`.
    pub(crate) fn is_at(&self, at: usize, address: u64) -> bool {
        self.frames[at] == address || self.places[at].as_ref().is_some_and(|(offset, _)| *offset == address)
    }

    /// Whether the frame is where a signal handler returns to, in the C library, and is followed by what was interrupted.
    pub(crate) fn is_signal(&self, at: usize) -> bool {
        at + 1 < self.frames.len()
            && self.places[at].as_ref().is_some_and(|(_, name)| name.starts_with("libc"))
    }
}

fn subject(binary: &Binary) -> Option<Subject> {
    let build_id = binary.build_id.as_deref().and_then(BuildId::from_bytes);
    match &binary.kind {
        BinaryKind::User => Some(Subject::File { path: OsStr::from_bytes(&binary.name).into(), build_id }),
        BinaryKind::Vdso => Some(Subject::Vdso { build_id }),
        _ => None,
    }
}

/// A sample with its stack, and the mappings of its process at that time.
struct Recorded {
    sample: (u32, u64),
    registers: Registers,
    stack: Vec<u8>,
    space: AddressSpace,
    chain: Vec<u64>,
}

fn read(data: &Path) -> (Session, Vec<Recorded>) {
    let recording = Recording::open(data).unwrap();
    let mut session = Session::new(recording.metadata());
    let mut recorded = Vec::new();
    let each = |event: &perffile::Event<'_>| {
        let Moment::Sample(sample) = session.apply(event) else { return };
        let (fields, _) = sample.sample.decode().unwrap();
        let mut registers = Registers::recorded(Machine::X86_64, 0b1_1000_0000, &[0, 0]).unwrap();
        let mut stack = Vec::new();
        if let (Some(user), Some(bytes)) = (fields.regs_user, fields.stack_user) {
            let machine = Machine::of_task(
                std::env::consts::ARCH,
                user.abi == perffile::wire::registers::RegsAbi::ABI_32,
            )
            .unwrap();
            let values: Vec<u64> = user.values.iter().collect();
            registers = Registers::recorded(machine, user.mask, &values).unwrap();
            stack.extend_from_slice(&bytes.data[..bytes.dyn_size as usize]);
        }
        let chain =
            fields.callchain.map(|chain| chain.iter().filter(|ip| *ip < 0xffff_ffff_ffff_f000).collect());
        let space = session.process(sample.process).unwrap().space().clone();
        let sample = (fields.tid.unwrap(), fields.time.unwrap());
        recorded.push(Recorded { sample, registers, stack, space, chain: chain.unwrap_or_default() });
    };
    recording.for_each(each).unwrap();
    (session, recorded)
}

fn place(session: &Session, space: &AddressSpace, address: u64) -> Option<(u64, String)> {
    let mapping = space.find(address)?;
    let name = &session.binary(mapping.binary)?.short_name;
    Some((mapping.address_in_binary(address), String::from_utf8_lossy(name).into_owned()))
}

/// The stacks of a recording, unwound.
pub(crate) fn unwind(data: &Path) -> Vec<Unwound> {
    let (session, recorded) = read(data);
    let options = Options {
        file_loader: FileLoader::new(|path| Ok(Arc::new(map_file(&File::open(path)?)?))),
        trust_running_kernel: true,
        ..Options::default()
    };
    let unwinder = Unwinder::new(&options);
    let binaries: Vec<Option<BinaryId>> = session
        .binaries()
        .iter()
        .map(|binary| subject(binary).map(|subject| unwinder.binary(&subject)))
        .collect();
    let mut cache = Cache::default();
    let unwound = recorded.iter().map(|sample| {
        let lookup = |address: u64| {
            let mapping = sample.space.find(address).filter(|mapping| !mapping.data)?;
            Some(Mapping {
                start: mapping.start,
                end: mapping.end,
                offset: mapping.address_in_binary(mapping.start),
                binary: binaries[mapping.binary.index()],
            })
        };
        let stack = Stack { bytes: &sample.stack, big_endian: cfg!(target_endian = "big") };
        let mut frames = Vec::new();
        let end = unwinder.unwind(&mut cache, &lookup, &sample.registers, stack, 127, &mut frames);
        let places = frames.iter().map(|address| place(&session, &sample.space, *address)).collect();
        Unwound { sample: sample.sample, frames, end, places }
    });
    unwound.collect()
}

/// The call chains that the kernel made of a recording, with the address of a caller made that of its call.
pub(crate) fn recorded_chains(data: &Path) -> Vec<Unwound> {
    let (_, recorded) = read(data);
    let stacks = recorded.into_iter().map(|recorded| {
        let addresses = recorded.chain.iter().enumerate();
        let frames =
            addresses.map(|(depth, address)| if depth == 0 { *address } else { address.wrapping_sub(1) });
        Unwound { sample: recorded.sample, frames: frames.collect(), end: End::Bottom, places: Vec::new() }
    });
    stacks.collect()
}

/// Where perf has lost its way: an address of -1, or one where no file is mapped, as on the stack.
pub(crate) const LOST: u64 = u64::MAX;

/// The addresses of each stack in the text of `perf script --ns`, by thread and time. Functions that were inlined have lines of
/// their own, with the same address. Where perf makes nothing of a chain, it shows the place of the sample behind the event.
pub(crate) fn frames_of_script(text: &str) -> BTreeMap<(u32, u64), Vec<u64>> {
    let address = |words: &str| u64::from_str_radix(words.split_whitespace().next()?, 16).ok();
    let mut stacks = BTreeMap::new();
    let mut frames: Option<&mut Vec<u64>> = None;
    for line in text.lines().filter(|line| !line.is_empty()) {
        if line.starts_with('\t') {
            // What is mapped there is in parentheses.
            let is_code = line.ends_with("([vdso])") || line.contains(" (/");
            let frame = if is_code { address(line) } else { Some(LOST) };
            let frame = frame.unwrap_or_else(|| panic!("{line}: no address"));
            frames.as_mut().expect("a sample first").extend((!line.ends_with("(inlined)")).then_some(frame));
            continue;
        }
        let sample = thread_and_time(line).unwrap_or_else(|| panic!("{line}: no thread and time"));
        let place = line.rsplit_once(": ").and_then(|(_, place)| address(place));
        let known = stacks.insert(sample, Vec::from_iter(place));
        assert_eq!(known, None, "{line}: one sample of a thread at a time");
        frames = stacks.get_mut(&sample);
    }
    stacks
}

/// The thread and the time, in ns, that the first line of a sample tells.
fn thread_and_time(line: &str) -> Option<(u32, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let time = |word: &str| {
        let (seconds, nanoseconds) = word.strip_suffix(':')?.split_once('.')?;
        Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + nanoseconds.parse::<u64>().ok()?)
    };
    // The name of the thread comes before, and may be anything.
    words.windows(2).rev().find_map(|two| Some((two[0].parse().ok()?, time(two[1])?)))
}
