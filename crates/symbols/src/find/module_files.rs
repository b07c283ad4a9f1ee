//! Files of kernel modules: by path, or by name in the tree of modules of a kernel release.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::options::Options;

/// Largest `modules.dep` that is read, in bytes; that of a distribution has half a megabyte.
const MAX_LIST_BYTES: u64 = 64 << 20;

/// Ways in which a module may be compressed.
const SUFFIXES: [&str; 4] = ["", ".gz", ".xz", ".zst"];

/// The kernel's name of a module: `/lib/modules/6.1.0/kernel/fs/nf-x.ko.xz` and `[nf_x]` are `nf_x`. A part of it that
/// has a mapping of its own (`[nf_x].init.text`) is also `nf_x`.
pub(crate) fn module_name(name: &Path) -> String {
    let last = name.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = match last.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(rest),
        None => last.split(".ko").next().unwrap_or(&last),
    };
    plain.replace('-', "_")
}

/// Where the file of a module may be, as paths of the recorded machine: the recorded path, and the trees of the releases
/// that `releases` names.
pub(crate) fn recorded_paths(
    name: &Path,
    root: impl Fn(&Path) -> PathBuf,
    releases: &[&str],
) -> Vec<PathBuf> {
    let mut all = Vec::new();
    if name.is_absolute() {
        let (plain, _) = without_compression(name);
        all.extend(SUFFIXES.iter().map(|suffix| root(&with_suffix(&plain, suffix))));
    }
    let module = module_name(name);
    for release in releases {
        // The release comes from the recording and is part of a path.
        if Path::new(release).components().any(|part| !matches!(part, Component::Normal(_))) {
            continue;
        }
        for parent in ["/lib/modules", "/usr/lib/modules"] {
            let tree = root(&Path::new(parent).join(release));
            all.extend(in_tree(&tree, &module));
        }
    }
    all
}

/// Files of that name in the directories that the user named.
pub(crate) fn given_paths(options: &Options, name: &Path) -> Vec<PathBuf> {
    let module = module_name(name);
    let dashed = module.replace('_', "-");
    let recorded = name
        .file_name()
        .filter(|_| name.is_absolute())
        .map(|name| without_compression(Path::new(name)).0.into_os_string());
    let names = [recorded, Some(format!("{module}.ko").into()), Some(format!("{dashed}.ko").into())];
    let mut all = Vec::new();
    for dir in &options.search_dirs {
        for name in names.iter().flatten() {
            all.extend(SUFFIXES.iter().map(|suffix| with_suffix(&dir.join(name), suffix)));
        }
        all.extend(in_tree(dir, &module));
    }
    all
}

/// The file that the tree's `modules.dep` has for a module. Its lines are `PATH: PATHS IT NEEDS`, and paths are below the
/// tree (`man 5 modules.dep`).
fn in_tree(tree: &Path, module: &str) -> Vec<PathBuf> {
    let list = tree.join("modules.dep");
    if !fs::metadata(&list).is_ok_and(|list| list.is_file() && list.len() <= MAX_LIST_BYTES) {
        return Vec::new();
    }
    let text = fs::read(&list).unwrap_or_default();
    let paths = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b':').next());
    let paths = paths.map(|path| Path::new(OsStr::from_bytes(path)));
    let wanted = paths.filter(|path| !path.as_os_str().is_empty() && module_name(path) == module);
    wanted.map(|path| tree.join(path.strip_prefix("/").unwrap_or(path))).collect()
}

/// A path without the ending that says how it is compressed, and that ending.
fn without_compression(path: &Path) -> (PathBuf, &'static str) {
    let bytes = path.as_os_str().as_bytes();
    let found =
        SUFFIXES.iter().skip(1).find_map(|suffix| Some((bytes.strip_suffix(suffix.as_bytes())?, *suffix)));
    match found {
        Some((rest, suffix)) => (PathBuf::from(OsStr::from_bytes(rest)), suffix),
        None => (path.to_owned(), ""),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules() {
        for name in [
            "/lib/modules/6.1.0/kernel/net/nf-nat.ko.xz",
            "[nf_nat]",
            "nf_nat",
            "/a/nf_nat.ko",
            "[nf_nat].init.text",
        ] {
            assert_eq!(module_name(Path::new(name)), "nf_nat");
        }
    }

    #[test]
    fn paths_with_every_compression() {
        let paths = recorded_paths(
            Path::new("/lib/modules/6/x.ko.xz"),
            |path| Path::new("/r").join(&path.to_string_lossy()[1..]),
            &[".."],
        );
        let shown: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
        let plain = "/r/lib/modules/6/x.ko";
        assert_eq!(
            shown,
            [plain.to_owned(), format!("{plain}.gz"), format!("{plain}.xz"), format!("{plain}.zst")]
        );
    }
}
