//! Where the data of a memory access came from: `union perf_mem_data_src` of the kernel's `perf_event.h`.
//!
//! The word is built by shifts, not by C bit-fields in memory order: its value is the same in both byte orders. The words
//! are those that perf prints, so that both outputs can be compared; what perf 6.1 does not know yet (levels 5 to 8, regions)
//! has the words of later versions or of the header.

use super::value::{Words, value};
use std::fmt;

/// The bits of PERF_SAMPLE_DATA_SRC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DataSrc(pub u64);

/// Where a field of the word lies.
#[derive(Clone, Copy, Debug)]
struct DataSrcPart {
    shift: u32,
    width: u32,
}

const OP: DataSrcPart = DataSrcPart { shift: 0, width: 5 };
const LVL: DataSrcPart = DataSrcPart { shift: 5, width: 14 };
const SNOOP: DataSrcPart = DataSrcPart { shift: 19, width: 5 };
const LOCK: DataSrcPart = DataSrcPart { shift: 24, width: 2 };
const DTLB: DataSrcPart = DataSrcPart { shift: 26, width: 7 };
const LVL_NUM: DataSrcPart = DataSrcPart { shift: 33, width: 4 };
const REMOTE: DataSrcPart = DataSrcPart { shift: 37, width: 1 };
const SNOOPX: DataSrcPart = DataSrcPart { shift: 38, width: 2 };
const BLK: DataSrcPart = DataSrcPart { shift: 40, width: 3 };
const HOPS: DataSrcPart = DataSrcPart { shift: 43, width: 3 };
const REGION: DataSrcPart = DataSrcPart { shift: 46, width: 5 };

/// Bits common to `lvl` and `dtlb`: they say what became of the level that the other bits name.
const HIT: u64 = 2;
const MISS: u64 = 4;

/// Names of bits, lowest first. `N/A` of the bit 0 and the hits are told elsewhere.
const OPS: [(u64, &str); 5] = [(1, "N/A"), (2, "LOAD"), (4, "STORE"), (8, "PFETCH"), (16, "EXEC")];
const LEVELS: [(u64, &str); 12] = [
    (1, "N/A"),
    (0x8, "L1"),
    (0x10, "LFB/MAB"),
    (0x20, "L2"),
    (0x40, "L3"),
    (0x80, "Local RAM"),
    (0x100, "Remote RAM (1 hop)"),
    (0x200, "Remote RAM (2 hops)"),
    (0x400, "Remote Cache (1 hop)"),
    (0x800, "Remote Cache (2 hops)"),
    (0x1000, "I/O"),
    (0x2000, "Uncached"),
];
const SNOOPS: [(u64, &str); 5] = [(1, "N/A"), (2, "None"), (4, "Hit"), (8, "Miss"), (16, "HitM")];
const SNOOPXS: [(u64, &str); 2] = [(1, "Fwd"), (2, "Peer")];
const TLBS: [(u64, &str); 5] = [(1, "N/A"), (0x8, "L1"), (0x10, "L2"), (0x20, "Walker"), (0x40, "Fault")];

/// Names of the numbers of `lvl_num`.
const LEVEL_NUMBERS: [&str; 16] = [
    "",
    "L1",
    "L2",
    "L3",
    "L4",
    "L2 MHB",
    "Memory-side Cache",
    "L0",
    "Uncached",
    "CXL",
    "I/O",
    "Any cache",
    "LFB/MAB",
    "RAM",
    "PMEM",
    "N/A",
];
/// Names of the numbers of `hops`.
const HOPS_NAMES: [&str; 5] = ["", "core, same node", "node, same socket", "socket, same board", "board"];
/// Names of the numbers of `region`; from 8 on the numbers are memory ranges.
const REGIONS: [&str; 8] = [
    "",
    "reserved",
    "local shared",
    "local non-shared",
    "other I/O",
    "other shared",
    "other non-shared",
    "MMIO",
];

impl DataSrc {
    /// What perf takes for a sample without any of it, as the kernel fills it in since Linux 6.1.
    pub const NOT_AVAILABLE: DataSrc = DataSrc(0x1e_0508_0021);

    const fn part(self, part: DataSrcPart) -> u64 {
        self.0 >> part.shift & ((1 << part.width) - 1)
    }

    /// Kind of access, a bit each: 1 not available, 2 load, 4 store, 8 prefetch, 16 execution.
    pub const fn op(self) -> u64 {
        self.part(OP)
    }
    /// Level of the memory hierarchy, a bit each, and whether it was hit (2) or missed (4).
    pub const fn lvl(self) -> u64 {
        self.part(LVL)
    }
    /// Snooping, a bit each: 1 not available, 2 none, 4 hit, 8 miss, 16 hit of a modified line.
    pub const fn snoop(self) -> u64 {
        self.part(SNOOP)
    }
    /// Lock: 1 not available, 2 locked.
    pub const fn lock(self) -> u64 {
        self.part(LOCK)
    }
    /// Translation of the address, a bit each, and whether that was hit (2) or missed (4).
    pub const fn dtlb(self) -> u64 {
        self.part(DTLB)
    }
    /// Level as a number; 15 not available.
    pub const fn lvl_num(self) -> u64 {
        self.part(LVL_NUM)
    }
    /// Whether it was remote.
    pub const fn remote(self) -> bool {
        self.part(REMOTE) == 1
    }
    /// More of snooping: 1 forwarded, 2 from a peer.
    pub const fn snoopx(self) -> u64 {
        self.part(SNOOPX)
    }
    /// What blocked the access: 1 not available, 2 its data, 4 its address.
    pub const fn blk(self) -> u64 {
        self.part(BLK)
    }
    /// How far away, as a number.
    pub const fn hops(self) -> u64 {
        self.part(HOPS)
    }
    /// Kind of memory, as a number.
    pub const fn region(self) -> u64 {
        self.part(REGION)
    }

    /// Kind of access in a word.
    pub fn op_words(self) -> String {
        OPS.iter().find(|(bit, _)| self.op() & bit != 0).map_or("No", |(_, name)| name).to_owned()
    }

    /// Level in words.
    pub fn lvl_words(self) -> String {
        let mut words = String::new();
        if self.remote() {
            words.push_str("Remote ");
        }
        match (self.hops(), named(&HOPS_NAMES, self.hops())) {
            (0, _) => {}
            (_, Some(name)) => words.extend([name, " "]),
            (hops, None) => words.push_str(&format!("{hops} hops ")),
        }
        let by_bit = LEVELS.iter().skip(1).filter(|(bit, _)| self.lvl() & bit != 0).map(|(_, name)| *name);
        let not_available = (self.lvl() & 1 != 0).then_some("N/A");
        let by_number = named(&LEVEL_NUMBERS, self.lvl_num()).filter(|name| !name.is_empty());
        let levels: Vec<&str> = not_available.into_iter().chain(by_bit).chain(by_number).collect();
        words.push_str(&levels.join(" or "));
        or_not_available(&mut words);
        push_outcome(&mut words, self.lvl());
        words
    }

    /// Snooping in words.
    pub fn snoop_words(self) -> String {
        let mut words = any_of(&SNOOPS, self.snoop());
        words.extend(SNOOPXS.iter().filter(|(bit, _)| self.snoopx() & bit != 0).map(|(_, name)| *name));
        joined(&words, " or ")
    }

    /// Translation of the address in words.
    pub fn dtlb_words(self) -> String {
        let mut words = joined(&any_of(&TLBS, self.dtlb()), " or ");
        push_outcome(&mut words, self.dtlb());
        words
    }

    /// Lock in a word.
    pub fn lock_words(self) -> &'static str {
        match self.lock() {
            bits if bits & 1 != 0 => "N/A",
            bits if bits & 2 != 0 => "Yes",
            _ => "No",
        }
    }

    /// What blocked the access, in words.
    pub fn blk_words(self) -> String {
        if self.blk() & 1 != 0 {
            return "N/A".to_owned();
        }
        joined(&any_of(&[(2, "Data"), (4, "Addr")], self.blk()), " ")
    }

    /// Kind of memory in words; `None` where the word does not tell.
    pub fn region_words(self) -> Option<String> {
        match (self.region(), named(&REGIONS, self.region())) {
            (0, _) => None,
            (_, Some(name)) => Some(name.to_owned()),
            (number @ 8..=15, None) => Some(format!("mem{}", number - 8)),
            (number, None) => Some(format!("region {number}")),
        }
    }
}

impl fmt::Display for DataSrc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "|OP {}|LVL {}|SNP {}", self.op_words(), self.lvl_words(), self.snoop_words())?;
        write!(f, "|TLB {}|LCK {}|BLK  {}", self.dtlb_words(), self.lock_words(), self.blk_words())?;
        match self.region_words() {
            Some(region) => write!(f, "|REGION {region}"),
            None => Ok(()),
        }
    }
}

fn named(names: &[&'static str], number: u64) -> Option<&'static str> {
    names.get(usize::try_from(number).ok()?).copied()
}

fn any_of(names: &[(u64, &'static str)], bits: u64) -> Vec<&'static str> {
    names.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, name)| *name).collect()
}

fn joined(words: &[&str], between: &str) -> String {
    let mut text = words.join(between);
    or_not_available(&mut text);
    text
}

fn or_not_available(words: &mut String) {
    if words.is_empty() {
        words.push_str("N/A");
    }
}

fn push_outcome(words: &mut String, bits: u64) {
    for (bit, word) in [(HIT, " hit"), (MISS, " miss")] {
        if bits & bit != 0 {
            words.push_str(word);
        }
    }
}

value!(DataSrc as addr, |value| Some(Words::text(value)));

#[cfg(test)]
mod tests {
    use super::*;

    /// Level numbers and distances that perf 6.1 has no names for.
    fn is_newer_than_the_oracle(value: DataSrc) -> bool {
        matches!(value.lvl_num(), 5..=8) || value.hops() > 4
    }

    #[test]
    fn words_are_those_of_perf() {
        let golden = include_str!("../../../../tests/fixtures/words/data_src.txt");
        let mut seen = 0;
        for line in golden.lines() {
            let (value, words) = line.split_once(' ').unwrap();
            let value = DataSrc(u64::from_str_radix(&value[2..], 16).unwrap());
            if is_newer_than_the_oracle(value) {
                continue;
            }
            assert_eq!(value.to_string(), words, "{:#x}", value.0);
            seen += 1;
        }
        assert!(seen > 70, "{seen}");
    }

    #[test]
    fn what_perf_6_1_does_not_know() {
        // Numbers of `perf_event.h`: PERF_MEM_LVLNUM_MSC is 6, PERF_MEM_REGION_MEM0 is 8.
        assert_eq!(DataSrc(6 << 33).lvl_words(), "Memory-side Cache");
        assert_eq!(DataSrc(7 << 43).lvl_words(), "7 hops ");
        assert!(DataSrc(9 << 46).to_string().ends_with("|BLK  N/A|REGION mem1"));
        assert_eq!(DataSrc(u64::MAX).region_words().as_deref(), Some("region 31"));
        assert_eq!(DataSrc::NOT_AVAILABLE.op_words(), "N/A");
    }
}
