//! The rules by which samples find their process, name and binary, each on a small recording made in memory.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, clippy::print_stderr)] // Tests may fail loudly.

mod stream;

use perffile::wire::attr::{AttrFlags, EventAttr, SampleType as T};
use perffile::wire::misc::MMAP_DATA;
use perffile::wire::record::kind;
use readperf_session::{
    BinaryKind, ChainEntry, Context, CpuMode, LostMoment, Moment, NewCode, Session, TaskChange, Unattributed,
};
use stream::{KERNEL, Stream, USER, brief, mode};

const BASH: &str = "/usr/bin/bash";
const LIBC: &str = "/usr/lib/libc.so.6";
const NO_CLONE: u16 = 1 << 13;
const NOBODY: u32 = u32::MAX;

#[test]
fn a_file_is_told_by_offset() {
    let mut s = Stream::new();
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0x300), BASH);
    s.sample(1, USER, 10, 10, 0x1010);
    s.sample(2, USER, 10, 10, 0x1fff);
    s.sample(3, USER, 10, 10, 0x2000);
    s.sample(4, USER, 10, 10, 0xfff);
    let (session, seen) = s.samples();
    let bash = Some("bash");
    assert_eq!(
        brief(&seen),
        [(":10", bash, 0x310), (":10", bash, 0x12ff), (":10", None, 0x2000), (":10", None, 0xfff)]
    );
    assert_eq!(&*session.binaries()[0].name, BASH.as_bytes());
    assert_eq!(seen[0].period, 5);
    let summary = session.summary();
    assert_eq!((summary.samples, summary.period), (4, 20));
}

#[test]
fn the_newest_mapping_wins_and_the_rest_of_the_older_stays() {
    let mut s = Stream::new();
    s.mmap(0, USER, 10, (0x1000, 0x3000, 0), BASH);
    s.sample(1, USER, 10, 10, 0x2010);
    s.mmap(2, USER, 10, (0x2000, 0x1000, 0x5000), LIBC);
    for (time, ip) in [(3, 0x1fff), (4, 0x2010), (5, 0x3010)] {
        s.sample(time, USER, 10, 10, ip);
    }
    let (session, seen) = s.samples();
    let (bash, libc) = (Some("bash"), Some("libc.so.6"));
    assert_eq!(
        brief(&seen),
        [(":10", bash, 0x1010), (":10", bash, 0xfff), (":10", libc, 0x5010), (":10", bash, 0x2010)]
    );
    assert_eq!(session.processes()[0].mmaps, 2);
}

#[test]
fn a_name_counts_from_its_time_on() {
    let mut s = Stream::new();
    s.comm(10, 7, 7, "sh");
    s.sample(11, USER, 7, 7, 1);
    // Behind in the file, but earlier than the next sample.
    s.sample(30, USER, 7, 7, 1);
    s.comm(20, 7, 7, "ls");
    s.sample(12, USER, 7, 7, 1);
    let (session, seen) = s.samples();
    let names: Vec<&str> = seen.iter().map(|s| s.comm.as_str()).collect();
    assert_eq!(names, ["sh", "sh", "ls"]);
    let thread = &session.threads()[0];
    let at = |time| session.comm(thread.comm_at(time));
    assert_eq!((at(0), at(10), at(19), at(20)), (&b"sh"[..], &b"sh"[..], &b"sh"[..], &b"ls"[..]));
    assert_eq!(session.process_name(thread.process), b"ls");
}

#[test]
fn a_new_process_has_its_parents_name_and_mappings() {
    let mut s = Stream::new();
    s.comm(0, 10, 10, "sh");
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0), BASH);
    s.fork(5, 0, (10, 10), (11, 11));
    s.sample(6, USER, 11, 11, 0x1010);
    // What either does then is its own.
    s.mmap(7, USER, 11, (0x1000, 0x1000, 0), LIBC);
    s.comm(7, 11, 11, "child");
    s.sample(8, USER, 10, 10, 0x1010);
    s.sample(9, USER, 11, 11, 0x1010);
    let (session, seen) = s.samples();
    assert_eq!(
        brief(&seen),
        [("sh", Some("bash"), 0x10), ("sh", Some("bash"), 0x10), ("child", Some("libc.so.6"), 0x10)]
    );
    let [parent, child] = session.processes() else { panic!("two processes") };
    assert_eq!((parent.pid, parent.fork_time_ns, parent.mmaps), (10, None, 1));
    assert_eq!((child.pid, child.fork_time_ns, child.mmaps, child.samples), (11, Some(5), 1, 2));
    assert_eq!(child.parent_pid, Some(10));
}

/// The first tasks come from the idle thread, which no record is about: perf calls them as that one.
#[test]
fn a_child_of_the_idle_thread_has_its_name() {
    let mut s = Stream::new();
    s.fork(0, NO_CLONE, (0, 0), (2, 2));
    s.sample(6, USER, 2, 2, 0x1010);
    s.comm(7, 2, 2, "kthreadd");
    s.sample(8, USER, 2, 2, 0x1010);
    let (session, seen) = s.samples();
    let names: Vec<&str> = seen.iter().map(|s| s.comm.as_str()).collect();
    assert_eq!(names, ["swapper", "kthreadd"]);
    assert_eq!(session.processes().len(), 1, "the idle process itself is not met");
}

#[test]
fn a_fork_that_perf_made_up_brings_no_mappings() {
    let mut s = Stream::new();
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0), BASH);
    s.fork(0, NO_CLONE, (10, 10), (11, 11));
    s.sample(6, USER, 11, 11, 0x1010);
    let (session, seen) = s.samples();
    assert_eq!(brief(&seen), [(":11", None, 0x1010)]);
    assert_eq!(session.processes()[1].fork_time_ns, None);
}

#[test]
fn threads_share_mappings_and_have_names_of_their_own() {
    let mut s = Stream::new();
    s.comm(0, 10, 10, "main");
    s.fork(1, 0, (10, 10), (10, 12));
    s.mmap(2, USER, 10, (0x1000, 0x1000, 0), BASH);
    s.sample(3, USER, 10, 12, 0x1010);
    s.comm(4, 10, 12, "worker");
    s.sample(5, USER, 10, 12, 0x1010);
    s.sample(6, USER, 10, 10, 0x1010);
    // Nobody forked this one.
    s.sample(7, USER, 10, 13, 0x1010);
    let (session, seen) = s.samples();
    let bash = Some("bash");
    assert_eq!(
        brief(&seen),
        [("main", bash, 0x10), ("worker", bash, 0x10), ("main", bash, 0x10), (":13", bash, 0x10)]
    );
    assert_eq!(session.processes().len(), 1);
    assert_eq!(session.processes()[0].threads.len(), 3);
    assert_eq!(session.process_name(session.threads()[0].process), b"main");
}

#[test]
fn an_exit_forgets_nothing_and_a_fork_makes_another_process() {
    let mut s = Stream::new();
    s.comm(0, 10, 10, "old");
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0), BASH);
    s.exit(5, 10, 10);
    s.sample(6, USER, 10, 10, 0x1010);
    s.fork(7, 0, (1, 1), (10, 10));
    s.sample(8, USER, 10, 10, 0x1010);
    let (session, seen) = s.samples();
    assert_eq!(brief(&seen), [("old", Some("bash"), 0x10), (":10", None, 0x1010)]);
    let [first, second] = session.processes() else { panic!("two processes of one pid") };
    assert_eq!((first.pid, first.exit_time_ns, first.samples), (10, Some(5), 1));
    assert_eq!((second.pid, second.fork_time_ns, second.exit_time_ns), (10, Some(7), None));
}

#[test]
fn a_process_is_gone_when_its_last_thread_is() {
    let mut s = Stream::new();
    s.fork(1, 0, (1, 1), (10, 10));
    s.fork(2, 0, (10, 10), (10, 12));
    s.fork(2, 0, (10, 10), (10, 13));
    s.exit(3, 10, 12);
    s.exit(4, 10, 10);
    s.exit(5, 10, 13);
    let mut exits = Vec::new();
    s.run(|session, moment| {
        if let Moment::Task(task) = moment
            && task.change == TaskChange::Exit
        {
            exits.push(session.process(task.process).unwrap().exit_time_ns);
        }
    });
    assert_eq!(exits, [None, Some(4), Some(5)]);
}

#[test]
fn the_kernel_is_told_by_address_and_modules_come_before_its_image() {
    let mut s = Stream::new();
    // As old recorders wrote it: the image's range covers the modules.
    s.mmap(0, KERNEL, NOBODY, (0, u64::MAX, 0xffff_ffff_8100_0190), "[kernel.kallsyms]_stext");
    let module = "/lib/modules/5.15/kernel/drivers/mfd/intel-lpss.ko";
    s.mmap(0, KERNEL, NOBODY, (0xffff_ffff_a000_0000, 0x5000, 0), module);
    for (time, ip) in [(1, 0xffff_ffff_8110_0000), (2, 0xffff_ffff_a000_0010)] {
        s.sample(time, KERNEL, 10, 10, ip);
    }
    // The same addresses mean nothing in other modes.
    for misc in [USER, 0, 3, 4, 5] {
        s.sample(3 + u64::from(misc), misc, 10, 10, 0xffff_ffff_8110_0000);
    }
    let (session, seen) = s.samples();
    assert_eq!(brief(&seen)[0], (":10", Some("[kernel.kallsyms]"), 0xffff_ffff_8110_0000));
    assert_eq!(brief(&seen)[1], (":10", Some("[intel_lpss]"), 0xffff_ffff_a000_0010));
    assert!(seen[2..].iter().all(|s| s.binary.is_none()));
    assert_eq!(seen.iter().filter(|s| s.code.mode == mode(3)).count(), 1);
    let BinaryKind::Kernel { reference: Some(symbol) } = &session.binaries()[0].kind else {
        panic!("a kernel with a reference symbol")
    };
    assert_eq!((&*symbol.name, symbol.address), (&b"_stext"[..], 0xffff_ffff_8100_0190));
    assert_eq!(session.binaries()[1].kind, BinaryKind::Module { start: 0xffff_ffff_a000_0000 });
}

#[test]
fn a_hidden_kernel_covers_everything_and_has_no_reference() {
    let mut s = Stream::new();
    s.mmap(0, KERNEL, NOBODY, (0, 0, 0), "[kernel.kallsyms]_text");
    s.sample(1, KERNEL, 10, 10, 0xffff_ffff_8110_0000);
    let (session, seen) = s.samples();
    assert_eq!(seen[0].binary.as_deref(), Some("[kernel.kallsyms]"));
    assert_eq!(session.binaries()[0].kind, BinaryKind::Kernel { reference: None });
}

#[test]
fn the_image_goes_on_behind_its_text_up_to_the_next_mapping() {
    let mut s = Stream::new();
    let image = 0xffff_ffff_8100_0000;
    s.mmap(0, KERNEL, NOBODY, (image, 0x10_0000, image), "[kernel.kallsyms]_text");
    s.mmap(0, KERNEL, NOBODY, (image + 0x800_0000, 0x1000, 0), "[video]");
    let places = [image - 1, image + 0x278_423d, image + 0x800_0010, image + 0x800_1000, image + 0x1000_0000];
    places.iter().for_each(|ip| s.sample(1, KERNEL, 1, 1, *ip));
    let (_, seen) = s.samples();
    let names: Vec<_> = seen.iter().map(|s| s.binary.as_deref()).collect();
    assert_eq!(names, [None, Some("[kernel.kallsyms]"), Some("[video]"), None, None]);
}

#[test]
fn generated_kernel_code_comes_and_goes() {
    let mut s = Stream::new();
    let (image, bpf) = (0xffff_ffff_8100_0000, 0xffff_ffff_c000_1000);
    s.mmap(0, KERNEL, NOBODY, (image, 0x10_0000, image), "[kernel.kallsyms]_text");
    s.ksymbol(1, bpf, 0x100, 0, "bpf_prog_6deef7357e7b4530");
    s.sample(2, KERNEL, 1, 1, bpf + 0x10);
    s.ksymbol(3, bpf, 0x100, 1, "bpf_prog_6deef7357e7b4530");
    s.sample(4, KERNEL, 1, 1, bpf + 0x10);
    // Inside the image it is a symbol of the image.
    s.ksymbol(5, image + 0x100, 0x100, 0, "ftrace_trampoline");
    s.sample(6, KERNEL, 1, 1, image + 0x110);
    let (session, seen) = s.samples();
    let names: Vec<_> = seen.iter().map(|s| s.binary.as_deref()).collect();
    assert_eq!(names, [Some("bpf_prog_6deef7357e7b4530"), None, Some("[kernel.kallsyms]")]);
    let lives: Vec<_> = session.kernel_symbols().iter().map(|s| (s.from_ns, s.until_ns)).collect();
    assert_eq!(lives, [(1, Some(3)), (5, None)]);
}

#[test]
fn memory_without_file_is_told_by_address() {
    let mut s = Stream::new();
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0x77), "//anon");
    s.mmap(0, USER, 10, (0x3000, 0x1000, 0x3000), "[vdso]");
    s.sample(1, USER, 10, 10, 0x1010);
    s.sample(2, USER, 10, 10, 0x3010);
    let (session, seen) = s.samples();
    assert_eq!(brief(&seen), [(":10", Some("[JIT] tid 10"), 0x1010), (":10", Some("[vdso]"), 0x10)]);
    assert_eq!(session.binaries()[0].kind, BinaryKind::Jit { pid: 10, generation: 0 });
    assert_eq!(&*session.binaries()[0].name, b"/tmp/perf-10.map");
}

#[test]
fn new_code_lies_over_the_memory_of_its_process_until_something_else_is_mapped() {
    let mut s = Stream::new();
    s.mmap(1, USER, 10, (0x1000, 0x3000, 0), "//anon");
    s.fork(2, 0, (10, 10), (11, 11));
    // Part of the memory can be written to for a while; it is told of again, by both; then a file takes its place.
    s.mmap(3, USER | MMAP_DATA, 10, (0x1000, 0x2000, 0), "//anon");
    s.mmap(4, USER, 10, (0x1000, 0x2000, 0), "//anon");
    s.mmap(5, USER, 11, (0x1000, 0x2000, 0), "//anon");
    s.mmap(6, USER, 10, (0x1800, 0x1000, 0), BASH);
    s.mmap(7, USER, 10, (0x1000, 0x2000, 0), "//anon");
    // Written to together with memory that never was executed.
    s.mmap(8, USER | MMAP_DATA, 10, (0x1000, 0x4000, 0), "//anon");
    s.mmap(9, USER, 10, (0x1000, 0x2000, 0), "//anon");
    let recording = s.recording();
    let mut session = Session::new(recording.metadata());
    let mut found = Vec::new();
    let look = |session: &Session, pid: u32| -> Vec<(u32, u32)> {
        let process = session.processes_with_ids().find(|(_, process)| process.pid == pid).unwrap().0;
        let at = |ip| {
            let binary = session.locate(process, CpuMode::User, ip).binary.unwrap();
            match session.binary(binary).unwrap().kind {
                BinaryKind::Jit { pid, generation } => (pid, generation),
                _ => (0, 0),
            }
        };
        [0x10ff, 0x1100, 0x17ff, 0x1900, 0x2fff, 0x3000].map(at).into()
    };
    let issues = recording.for_each(|event| {
        session.apply(event);
        let time = event.time().unwrap_or(0);
        if time == 1 {
            let process = session.processes_with_ids().next().unwrap().0;
            let version = session.space_version(process, CpuMode::User);
            session.put_code(&NewCode { process, start: 0x1100, end: 0x2000, generation: 1 });
            session.put_code(&NewCode { process, start: 0x1800, end: 0x3000, generation: 2 });
            assert_ne!(session.space_version(process, CpuMode::User), version);
        }
        if time >= 2 {
            found.push((time, look(&session, 10), look(&session, 11)));
        }
    });
    assert!(!issues.unwrap().damaged());
    let (zero, one, two) = ((10, 0), (10, 1), (10, 2));
    let with_code = vec![zero, one, one, two, two, zero];
    // The child has the code of its parent until its own memory is told of.
    let of_child = vec![(11, 0), (11, 0), (11, 0), (11, 0), (11, 0), zero];
    assert_eq!(found[0], (2, with_code.clone(), with_code.clone()));
    assert_eq!(found[1], (3, with_code.clone(), with_code.clone()));
    assert_eq!(found[2], (4, with_code.clone(), with_code.clone()));
    assert_eq!(found[3], (5, with_code, of_child.clone()));
    assert_eq!(found[4], (6, vec![zero, one, one, (0, 0), two, zero], of_child.clone()));
    assert_eq!(found[5], (7, vec![zero, one, one, zero, two, zero], of_child.clone()));
    // What is no code of a generation is data, until it can be executed again.
    assert_eq!(found[6], (8, vec![(0, 0), one, one, (0, 0), two, (0, 0)], of_child.clone()));
    assert_eq!(found[7], (9, vec![zero, one, one, zero, two, (0, 0)], of_child));
}

#[test]
fn one_path_with_two_build_ids_is_two_binaries() {
    let mut s = Stream::new();
    s.mmap_build_id(0, 10, (0x1000, 0x1000, 0), BASH, 1);
    s.mmap_build_id(0, 11, (0x1000, 0x1000, 0), BASH, 2);
    s.mmap_build_id(0, 12, (0x1000, 0x1000, 0), BASH, 1);
    let (session, _) = s.samples();
    let ids: Vec<_> = session.binaries().iter().map(|b| b.build_id.as_deref()).collect();
    assert_eq!(ids, [Some(&[1; 20][..]), Some(&[2; 20][..])]);
}

#[test]
fn build_ids_at_the_end_reach_what_was_mapped() {
    let mut s = Stream::new();
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0), BASH);
    s.mmap(0, KERNEL, NOBODY, (0, 0, 0), "[kernel.kallsyms]_text");
    for (misc, name, id) in [(USER, BASH, 9), (KERNEL, "[kernel.kallsyms]", 8)] {
        let mut body = (-1i32).to_le_bytes().to_vec();
        body.extend_from_slice(&[id; 20]);
        body.extend_from_slice(&[20, 0, 0, 0]);
        body.extend_from_slice(name.as_bytes());
        body.resize(body.len().next_multiple_of(8) + 4, 0);
        s.raw(kind::HEADER_BUILD_ID, misc | 1 << 15, &body);
    }
    s.mmap(5, USER, 11, (0x1000, 0x1000, 0), BASH);
    let (session, _) = s.samples();
    let ids: Vec<_> = session.binaries().iter().map(|b| b.build_id.as_deref()).collect();
    assert_eq!(ids, [Some(&[9; 20][..]), Some(&[8; 20][..])]);
}

#[test]
fn chains_change_their_mode_at_markers() {
    let mut s = Stream::new();
    let image = 0xffff_ffff_8100_0000;
    s.mmap(0, KERNEL, NOBODY, (image, 0x10_0000, image), "[kernel.kallsyms]_text");
    s.mmap(0, USER, 10, (0x1000, 0x1000, 0), BASH);
    let marker = |value: i64| value.cast_unsigned();
    let chain = [marker(-128), image + 5, marker(-512), 0x1010, 0x5000, marker(-640), 77, marker(-9)];
    s.sample_with_chain(1, KERNEL, 10, 10, image + 5, &chain);
    let mut found = Vec::new();
    s.run(|session, moment| {
        if let Moment::Sample(sample) = moment {
            let chain = session.callchain(sample.process, &sample.sample, sample.mode);
            found.extend(chain.map(|entry| match entry {
                ChainEntry::Marker(context) => Err(context),
                ChainEntry::Address(code) => Ok((code.binary.map(|id| id.index()), code.address, code.mode)),
            }));
        }
    });
    let expected = [
        Err(Context::Kernel),
        Ok((Some(0), image + 5, CpuMode::Kernel)),
        Err(Context::User),
        Ok((Some(1), 0x10, CpuMode::User)),
        Ok((None, 0x5000, CpuMode::User)),
        Err(Context::UserDeferred(77)),
        Err(Context::Unknown(marker(-9))),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_idle_threads_and_nobody_have_names() {
    let mut s = Stream::new();
    s.sample(1, KERNEL, 0, 0, 1);
    s.sample(2, USER, NOBODY, NOBODY, 1);
    s.sample(3, KERNEL, 943, 0, 1);
    let (session, seen) = s.samples();
    let names: Vec<&str> = seen.iter().map(|s| s.comm.as_str()).collect();
    assert_eq!(names, ["swapper", ":-1", "swapper"]);
    assert_eq!(session.summary().without_thread, 1);
}

#[test]
fn what_is_not_recorded_has_its_stand_in() {
    let flags = AttrFlags::sample_id_all;
    let attr = EventAttr {
        size: 64,
        sample_period: 11,
        sample_type: T::IP | T::TIME,
        flags,
        ..EventAttr::default()
    };
    let mut s = Stream::of(attr);
    s.sample(1, USER, 5, 5, 0x10);
    let (session, seen) = s.samples();
    assert_eq!((seen[0].comm.as_str(), seen[0].period), (":-1", 11));
    assert_eq!(session.processes()[0].period, 11);
}

#[test]
fn what_cannot_be_used_is_counted() {
    let mut s = Stream::new();
    s.raw(kind::SAMPLE, USER, &[0; 24]);
    s.raw(kind::FORK, 0, &[0; 48]);
    s.raw(kind::MMAP, 0, &[0; 32]);
    s.raw(kind::LOST, 0, &[[4, 0, 0, 0, 0, 0, 0, 0]; 5].concat());
    let mut unattributed = Vec::new();
    // The walk tells of the records that are too short and too long; the session counts what it could not use.
    let session = s.run_unsound(|_, moment| match moment {
        Moment::Unattributed(reason) => unattributed.push(Ok(*reason)),
        Moment::Lost(lost) => unattributed.push(Err(*lost)),
        _ => {}
    });
    assert!(unattributed.contains(&Ok(Unattributed::Undecodable)));
    assert!(unattributed.contains(&Err(LostMoment::Records(4))));
    let summary = session.summary();
    assert_eq!((summary.undecodable_samples, summary.all_samples(), summary.samples), (1, 1, 0));
    assert_eq!((summary.undecodable_records, summary.lost_records), (1, 4));
    assert!(session.issues().damaged());
}

#[test]
fn mappings_at_the_end_of_all_addresses_wrap_nowhere() {
    let mut s = Stream::new();
    s.mmap(0, USER, 10, (u64::MAX - 0xfff, u64::MAX, u64::MAX - 5), BASH);
    s.mmap(0, USER, 10, (0x1000, 0, 0), LIBC);
    s.sample(1, USER, 10, 10, u64::MAX - 0xff0);
    s.sample(2, USER, 10, 10, 0x1000);
    let (_, seen) = s.samples();
    // 15 bytes into the mapping, whose offset is 6 below the wrap.
    assert_eq!(brief(&seen), [(":10", Some("bash"), 9), (":10", None, 0x1000)]);
}
