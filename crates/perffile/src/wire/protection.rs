//! Protection and flags of a mapping: PROT_* and MAP_* of `asm-generic/mman-common.h` and `asm-generic/mman.h`.

/// `prot` and `flags` of MMAP2 as `/proc/PID/maps` shows them: `r-xp`.
pub fn permissions(prot: u32, flags: u32) -> String {
    [(1, 'r'), (2, 'w'), (4, 'x')]
        .into_iter()
        .map(|(bit, letter)| if prot & bit != 0 { letter } else { '-' })
        .chain([if flags & 1 != 0 { 's' } else { 'p' }])
        .collect()
}

/// MAP_* bits that the kernel tells in MMAP2. On a few machines (Alpha, MIPS, PA-RISC, Xtensa) those above the first two have
/// other numbers.
const FLAGS: [(u32, &str); 11] = [
    (0x1, "shared"),
    (0x2, "private"),
    (0x10, "fixed"),
    (0x20, "anonymous"),
    (0x100, "growsdown"),
    (0x800, "denywrite"),
    (0x1000, "executable"),
    (0x2000, "locked"),
    (0x4000, "noreserve"),
    (0x20000, "stack"),
    (0x40000, "hugetlb"),
];

/// `flags` of MMAP2 in words; bits without a name are in hex.
pub fn flag_words(flags: u32) -> Vec<String> {
    let known = FLAGS.iter().fold(0, |known, (bit, _)| known | bit);
    let names = FLAGS.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| (*name).to_owned());
    let rest = flags & !known;
    names.chain((rest != 0).then(|| format!("{rest:#x}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_proc_maps() {
        // PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4; MAP_SHARED 1, MAP_PRIVATE 2.
        assert_eq!([permissions(5, 2), permissions(3, 1), permissions(0, 0)], ["r-xp", "rw-s", "---p"]);
    }

    #[test]
    fn flags_have_names() {
        assert_eq!(flag_words(0x802), ["private", "denywrite"]);
        assert_eq!(flag_words(0x8000_0001), ["shared", "0x80000000"]);
        assert!(flag_words(0).is_empty());
    }
}
