//! Protection and flags of a mapping: PROT_* and MAP_* of `asm-generic/mman-common.h` and `asm-generic/mman.h`.

use super::value::bits;

bits! {
    /// `prot` of MMAP2.
    pub struct Protection(u32 as u32) {
        /// May be read.
        0 READ,
        /// May be written.
        1 WRITE,
        /// May be executed.
        2 EXEC,
        /// With it simpleperf marks generated code, whose symbols it saved itself; its mappings say where in a file of its own.
        14 JIT_SYMFILE,
    }
}

bits! {
    /// `flags` of MMAP2, as far as the kernel tells them. On a few machines (Alpha, MIPS, PA-RISC, Xtensa) those above the
    /// first two have other numbers.
    pub struct MapFlags(u32 as u32) {
        0 shared, 1 private, 4 fixed, 5 anonymous, 8 growsdown, 11 denywrite, 12 executable, 13 locked,
        14 noreserve, 17 stack, 18 hugetlb,
    }
}

/// `prot` and `flags` of MMAP2 as `/proc/PID/maps` shows them: `r-xp`.
pub fn permissions(prot: Protection, flags: MapFlags) -> String {
    [(Protection::READ, 'r'), (Protection::WRITE, 'w'), (Protection::EXEC, 'x')]
        .into_iter()
        .map(|(bit, letter)| if prot.has(bit) { letter } else { '-' })
        .chain([if flags.has(MapFlags::shared) { 's' } else { 'p' }])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_proc_maps() {
        // PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4; MAP_SHARED 1, MAP_PRIVATE 2.
        let permissions = |prot, flags| permissions(Protection(prot), MapFlags(flags));
        assert_eq!([permissions(5, 2), permissions(3, 1), permissions(0, 0)], ["r-xp", "rw-s", "---p"]);
    }

    #[test]
    fn flags_have_names() {
        assert_eq!(MapFlags(0x802).names(), ["private", "denywrite"]);
        assert_eq!(MapFlags(0x8000_0001).names(), ["shared", "0x80000000"]);
        assert!(MapFlags(0).names().is_empty());
    }
}
