//! A rule for the names of functions that have others inlined into them.
//!
//! perf asks `addr2line` for the functions at an address of an unwound stack, and compares the outermost, whose name is that
//! of the debugging information, with the name of the symbol. If they differ, it takes the function for an inlined one and
//! shows no line with a binary: `__libc_start_main` is `__libc_start_main_impl` in DWARF, a method is `_M_run` there. Which
//! functions these are depends on the debugging information that a machine has. `addr2line` itself puts the name of the
//! symbol in the place of an innermost function that has no linkage name.
//!
//! So where the last line of an address is an inlined one in perf's text, only the address is compared of that line in both
//! texts, and also of the first one if it has a binary. That both have as many lines for the address still counts, and so do
//! the names of all functions between.

use super::blocks;
use std::collections::BTreeSet;

const INLINED: &str = " (inlined)";

/// The address of a line of a call chain.
fn address(line: &str) -> Option<&str> {
    line.strip_prefix('\t')?.split_whitespace().next()
}

/// The lines of one address that follow each other: functions inlined into each other, the innermost first.
fn groups<'b, 't>(block: &'b [&'t str]) -> impl Iterator<Item = &'b [&'t str]> {
    block.chunk_by(|a, b| address(a).is_some() && address(a) == address(b))
}

/// Both texts without the names that the rule sets aside, and how many lines of perf's had one.
pub(crate) fn without_other_names(perf: &str, mine: &str) -> (String, String, usize) {
    let (mut theirs, mut ours, mut count) = (String::new(), String::new(), 0);
    let mine = blocks(mine);
    let mut rest = mine.iter();
    for block in blocks(perf) {
        let (mut last, mut first) = (BTreeSet::new(), BTreeSet::new());
        for group in groups(&block) {
            let (Some(address), Some(end)) = (address(group[0]), group.last()) else { continue };
            if end.ends_with(INLINED) {
                last.insert(address);
                if !group[0].ends_with(INLINED) {
                    first.insert(address);
                }
            }
        }
        count += last.len() + first.len();
        bare(&block, &first, &last, &mut theirs);
        bare(rest.next().map_or(&[], |block| block), &first, &last, &mut ours);
    }
    rest.for_each(|block| bare(block, &BTreeSet::new(), &BTreeSet::new(), &mut ours));
    (theirs, ours, count)
}

/// A block with the first and the last line of some addresses without their names.
fn bare(block: &[&str], first: &BTreeSet<&str>, last: &BTreeSet<&str>, out: &mut String) {
    for group in groups(block) {
        for (nr, line) in group.iter().enumerate() {
            let is_bare = |set: &BTreeSet<&str>| address(line).is_some_and(|address| set.contains(address));
            if nr + 1 == group.len() && is_bare(last) || nr == 0 && is_bare(first) {
                out.push('\t');
                out.push_str(address(line).unwrap_or_default());
            } else {
                out.push_str(line);
            }
            out.push('\n');
        }
    }
}

#[test]
fn only_names_that_perf_has_otherwise_are_set_aside() {
    let perf = "a 1 0.1: e: \n\t  10 inner+0x1 (inlined)\n\t  10 outer+0x1 (/bin/a)\n\t  20 start_impl+0x2 (inlined)\n\
                \t  30 owner+0x3 (/bin/a)\n\t  30 mid+0x3 (inlined)\n\t  30 _M_run+0x3 (inlined)\n\n";
    let mine = "a 1 0.1: e: \n\t  10 inner+0x1 (inlined)\n\t  10 outer+0x1 (/bin/a)\n\t  20 start+0x2 (/bin/a)\n\
                \t  30 work+0x3 (inlined)\n\t  30 mid+0x3 (inlined)\n\t  30 owner+0x3 (/bin/a)\n\n";
    let (theirs, ours, count) = without_other_names(perf, mine);
    assert_eq!(theirs, ours);
    assert_eq!(count, 3);
    assert!(theirs.contains("inner+0x1") && theirs.contains("outer+0x1") && theirs.contains("mid+0x3"));
    // Another function between, one more, or none: still a difference.
    for wrong in [
        mine.replace("mid", "other"),
        mine.replace("\t  20 start+0x2 (/bin/a)\n", ""),
        mine.replace("outer", "other"),
    ] {
        let (theirs, ours, _) = without_other_names(perf, &wrong);
        assert_ne!(theirs, ours, "{wrong}");
    }
}
