//! The code of functions, as objdump has it.

use std::collections::BTreeMap;
use std::path::Path;

use readperf_symbols::{
    AddressBatch, BuildId, Extent, Files, Flow, ListedSymbol, Machine, NoCode, Options, Reason, RecordedCode,
    Resolver, Subject, SymbolList, Syntax,
};

use crate::kernel_files::{self, MOVED, build_id, kernel_image};
use crate::programs::{all_programs, compile, directory, has_libc, offset, options, run, segments};

/// Functions with a size, by nm: address, size, name.
fn functions(path: &Path) -> Option<Vec<(u64, u64, String)>> {
    let text = run("nm", &[Path::new("-S"), Path::new("--defined-only"), path])?;
    let function = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [address, size, "t" | "T" | "i" | "W" | "w", name] = words.as_slice() else { return None };
        let number = |word| u64::from_str_radix(word, 16).ok();
        Some((number(address)?, number(size)?, (*name).to_owned()))
    };
    Some(text.lines().filter_map(function).filter(|(_, size, _)| *size > 0).collect())
}

/// The bytes and texts of all instructions, by objdump.
fn instructions(path: &Path) -> Option<BTreeMap<u64, (Vec<u8>, String)>> {
    let text = run("objdump", &[Path::new("-dwz"), path])?;
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let address = u64::from_str_radix(parts.next()?.trim().strip_suffix(':')?, 16).ok()?;
        let bytes = parts.next()?.split_whitespace().map(|byte| u8::from_str_radix(byte, 16));
        Some((address, (bytes.collect::<Result<_, _>>().ok()?, parts.next().unwrap_or_default().to_owned())))
    };
    Some(text.lines().filter_map(line).collect())
}

/// How many instructions of a program are looked at for names of what they call: a static one has many.
const MOST_NAMED: usize = 5_000;

#[test]
#[ignore = "live: runs nm, readelf and objdump on programs it compiles"]
fn functions_are_whole() {
    let dir = directory("function_code");
    for program in all_programs(&dir, &[]) {
        let (Some(functions), Some(segments), Some(expected)) =
            (functions(&program), segments(&program), instructions(&program))
        else {
            return;
        };
        let files = Files::new();
        let mut resolver = Resolver::new(&files, options());
        let subject = Subject::File { path: program.clone(), build_id: None };
        let mut compared = 0;
        for (address, size, name) in functions {
            let Some(at) = offset(&segments, address + size / 2) else { continue };
            let code = resolver.function_code(&subject, at).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(code.extent, Extent::Symbol, "{name}");
            // Of symbols within others the inner one counts.
            assert!(
                code.linked >= address && code.linked + code.bytes().len() as u64 <= address + size,
                "{name}"
            );
            let disassembler = code.disassembler(Syntax::Att);
            for instruction in code.instructions(&disassembler) {
                let (bytes, text) = &expected[&instruction.address];
                assert_eq!(instruction.bytes, bytes, "{name} {:x}", instruction.address);
                compared += 1;
                // A target is told as an address that names can be asked for.
                if compared < MOST_NAMED
                    && let (Flow::Call { target: Some(target) }, Some((_, named))) =
                        (instruction.flow, text.split_once('<'))
                {
                    // Weak functions that do not exist are at 0.
                    let Some(place) = code.address_of(target) else {
                        assert!(target < 16, "{name}: {text}");
                        continue;
                    };
                    let asked = AddressBatch::new(subject.clone(), vec![place]);
                    let answers = resolver.resolve(vec![asked]);
                    // objdump may name it by another symbol of the same place.
                    let symbol = &answers[0].symbols[answers[0].symbol(0).unwrap().index()];
                    if !named.contains('+') {
                        assert_eq!(symbol.start, place, "{name}: {text}");
                    }
                }
            }
        }
        assert!(compared > 50, "{}: {compared}", program.display());
    }
}

#[test]
#[ignore = "live: runs nm, readelf and strip on programs it compiles"]
fn without_symbols_the_unwinding_table_says_where_a_function_ends() {
    let dir = directory("function_code_stripped");
    let Some(program) = compile(&dir, "inlines.c", "cc", &["-O2", "-g"]) else { return };
    let (Some(functions), Some(segments)) = (functions(&program), segments(&program)) else { return };
    let stripped = dir.join("stripped");
    if run("strip", &[Path::new("-o"), &stripped, &program]).is_none() {
        return;
    }
    let debug = dir.join("only.debug");
    run("objcopy", &[Path::new("--only-keep-debug"), &program, &debug]);
    let files = Files::new();
    let mut resolver = Resolver::new(&files, options());
    let subject = Subject::File { path: stripped, build_id: None };
    for wanted in ["main", "_start"] {
        let (address, size, _) = functions.iter().find(|(.., name)| name == wanted).unwrap();
        let at = offset(&segments, address + 4).unwrap();
        let code = resolver.function_code(&subject, at).unwrap();
        assert_eq!((code.extent, code.linked), (Extent::UnwindingTable, *address), "{wanted}");
        assert_eq!(code.bytes().len() as u64, *size, "{wanted}");
    }
    let data = segments.iter().find(|segment| segment.offset > 0).unwrap().offset - 1;
    let nothing = resolver.function_code(&subject, data + (1 << 40)).unwrap_err();
    assert!(matches!(nothing, NoCode::NotCode { .. }), "{nothing}");
    let subject = Subject::File { path: debug, build_id: None };
    let nothing = resolver.function_code(&subject, 0x1100).unwrap_err();
    assert!(matches!(nothing, NoCode::OnlyDebugFile { .. }), "{nothing}");
}

/// The code of a function, and what it calls: targets.
fn calls(code: &readperf_symbols::FunctionCode) -> Vec<u64> {
    let disassembler = code.disassembler(Syntax::Att);
    let call = |flow| if let Flow::Call { target } = flow { target } else { None };
    code.instructions(&disassembler).filter_map(|instruction| call(instruction.flow)).collect()
}

#[test]
#[ignore = "live: runs nm and objdump on an image it compiles"]
fn of_an_image_of_the_kernel() {
    let dir = directory("function_code_kernel");
    let Some(image) = kernel_image(&dir) else { return };
    let Some(expected) = instructions(&image) else { return };
    let id = build_id(&image);
    let reference = Some(("_text".to_owned(), 0xffff_ffff_8100_0000 + MOVED));
    let subject = Subject::Kernel { build_id: Some(id), reference };
    let given = Options { vmlinux: Some(image.clone()), ..options() };
    let files = Files::new();
    let mut resolver = Resolver::new(&files, given);
    for (name, (start, size)) in
        kernel_files::functions(&image).into_iter().filter(|(_, (_, size))| *size > 0)
    {
        let code = resolver.function_code(&subject, start + MOVED + size - 1).unwrap();
        assert_eq!((code.start, code.linked, code.is_linked), (start + MOVED, start, true), "{name}");
        assert_eq!(code.bytes().len() as u64, size);
        let disassembler = code.disassembler(Syntax::Att);
        for instruction in code.instructions(&disassembler) {
            assert_eq!(instruction.bytes, expected[&instruction.address].0);
        }
        for target in calls(&code) {
            assert_eq!(code.address_of(target), Some(target + MOVED));
        }
    }
    // Only its list of symbols, or nothing, of a kernel that does not run here.
    let mut resolver = Resolver::new(&files, options());
    let nothing = resolver.function_code(&subject, 0xffff_ffff_8100_0000 + MOVED).unwrap_err();
    assert!(matches!(nothing, NoCode::Binary(Reason::KernelDiffers { .. })), "{nothing}");
}

#[test]
#[ignore = "live: runs nm and readelf on a module it compiles"]
fn of_a_module_that_is_not_linked() {
    let Some(module) = kernel_files::module("function_code_module") else { return };
    let start = 0xffff_ffff_c0a3_f000;
    let subject = kernel_files::module_subject(module.file.to_str().unwrap(), None, Some(start));
    let root = Options { kernel_release: Some("none".to_owned()), ..options() };
    let files = Files::new();
    let mut resolver = Resolver::new(&files, root);
    let (at, size) = module.functions["handle_request"];
    let code = match resolver.function_code(&subject, start + at) {
        Ok(code) => code,
        Err(why) => panic!("{why}"),
    };
    assert_eq!((code.start, code.bytes().len() as u64, code.is_linked), (start + at, size, false));
}

/// An ELF file of the 64-bit class for x86-64 with one piece of memory, as copies of a kernel's memory are.
fn memory_copy(address: u64, memory: &[u8]) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01".to_vec();
    file.resize(16, 0);
    let half = |file: &mut Vec<u8>, values: &[u16]| values.iter().for_each(|v| file.extend(v.to_le_bytes()));
    let wide = |file: &mut Vec<u8>, values: &[u64]| values.iter().for_each(|v| file.extend(v.to_le_bytes()));
    half(&mut file, &[4, 62, 1, 0]); // ET_CORE, EM_X86_64, EV_CURRENT
    wide(&mut file, &[0, 64, 0]);
    half(&mut file, &[0, 0, 64, 56, 1, 0, 0, 0]);
    half(&mut file, &[1, 0, 7, 0]); // PT_LOAD, rwx
    wide(&mut file, &[0x1000, address, 0, memory.len() as u64, memory.len() as u64, 0x1000]);
    file.resize(0x1000, 0);
    file.extend(memory);
    file
}

#[test]
fn of_the_memory_that_belongs_to_the_recording() {
    let dir = directory("function_code_memory");
    let text = 0xffff_ffff_8000_0000_u64;
    // nop; call beta; ret; and beta: syscall; ret.
    let memory = [0x90, 0xe8, 1, 0, 0, 0, 0xc3, 0x0f, 0x05, 0xc3];
    std::fs::write(dir.join("kcore"), memory_copy(text, &memory)).unwrap();
    let list =
        format!("{text:x} T _text\n{text:x} T alpha\n{:x} T beta\n{:x} T _etext\n", text + 7, text + 10);
    std::fs::write(dir.join("kallsyms"), list).unwrap();
    let files = Files::new();
    let mut resolver = Resolver::new(&files, Options { kcore_dir: Some(dir), ..options() });
    let kernel =
        |reference| Subject::Kernel { build_id: None, reference: Some(("_text".to_owned(), reference)) };
    let code = resolver.function_code(&kernel(text), text + 3).unwrap();
    assert_eq!((code.start, code.bytes(), code.extent), (text, &memory[..7], Extent::Symbol));
    assert_eq!(calls(&code), [text + 7]);
    // Several at once, in the order of the questions.
    let subject = kernel(text);
    let both = resolver.function_codes(&[(&subject, text + 9), (&subject, text)]);
    let starts: Vec<u64> = both.into_iter().map(|code| code.unwrap().start).collect();
    assert_eq!(starts, [text + 7, text]);
    let code = resolver.function_code(&kernel(text), text + 7).unwrap();
    assert_eq!((code.start, code.bytes()), (text + 7, &memory[7..]));
    // Outside of what was copied.
    let nothing = resolver.function_code(&kernel(text), text + 0x10_0000).unwrap_err();
    assert!(matches!(nothing, NoCode::NotCode { .. }), "{nothing}");
}

#[test]
fn of_generated_code_at_the_time_of_a_sample() {
    let dir = directory("function_code_jit");
    // Two functions of x86-64 at one address, the later one in place of the earlier one.
    let record = |time: u64, index: u64, name: &str, code: &[u8]| {
        let mut body = Vec::new();
        [77_u32, 77].iter().for_each(|v| body.extend(v.to_le_bytes()));
        [0x1000_u64, 0x1000, code.len() as u64, index].iter().for_each(|v| body.extend(v.to_le_bytes()));
        body.extend(name.as_bytes());
        body.push(0);
        body.extend(code);
        let mut record = 0_u32.to_le_bytes().to_vec();
        record.extend((16 + body.len() as u32).to_le_bytes());
        record.extend(time.to_le_bytes());
        record.extend(body);
        record
    };
    let mut dump = Vec::new();
    [0x4a69_5444_u32, 1, 40, 62, 0, 77].iter().for_each(|v| dump.extend(v.to_le_bytes()));
    [0_u64, 0].iter().for_each(|v| dump.extend(v.to_le_bytes()));
    dump.extend(record(10, 0, "first", &[0x90, 0xc3]));
    dump.extend(record(20, 1, "second", &[0x0f, 0x05, 0xc3]));
    let path = dir.join("jit-77.dump");
    std::fs::write(&path, dump).unwrap();
    let files = Files::new();
    let mut resolver = Resolver::new(&files, options());
    let subject =
        |generation| Subject::Generated { pid: 77, inner_pid: None, dump: Some(path.clone()), generation };
    let mut bytes = |generation, address| {
        let code = resolver.function_code(&subject(generation), address);
        code.map(|code| (code.start, code.linked, code.bytes().to_vec()))
    };
    assert_eq!(bytes(1, 0x1001), Ok((0x1000, 0x1000, vec![0x90, 0xc3])));
    assert_eq!(bytes(2, 0x1001), Ok((0x1000, 0x1000, vec![0x0f, 0x05, 0xc3])));
    assert_eq!(bytes(0, 0x1001), Ok((0x1000, 0x1000, vec![0x0f, 0x05, 0xc3])));
    assert_eq!(bytes(0, 0x2000), Err(NoCode::NotDumped));
}

#[test]
fn of_code_that_the_recording_has() {
    let start = 0xffff_ffff_c020_0000_u64;
    let pieces = [(start, vec![0x90, 0xc3]), (start + 0x40, vec![0xc3]), (start + 0x50, Vec::new())];
    let recorded_code = RecordedCode::new(Machine::X86_64, pieces);
    let files = Files::new();
    let mut resolver = Resolver::new(&files, Options { recorded_code, ..options() });
    let symbol = ListedSymbol { start, end: u64::MAX, name: "bpf_prog_1".to_owned() };
    let subject = Subject::Listed { symbols: SymbolList::new("bpf_prog_1", [symbol]) };
    let mut at = |address| {
        let code = resolver.function_code(&subject, address);
        code.map(|code| (code.start, code.linked, code.bytes().to_vec()))
    };
    assert_eq!(at(start + 1), Ok((start, start, vec![0x90, 0xc3])));
    assert_eq!(at(start + 0x40), Ok((start + 0x40, start + 0x40, vec![0xc3])));
    for nothing in [0, start - 1, start + 2, start + 0x50, u64::MAX] {
        assert_eq!(at(nothing), Err(NoCode::NotDumped));
    }
}

#[test]
fn of_a_copy_of_the_memory_in_the_cache() {
    let dir = directory("function_code_cache");
    let text = 0xffff_ffff_8000_0000_u64;
    let id = "00112233445566778899aabbccddeeff00112233";
    let copy = dir.join("[kernel.kcore]").join(id).join("2026112110503245");
    std::fs::create_dir_all(&copy).unwrap();
    let memory = [0x90, 0xe8, 1, 0, 0, 0, 0xc3, 0x0f, 0x05, 0xc3];
    std::fs::write(copy.join("kcore"), memory_copy(text, &memory)).unwrap();
    let list =
        format!("{text:x} T _text\n{text:x} T alpha\n{:x} T beta\n{:x} T _etext\n", text + 7, text + 10);
    std::fs::write(copy.join("kallsyms"), list).unwrap();
    let files = Files::new();
    let mut resolver = Resolver::new(&files, Options { build_id_cache: Some(dir), ..options() });
    // When the recording was made, the kernel was elsewhere.
    let reference = Some(("_text".to_owned(), text + MOVED));
    let subject = Subject::Kernel { build_id: BuildId::parse(id), reference };
    let code = resolver.function_code(&subject, text + MOVED + 3).unwrap();
    assert_eq!((code.start, code.linked, code.bytes()), (text + MOVED, text, &memory[..7]));
    assert_eq!(calls(&code), [text + 7]);
    assert_eq!(code.address_of(text + 7), Some(text + MOVED + 7));
}

#[test]
#[ignore = "live: reads the code that the kernel maps into every process"]
fn of_the_vdso() {
    let subject = Subject::Vdso { build_id: None };
    let files = Files::new();
    let trusting = Options { trust_running_kernel: true, ..options() };
    let mut resolver = Resolver::new(&files, trusting);
    let all = (0..0x2000_u64).step_by(16).filter_map(|at| resolver.function_code(&subject, at).ok());
    // Some functions in it have no symbol.
    let code = all.into_iter().find(|code| code.extent == Extent::Symbol).expect("some code");
    let disassembler = code.disassembler(Syntax::Att);
    assert!(code.instructions(&disassembler).all(|instruction| instruction.flow != Flow::Bad));
    let mut resolver = Resolver::new(&files, options());
    let nothing = resolver.function_code(&subject, 0x1000).unwrap_err();
    assert!(matches!(nothing, NoCode::Binary(Reason::VdsoDiffers { .. })), "{nothing}");
}

/// Addresses of instructions and data, by objdump, and whether they are data.
fn is_data_at(path: &Path) -> Option<BTreeMap<u64, bool>> {
    let text = run("objdump", &[Path::new("-dwz"), path])?;
    let line = |line: &str| {
        let (address, rest) = line.split_once(":\t")?;
        let text = rest.split('\t').nth(1)?;
        let is_data = [".word", ".short", ".byte"].iter().any(|name| text.starts_with(name));
        Some((u64::from_str_radix(address.trim(), 16).ok()?, is_data))
    };
    Some(text.lines().filter_map(line).collect())
}

#[test]
#[ignore = "live: runs cross compilers, nm, readelf and objdump for other machines"]
fn of_other_machines() {
    let dir = directory("function_code_machines");
    for (compiler, flags, has_data) in [
        ("aarch64-linux-gnu-gcc", &["-O2", "-g", "-static"][..], false),
        ("arm-linux-gnueabihf-gcc", &["-O2", "-g", "-static", "-marm"], true),
        ("arm-linux-gnueabihf-gcc", &["-O2", "-g", "-static", "-mthumb"], true),
        ("riscv64-linux-gnu-gcc", &["-O2", "-g", "-static"], false),
        ("s390x-linux-gnu-gcc", &["-O2", "-g"], false),
        ("powerpc64le-linux-gnu-gcc", &["-O2", "-g"], false),
    ] {
        if !has_libc(compiler) {
            continue;
        }
        let Some(program) = compile(&dir, "inlines.c", compiler, flags) else { continue };
        let (Some(functions), Some(segments), Some(expected)) =
            (functions(&program), segments(&program), is_data_at(&program))
        else {
            return;
        };
        let files = Files::new();
        let mut resolver = Resolver::new(&files, options());
        let subject = Subject::File { path: program.clone(), build_id: None };
        let (mut compared, mut data) = (0, 0);
        for (address, size, name) in functions {
            let Some(at) = offset(&segments, (address & !1) + size / 2) else { continue };
            let code = resolver.function_code(&subject, at).unwrap_or_else(|why| panic!("{name}: {why}"));
            let disassembler = code.disassembler(Syntax::Att);
            for instruction in code.instructions(&disassembler).filter(|one| one.flow != Flow::Bad) {
                let place = format!("{compiler} {flags:?} {name} {:x}", instruction.address);
                let is_data = instruction.flow == Flow::Data;
                match expected.get(&instruction.address) {
                    Some(theirs) => assert_eq!(is_data, *theirs, "{place}"),
                    // Data may be cut into other pieces.
                    None => assert!(is_data, "{place}"),
                }
                compared += 1;
                data += u32::from(is_data);
            }
        }
        assert!(compared > 100, "{compiler}: {compared}");
        assert!(data > 0 || !has_data, "{compiler} {flags:?}: {data} of {compared}");
    }
}
