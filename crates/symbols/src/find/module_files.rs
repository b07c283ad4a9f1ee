//! Files of kernel modules: by path, or by name in the tree of modules of a kernel release.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};
use crate::image::Image;

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

/// The recorded path, also compressed in another way.
pub(super) const AS_RECORDED: Place = Place { candidates: as_recorded, proof: Proof::IdIfRecorded };
/// The tree of the recorded kernel release.
pub(super) const OF_RELEASE: Place = Place { candidates: of_release, proof: Proof::SameId };
/// The directories that the user named: the file itself, or a tree.
pub(super) const GIVEN: Place = Place { candidates: given, proof: Proof::IdOrRelease };

/// What distributions put beside the modules.
pub(super) const VDSO: Place = Place { candidates: vdso, proof: Proof::SameId };

fn vdso(search: &Search<'_>) -> Vec<PathBuf> {
    let Some(release) = search.kernel_release() else { return Vec::new() };
    let file = |name: &&str| search.here(&Path::new("/lib/modules").join(release).join("vdso").join(name));
    ["vdso64.so", "vdso32.so", "vdsox32.so", "vdso.so"].iter().map(file).collect()
}

/// The release of the kernel that a module is for: its section `.modinfo` has texts `NAME=VALUE` that end in zeros, and
/// `vermagic` begins with the release (`include/linux/vermagic.h`).
pub(super) fn release<'data>(image: &Image<'data>) -> Option<&'data [u8]> {
    let texts = image.bytes(image.section(b".modinfo")?).split(|byte| *byte == 0);
    texts.filter_map(|text| text.strip_prefix(b"vermagic=")).next()?.split(|byte| *byte == b' ').next()
}

fn as_recorded(search: &Search<'_>) -> Vec<PathBuf> {
    if !search.path.is_absolute() {
        return Vec::new();
    }
    let plain = search.here(&without_compression(search.path));
    SUFFIXES.iter().map(|suffix| with_suffix(&plain, suffix)).collect()
}

fn of_release(search: &Search<'_>) -> Vec<PathBuf> {
    let Some(release) = search.kernel_release() else { return Vec::new() };
    let parents = ["/lib/modules", "/usr/lib/modules"].map(Path::new);
    let trees = parents.map(|parent| search.here(&parent.join(release)));
    trees.iter().flat_map(|tree| in_tree(search, tree, &module_name(search.path))).collect()
}

fn given(search: &Search<'_>) -> Vec<PathBuf> {
    let module = module_name(search.path);
    let names = [format!("{module}.ko"), format!("{}.ko", module.replace('_', "-"))];
    let last = search.path.file_name().map(|name| without_compression(Path::new(name)));
    let mut all = Vec::new();
    for dir in &search.options.search_dirs {
        for name in last.iter().map(PathBuf::as_path).chain(names.iter().map(Path::new)) {
            all.extend(SUFFIXES.iter().map(|suffix| with_suffix(&dir.join(name), suffix)));
        }
        all.extend(in_tree(search, dir, &module));
    }
    all
}

/// The file that the tree's `modules.dep` has for a module. Its lines are `PATH: PATHS IT NEEDS`, and paths are below the
/// tree (`man 5 modules.dep`).
fn in_tree(search: &Search<'_>, tree: &Path, module: &str) -> Vec<PathBuf> {
    let list = tree.join("modules.dep");
    let loader = &search.options.file_loader;
    loader.note(&list);
    let packed = loader.load_packed(&list).and_then(Result::ok);
    if packed.is_none()
        && !fs::metadata(&list).is_ok_and(|list| list.is_file() && list.len() <= MAX_LIST_BYTES)
    {
        return Vec::new();
    }
    let text = match packed {
        Some(bytes) => (*bytes).as_ref().to_vec(),
        None => fs::read(&list).unwrap_or_default(),
    };
    let paths = text.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b':').next());
    let paths = paths.map(|path| Path::new(OsStr::from_bytes(path)));
    let wanted = paths.filter(|path| !path.as_os_str().is_empty() && module_name(path) == module);
    wanted.map(|path| tree.join(path.strip_prefix("/").unwrap_or(path))).collect()
}

/// A path without the ending that says how the file is compressed.
fn without_compression(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let mut endings = SUFFIXES.iter().filter(|suffix| !suffix.is_empty());
    let plain = endings.find_map(|suffix| bytes.strip_suffix(suffix.as_bytes()));
    PathBuf::from(OsStr::from_bytes(plain.unwrap_or(bytes)))
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
    fn endings_of_compressed_files() {
        for path in ["/m/x.ko", "/m/x.ko.gz", "/m/x.ko.xz", "/m/x.ko.zst"] {
            assert_eq!(without_compression(Path::new(path)), Path::new("/m/x.ko"));
        }
    }
}
