//! Kind and short name of a binary, from the name in its mapping.
//!
//! The names are those that perf shows, so that its users find them again.

use crate::binary::{Binary, BinaryKind};
use perffile::wire::protection::{MapFlags, Protection};

/// Suffixes of compressed modules.
const COMPRESSED: [&[u8]; 4] = [b".gz", b".xz", b".zst", b".bz2"];

/// Whether a mapping of this name is memory without a file.
pub fn is_memory(name: &[u8], flags: MapFlags) -> bool {
    let anonymous = name == b"//anon"
        || name.starts_with(b"/dev/zero")
        || name.starts_with(b"/anon_hugepage")
        || flags.has(MapFlags::hugetlb);
    // Stack, heap and System V shared memory: not files either, whatever they are called.
    anonymous || name.starts_with(b"[stack") || name.starts_with(b"/SYSV") || name == b"[heap]"
}

/// The binary that a process mapped under this name.
pub(crate) fn user_binary(name: &[u8], pid: u32, prot: Protection, flags: MapFlags) -> Binary {
    let is_memory = is_memory(name, flags);
    let named = |name: &[u8], short: &[u8], kind| Binary {
        name: name.into(),
        short_name: short.into(),
        kind,
        build_id: None,
    };
    if is_memory && prot.has(Protection::EXEC) {
        return generated(pid, 0);
    }
    match name {
        _ if prot.has(Protection::JIT_SYMFILE) => {
            named(name, last_part(name), BinaryKind::Jit { pid, generation: 0 })
        }
        _ if is_memory => named(name, last_part(name), BinaryKind::Anon),
        b"[vdso]" | b"[vdso32]" | b"[vdsox32]" => named(name, name, BinaryKind::Vdso),
        b"[vsyscall]" => named(name, name, BinaryKind::Vsyscall),
        _ => named(name, last_part(name), BinaryKind::User),
    }
}

/// Code that a process generated.
pub(crate) fn generated(pid: u32, generation: u32) -> Binary {
    let number = pid.cast_signed();
    Binary {
        name: format!("/tmp/perf-{number}.map").into_bytes().into(),
        short_name: format!("[JIT] tid {number}").into_bytes().into(),
        kind: BinaryKind::Jit { pid, generation },
        build_id: None,
    }
}

/// The last part of a path, slashes at its end left out.
pub(crate) fn last_part(path: &[u8]) -> &[u8] {
    let end = path.iter().rposition(|b| *b != b'/').map_or(0, |last| last + 1);
    let path = match path.get(..end) {
        Some([]) | None => return path.get(..1).unwrap_or(b"."),
        Some(path) => path,
    };
    path.rsplit(|b| *b == b'/').next().unwrap_or(path)
}

/// The name of a module in brackets, as the kernel spells it; other names as they are.
pub(crate) fn module_short_name(path: &[u8]) -> Vec<u8> {
    let file = last_part(path);
    let plain = COMPRESSED.iter().find_map(|suffix| file.strip_suffix(*suffix)).unwrap_or(file);
    let bracketed = file.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let Some(name) = bracketed.or_else(|| plain.strip_suffix(b".ko")) else { return file.to_vec() };
    // The kernel has no dashes in names of modules, files do.
    let spelled = name.iter().map(|b| if *b == b'-' { b'_' } else { *b });
    [b'['].into_iter().chain(spelled).chain([b']']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(name: &[u8]) -> String {
        String::from_utf8(user_binary(name, 7, Protection::EXEC, MapFlags(0)).short_name.into_vec()).unwrap()
    }

    #[test]
    fn user_names() {
        assert_eq!(short(b"/usr/lib/libc.so.6"), "libc.so.6");
        assert_eq!(short(b"/memfd:seal (deleted)"), "memfd:seal (deleted)");
        assert_eq!(short(b"anon_inode:[perf_event]"), "anon_inode:[perf_event]");
        assert_eq!(short(b"//anon"), "[JIT] tid 7");
        assert_eq!(short(b"[stack]"), "[JIT] tid 7");
        assert_eq!(short(b"[vdso]"), "[vdso]");
        assert_eq!(
            (short(b"/"), short(b"//toolong"), short(b"")),
            ("/".into(), "toolong".into(), ".".into())
        );
        assert_eq!(user_binary(b"//anon", 7, Protection(0), MapFlags(0)).kind, BinaryKind::Anon);
        let huge = user_binary(b"/hugetlbfs/x", 7, Protection::EXEC, MapFlags::hugetlb);
        assert_eq!(huge.kind, BinaryKind::Jit { pid: 7, generation: 0 });
    }

    #[test]
    fn module_names() {
        let short = |name: &[u8]| String::from_utf8(module_short_name(name)).unwrap();
        assert_eq!(short(b"/lib/modules/5.15/kernel/drivers/mfd/intel-lpss.ko"), "[intel_lpss]");
        assert_eq!(short(b"/lib/modules/5.15/kernel/fs/xfs.ko.xz"), "[xfs]");
        assert_eq!(short(b"[video]"), "[video]");
        assert_eq!(short(b"/boot/vmlinux"), "vmlinux");
    }
}
