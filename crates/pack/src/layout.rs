//! Where in the archive a file goes, so that it is found there by the same rules as where it came from.

use crate::{CACHE, ROOT, SOURCES};
use readperf_symbols::{BuildId, Role, UsedFile};
use std::path::{Component, Path, PathBuf};

/// The name under which perf keeps what belongs to the kernel.
const KERNEL: &str = "[kernel.kallsyms]";

/// Places for a file, the best first; it takes the first one that is free.
pub(crate) fn places(used: &UsedFile, folder_of: impl FnOnce(&BuildId, PathBuf) -> PathBuf) -> Vec<PathBuf> {
    let root = Path::new(ROOT);
    let Some(build_id) = &used.build_id else { return vec![root.join(without_build_id(used))] };
    let in_tree = || by_build_id(&root.join("usr/lib/debug"), build_id).with_extension("debug");
    let name = match cache_name(used) {
        Some(name) => name,
        None => return vec![in_tree()],
    };
    let owner = match used.role {
        _ if used.recorded == Path::new("[vdso]") => PathBuf::from("[vdso]"),
        Role::KernelImage | Role::KernelList => PathBuf::from(KERNEL),
        _ => below(&used.recorded),
    };
    let folder = folder_of(build_id, Path::new(CACHE).join(owner).join(build_id.to_string()));
    let cached = folder.join(name);
    if used.role == Role::DebugFile { vec![cached, in_tree()] } else { vec![cached] }
}

/// What a file is called in the cache; nothing if it does not go there.
fn cache_name(used: &UsedFile) -> Option<&'static str> {
    match used.role {
        Role::Binary if used.recorded == Path::new("[vdso]") => Some("vdso"),
        Role::Binary | Role::KernelImage | Role::Module => Some("elf"),
        Role::DebugFile => Some("debug"),
        Role::Vdso => Some("vdso"),
        Role::KernelList => Some("kallsyms"),
        _ => None,
    }
}

/// The path of a file that nothing but its path tells.
fn without_build_id(used: &UsedFile) -> PathBuf {
    let name = || used.path.file_name().map(PathBuf::from).unwrap_or_default();
    match used.role {
        Role::KernelList => PathBuf::from("proc/kallsyms"),
        // It is found by the link that names it, in the tree of debug files.
        Role::DebugFile => {
            let beside = used.recorded.parent().unwrap_or(Path::new(""));
            Path::new("usr/lib/debug").join(below(beside)).join(name())
        }
        // The kernel's own name of a module is no path.
        Role::Module if !used.recorded.is_absolute() => {
            let name = name();
            let plain = name.to_string_lossy();
            plain.split_once(".ko").map_or(name.clone(), |(module, _)| format!("{module}.ko").into())
        }
        Role::Module => {
            let plain = used.recorded.to_string_lossy();
            below(Path::new(plain.split_once(".ko").map_or(&*plain, |(module, _)| module)))
                .with_extension("ko")
        }
        _ => below(&used.recorded),
    }
}

/// The link by which a build-id is found in the cache.
pub(crate) fn cache_link(build_id: &BuildId) -> PathBuf {
    by_build_id(Path::new(CACHE), build_id)
}

/// The place of a source file, by the path that the compiler wrote.
pub(crate) fn source(path: &str) -> PathBuf {
    Path::new(SOURCES).join(below(Path::new(path)))
}

/// The place in the tree of the recorded machine.
pub(crate) fn in_root(path: &Path) -> PathBuf {
    Path::new(ROOT).join(below(path))
}

fn by_build_id(folder: &Path, build_id: &BuildId) -> PathBuf {
    let hex = build_id.to_string();
    let (first, rest) = hex.split_at(hex.len().min(2));
    folder.join(".build-id").join(first).join(rest)
}

/// A path as one below a folder: without a root, and without what leads upwards.
fn below(path: &Path) -> PathBuf {
    path.components().filter(|part| matches!(part, Component::Normal(_))).collect()
}

/// What a link at one member has to say to lead to another.
pub(crate) fn relative(link: &Path, to: &Path) -> PathBuf {
    let up = link.components().count().saturating_sub(1);
    std::iter::repeat_n(Path::new(".."), up).collect::<PathBuf>().join(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn place(role: Role, recorded: &str, id: Option<&str>, found: &str) -> String {
        let build_id = id.and_then(BuildId::parse);
        let (recorded, path) = (recorded.into(), found.into());
        let used = UsedFile { role, recorded, build_id, path, bytes: Arc::new([0; 0]) };
        let all = places(&used, |_, folder| folder);
        all.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_kind_of_file_has_its_place() {
        let id = Some("ab12");
        assert_eq!(place(Role::Binary, "/usr/bin/x", id, "/tmp/y"), ".debug/usr/bin/x/ab12/elf");
        assert_eq!(place(Role::Binary, "/usr/../x", None, "/usr/../x"), "root/usr/x");
        assert_eq!(
            place(Role::DebugFile, "/usr/bin/x", id, "/d"),
            ".debug/usr/bin/x/ab12/debug root/usr/lib/debug/.build-id/ab/12.debug"
        );
        assert_eq!(
            place(Role::DebugFile, "/usr/bin/x", None, "/d/x.dbg"),
            "root/usr/lib/debug/usr/bin/x.dbg"
        );
        assert_eq!(
            place(Role::Supplement, "/usr/bin/x", id, "/d"),
            "root/usr/lib/debug/.build-id/ab/12.debug"
        );
        assert_eq!(place(Role::Binary, "[vdso]", id, "[vdso]"), ".debug/[vdso]/ab12/vdso");
        let list = "/proc/kallsyms";
        assert_eq!(place(Role::KernelList, KERNEL, id, list), ".debug/[kernel.kallsyms]/ab12/kallsyms");
        assert_eq!(place(Role::KernelList, KERNEL, None, list), "root/proc/kallsyms");
        assert_eq!(place(Role::KernelImage, "vmlinux", id, "/boot/v"), ".debug/[kernel.kallsyms]/ab12/elf");
        assert_eq!(place(Role::Module, "/lib/m/x.ko.xz", None, "/lib/m/x.ko.xz"), "root/lib/m/x.ko");
        assert_eq!(place(Role::Module, "[x]", None, "/lib/m/x.ko.xz"), "root/x.ko");
        assert_eq!(place(Role::PerfMap, "/tmp/perf-7.map", None, "/proc/7/root/x"), "root/tmp/perf-7.map");
    }

    #[test]
    fn links_lead_from_folder_to_folder() {
        let link = relative(Path::new(".debug/.build-id/ab/cd"), Path::new(".debug/usr/x/abcd"));
        assert_eq!(link, Path::new("../../../.debug/usr/x/abcd"));
    }
}
