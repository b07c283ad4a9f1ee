//! `misc` of a record's head in words: PERF_RECORD_MISC_* of the kernel's `perf_event.h`, and what perf adds.

use super::head::{CpuMode, misc};
use super::record::kind;

/// What the high bits mean in which records.
const BITS: &[(u16, &[u32], &str)] = &[
    (misc::PROC_MAP_PARSE_TIMEOUT, &[kind::MMAP, kind::MMAP2], "proc_map_parse_timeout"),
    (misc::MMAP_DATA, &[kind::MMAP, kind::MMAP2], "data"),
    (misc::COMM_EXEC, &[kind::COMM], "exec"),
    (misc::FORK_EXEC, &[kind::FORK], "exec"),
    (misc::SWITCH_OUT, &[kind::SWITCH, kind::SWITCH_CPU_WIDE], "out"),
    (misc::EXACT_IP, &[kind::SAMPLE], "exact_ip"),
    (misc::SWITCH_OUT_PREEMPT, &[kind::SWITCH, kind::SWITCH_CPU_WIDE], "preempted"),
    (misc::MMAP_BUILD_ID, &[kind::MMAP2], "build_id"),
    (misc::BUILD_ID_SIZE, &[kind::HEADER_BUILD_ID], "build_id_size"),
    (misc::LOST_SAMPLES_BPF, &[kind::LOST_SAMPLES], "bpf"),
];

/// The bits of `misc` in words, the CPU mode first; bits without a meaning in such a record are in hex.
pub fn words(number: u32, value: u16) -> Vec<String> {
    let mode = CpuMode::of(value).name();
    let mut rest = value & !if mode.is_some() { 7 } else { 0 };
    let mut words: Vec<String> = mode.into_iter().map(str::to_owned).collect();
    for (bit, _, name) in
        BITS.iter().filter(|(bit, numbers, _)| value & bit != 0 && numbers.contains(&number))
    {
        rest &= !bit;
        words.push((*name).to_owned());
    }
    words.extend((rest != 0).then(|| format!("{rest:#x}")));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits of `perf_event.h`.
    #[test]
    fn the_same_bit_means_what_the_record_makes_of_it() {
        assert_eq!(words(9, 0x4002), ["user", "exact_ip"]);
        assert_eq!(words(10, 0x4002), ["user", "build_id"]);
        assert_eq!(words(14, 0x6000), ["out", "preempted"]);
        assert_eq!(words(3, 0x2000), ["exec"]);
        assert_eq!(words(9, 0x0017), ["0x17"]);
        assert!(words(68, 0).is_empty());
    }
}
