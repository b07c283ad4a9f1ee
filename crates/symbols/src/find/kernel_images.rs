//! Images of the kernel with symbols, where distributions and builds of a kernel put them.

use std::path::{Path, PathBuf};

use super::{Place, Proof, Search};

/// An image counts only if its build-id is the recorded one: kernels of one release may be different builds.
pub(super) const PLACE: Place = Place { candidates: installed, proof: Proof::SameId };
/// The directories that the user named.
pub(super) const GIVEN: Place = Place { candidates: given, proof: Proof::SameId };

/// The order is that of `perf`.
fn installed(search: &Search<'_>) -> Vec<PathBuf> {
    let mut paths = vec!["vmlinux".to_owned(), "/boot/vmlinux".to_owned()];
    if let Some(release) = search.kernel_release() {
        paths.extend([
            format!("/boot/vmlinux-{release}"),
            format!("/usr/lib/debug/boot/vmlinux-{release}"),
            format!("/lib/modules/{release}/build/vmlinux"),
            format!("/usr/lib/debug/lib/modules/{release}/vmlinux"),
            format!("/usr/lib/debug/boot/vmlinux-{release}.debug"),
        ]);
    }
    paths.iter().map(|path| search.here(Path::new(path))).collect()
}

fn given(search: &Search<'_>) -> Vec<PathBuf> {
    let mut names = vec!["vmlinux".to_owned()];
    if let Some(release) = search.kernel_release() {
        names.extend([format!("vmlinux-{release}"), format!("vmlinux-{release}.debug")]);
    }
    search.options.search_dirs.iter().flat_map(|dir| names.iter().map(|name| dir.join(name))).collect()
}
