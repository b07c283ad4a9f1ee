//! `misc` of a record's head: PERF_RECORD_MISC_* of the kernel's `perf_event.h`, and what perf adds. What a high bit means
//! depends on the type of the record.

use super::head::CpuMode;
use super::record::kind;

/// A bit of `misc` in some types of records.
#[derive(Clone, Copy, Debug)]
pub struct MiscBit {
    /// Its value.
    pub value: u16,
    /// Name of its constant.
    pub constant: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The types of records it is in.
    pub records: &'static [u32],
    /// What it says.
    pub meaning: &'static str,
}

/// Declares the bits: their constants, and the list of them.
macro_rules! misc_bits {
    ($( $bit:literal $constant:ident $name:literal in $($record:ident)+: $meaning:literal, )*) => {
        $(
            #[doc = concat!("In", $(" ", stringify!($record)),+, ": ", $meaning)]
            pub const $constant: u16 = 1 << $bit;
        )*

        /// Every bit that has a name.
        pub const BITS: &[MiscBit] = &[$(
            MiscBit {
                value: $constant,
                constant: stringify!($constant),
                name: $name,
                records: &[$(kind::$record),+],
                meaning: $meaning,
            },
        )*];
    };
}

misc_bits! {
    12 PROC_MAP_PARSE_TIMEOUT "proc_map_parse_timeout" in MMAP MMAP2: "reading /proc was cut short.",
    13 MMAP_DATA "data" in MMAP MMAP2: "a data mapping.",
    13 COMM_EXEC "exec" in COMM: "the name came with an exec.",
    13 FORK_EXEC "exec" in FORK: "made up by perf for a running task; its mappings are told separately.",
    13 SWITCH_OUT "out" in SWITCH SWITCH_CPU_WIDE: "the thread was switched out.",
    14 EXACT_IP "exact_ip" in SAMPLE: "the instruction pointer is exact.",
    14 SWITCH_OUT_PREEMPT "preempted" in SWITCH SWITCH_CPU_WIDE: "it was preempted.",
    14 MMAP_BUILD_ID "build_id" in MMAP2: "with a build-id in place of device and inode.",
    15 BUILD_ID_SIZE "build_id_size" in HEADER_BUILD_ID: "the byte with the size of the build-id is valid.",
    15 LOST_SAMPLES_BPF "bpf" in LOST_SAMPLES: "dropped by a BPF filter.",
}

/// The bits of `misc` in words, the CPU mode first; bits without a meaning in such a record are in hex.
pub fn words(number: u32, value: u16) -> Vec<String> {
    let mode = CpuMode::of(value).name();
    let mut rest = value & !if mode.is_some() { 7 } else { 0 };
    let mut words: Vec<String> = mode.into_iter().map(str::to_owned).collect();
    for bit in BITS.iter().filter(|bit| value & bit.value != 0 && bit.records.contains(&number)) {
        rest &= !bit.value;
        words.push(bit.name.to_owned());
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
