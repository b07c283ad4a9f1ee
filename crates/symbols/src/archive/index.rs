//! What an archive holds, by path: files by their number, and links, which are followed here and nowhere else. Nothing of it
//! becomes a path of this machine.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::members::{Kind, Member};

/// Most members of an archive, and how many bytes their paths may have in all.
const MAX_MEMBERS: usize = 1 << 20;
const MAX_PATHS_BYTES: usize = 64 << 20;

/// Longest path in an archive, in bytes (PATH_MAX of Linux).
const MAX_PATH_BYTES: usize = 4096;

/// How many links lead from a path to a file.
const MAX_LINKS: usize = 16;

/// How many refused members are told by name.
const MOST_NAMED: usize = 4;

/// The members that can be asked for, and those that were refused.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: BTreeMap<PathBuf, Entry>,
    paths_bytes: usize,
    members: usize,
    refused: usize,
    /// The first ones that were refused, and why.
    named: Vec<String>,
}

#[derive(Debug)]
enum Entry {
    /// A file: its number among the members.
    File(u32),
    /// A link, to a path of the archive.
    Link(PathBuf),
}

impl Index {
    /// Takes in a member.
    pub(super) fn add(&mut self, number: u32, member: Member) {
        self.members = self.members.saturating_add(1);
        let shown = member.path.display().to_string();
        if let Err(why) = self.take(number, member) {
            self.refused = self.refused.saturating_add(1);
            if self.named.len() < MOST_NAMED {
                self.named.push(format!("{} ({why})", shown.chars().take(200).collect::<String>()));
            }
        }
    }

    fn take(&mut self, number: u32, member: Member) -> Result<(), &'static str> {
        const OUT: &str = "leads out of the archive";
        let path = match (inside(&member.path), &member.kind) {
            (Some(path), _) => path,
            (None, Kind::Directory) => return Ok(()),
            (None, _) => return Err(OUT),
        };
        let entry = match member.kind {
            Kind::Directory => return Ok(()),
            Kind::File => Entry::File(number),
            Kind::SymbolicLink(target) => {
                let beside = path.parent().unwrap_or(Path::new("")).join(&target);
                Entry::Link(inside(&beside).filter(|_| leads_up_only_first(&target)).ok_or(OUT)?)
            }
            Kind::HardLink(target) => Entry::Link(inside(&target).ok_or(OUT)?),
            Kind::Sparse => return Err("a file with holes: pack it without --sparse"),
            Kind::Other => return Err("a device, a pipe or another kind of file"),
        };
        self.paths_bytes = self.paths_bytes.saturating_add(path.as_os_str().len());
        if self.entries.len() >= MAX_MEMBERS || self.paths_bytes > MAX_PATHS_BYTES {
            return Err("too many members");
        }
        if self.entries.contains_key(&path) {
            return Err("another member has its name");
        }
        self.entries.insert(path, entry);
        Ok(())
    }

    /// How many members were seen.
    pub(super) fn members(&self) -> usize {
        self.members
    }

    /// How many of them can be asked for.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many were refused.
    pub(super) fn refused(&self) -> usize {
        self.refused
    }

    /// The refused members, in words; `None` if none was.
    pub(super) fn told(&self) -> Option<String> {
        let others = self.refused.saturating_sub(self.named.len());
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        let what = if self.refused == 1 { "member was" } else { "members were" };
        (self.refused > 0)
            .then(|| format!("{} {what} refused: {}{others}", self.refused, self.named.join(", ")))
    }

    /// The number of the file that a path leads to.
    pub(super) fn file(&self, path: &Path) -> Option<u32> {
        match self.entries.get(&self.resolved(path)?) {
            Some(Entry::File(number)) => Some(*number),
            _ => None,
        }
    }

    /// The names of what is in a directory.
    pub(super) fn names_in(&self, directory: &Path) -> Vec<PathBuf> {
        let Some(directory) = self.resolved(directory) else { return Vec::new() };
        let mut names: Vec<PathBuf> = self
            .below(&directory)
            .filter_map(|(path, _)| path.strip_prefix(&directory).ok()?.components().next())
            .map(|name| PathBuf::from(name.as_os_str()))
            .collect();
        names.dedup();
        names
    }

    /// The numbers of the files in and below a directory or, if it is a file, its own.
    pub(super) fn files_at(&self, path: &Path) -> impl Iterator<Item = (&Path, u32)> {
        let at = self.resolved(path);
        at.into_iter().flat_map(|at| {
            self.below(&at)
                .filter_map(|(path, entry)| match entry {
                    Entry::File(number) => Some((path.as_path(), *number)),
                    Entry::Link(_) => None,
                })
                .collect::<Vec<_>>()
        })
    }

    fn below(&self, at: &Path) -> impl Iterator<Item = (&PathBuf, &Entry)> {
        self.entries.range(at.to_owned()..).take_while(move |(path, _)| path.starts_with(at))
    }

    /// The path behind all links.
    fn resolved(&self, path: &Path) -> Option<PathBuf> {
        let mut path = inside(path)?;
        for _ in 0..MAX_LINKS {
            let mut at = PathBuf::new();
            let link = path.components().find_map(|part| {
                at.push(part);
                match self.entries.get(&at) {
                    Some(Entry::Link(target)) => Some(target),
                    _ => None,
                }
            });
            let Some(target) = link else { return Some(path) };
            let rest = path.strip_prefix(&at).ok()?;
            path = if rest.as_os_str().is_empty() { target.clone() } else { target.join(rest) };
        }
        None
    }
}

/// Whether a relative path has `..` only at its beginning. Behind a name `..` leads out of what that name links to.
pub(super) fn leads_up_only_first(target: &Path) -> bool {
    let mut parts =
        target.components().skip_while(|part| matches!(part, Component::ParentDir | Component::CurDir));
    target.is_relative() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// A path of an archive without `.` and `..`; `None` when it leads out of the archive or is empty.
pub(super) fn inside(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    if path.as_os_str().len() > MAX_PATH_BYTES {
        return None;
    }
    for part in path.components() {
        match part {
            Component::Normal(name) => clean.push(name),
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir if clean.pop() => {}
            _ => return None,
        }
    }
    (!clean.as_os_str().is_empty()).then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let clean = |path: &str| inside(Path::new(path)).map(|path| path.display().to_string());
        assert_eq!(clean("./.build-id/ab/cd").unwrap(), ".build-id/ab/cd");
        assert_eq!(clean(".build-id/ab/../../usr/x").unwrap(), "usr/x");
        assert_eq!(clean("/usr/x").unwrap(), "usr/x");
        for path in ["", ".", "..", "a/../..", "a/../../b", "../a"] {
            assert_eq!(clean(path), None, "{path}");
        }
        assert!(leads_up_only_first(Path::new("../../a/b")));
        for target in ["/a", "a/../b", "../a/.."] {
            assert!(!leads_up_only_first(Path::new(target)), "{target}");
        }
    }

    fn index(members: &[(&str, Kind)]) -> Index {
        let mut index = Index::default();
        for (number, (path, kind)) in (0..).zip(members) {
            let kind = match kind {
                Kind::SymbolicLink(target) => Kind::SymbolicLink(target.clone()),
                _ => Kind::File,
            };
            index.add(number, Member { path: path.into(), kind, size: 0, modified: 0 });
        }
        index
    }

    #[test]
    fn links_are_followed_within() {
        let link = |target: &str| Kind::SymbolicLink(target.into());
        let index = index(&[
            ("opt/prog/abcd/elf", Kind::File),
            (".build-id/ab/cd", link("../../opt/prog/abcd")),
            ("opt/prog/abcd/debug", Kind::File),
            ("circle", link("circle")),
            ("there", link("back")),
            ("back", link("there/x")),
        ]);
        assert_eq!(index.file(Path::new(".build-id/ab/cd/elf")), Some(0));
        assert_eq!(index.file(Path::new(".build-id/ab/cd")), None);
        assert_eq!(index.names_in(Path::new(".build-id/ab/cd")), ["debug", "elf"].map(PathBuf::from));
        for path in ["circle", "there", "back", "circle/x"] {
            assert_eq!(index.file(Path::new(path)), None, "{path}");
        }
    }
}
