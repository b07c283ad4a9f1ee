//! PERF_RECORD_CPU_MAP (74): the CPUs that were recorded, in one of three forms. Packed, hence unaligned.

use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step, WireField};
use crate::wire::value::numbers;
use crate::wire::words::U64s;

numbers! {
    /// How CPUs are told.
    pub struct CpuMapType(u16) {
        0 CPUS "cpus", 1 MASK "mask", 2 RANGE "range",
    }
}

fields! {
    /// A CPU number.
    #[derive(Copy)]
    pub struct CpuNumber {
        /// 0xffff stands for any.
        cpu: u16,
    }
}
impl Element for CpuNumber {}

fields! {
    /// 32 CPUs.
    #[derive(Copy)]
    pub struct CpuMask32 {
        /// A bit each.
        mask: u32,
    }
}
impl Element for CpuMask32 {}

/// Some CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuMap<'a> {
    /// The form.
    pub map_type: CpuMapType,
    /// Form 0.
    pub cpus: List<'a, CpuNumber>,
    /// Form 1: bytes of a word of the mask, 4 or 8.
    pub long_size: u16,
    /// Form 1 with words of 4 bytes.
    pub mask32: List<'a, CpuMask32>,
    /// Form 1 with words of 8 bytes: pad before them.
    pub mask_pad: u32,
    /// Form 1 with words of 8 bytes.
    pub mask64: U64s<'a>,
    /// Form 2: whether "any CPU" is meant too.
    pub any_cpu: u8,
    /// Form 2: unused.
    pub range_pad: u8,
    /// Form 2: first CPU.
    pub start_cpu: u16,
    /// Form 2: last CPU.
    pub end_cpu: u16,
    /// What pads the record to eight bytes.
    pub padding: &'a [u8],
}

impl CpuMap<'_> {
    /// The CPU numbers, ascending as stored; -1 stands for any. A range with its end before its start is empty.
    pub fn numbers(&self) -> Vec<i32> {
        let bits = |word: u64, nr: usize, width: usize| {
            (0..width)
                .filter(move |bit| word >> bit & 1 == 1)
                .filter_map(move |bit| i32::try_from(nr * width + bit).ok())
        };
        match self.map_type {
            CpuMapType::CPUS => {
                self.cpus.iter().map(|c| if c.cpu == u16::MAX { -1 } else { i32::from(c.cpu) }).collect()
            }
            CpuMapType::MASK if self.long_size == 4 => {
                self.mask32.iter().enumerate().flat_map(|(nr, m)| bits(u64::from(m.mask), nr, 32)).collect()
            }
            CpuMapType::MASK => {
                self.mask64.iter().enumerate().flat_map(|(nr, mask)| bits(mask, nr, 64)).collect()
            }
            CpuMapType::RANGE => {
                let any = (self.any_cpu != 0).then_some(-1);
                any.into_iter().chain(i32::from(self.start_cpu)..=i32::from(self.end_cpu)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl<'a> Fields<'a> for CpuMap<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.map_type.field("map_type", pass)?;
        match self.map_type {
            CpuMapType::CPUS => {
                let nr = pass.count_u16("nr", self.cpus.len())?;
                pass.list("cpus", nr, &mut self.cpus)?;
            }
            CpuMapType::MASK => {
                let nr = pass.count_u16("nr", self.mask32.len().max(self.mask64.len()))?;
                pass.u16("long_size", &mut self.long_size)?;
                if self.long_size == 4 {
                    pass.list("mask", nr, &mut self.mask32)?;
                } else {
                    pass.u32("mask_pad", &mut self.mask_pad)?;
                    pass.addrs("mask", nr, &mut self.mask64)?;
                }
            }
            CpuMapType::RANGE => {
                pass.u8("any_cpu", &mut self.any_cpu)?;
                pass.u8("range_pad", &mut self.range_pad)?;
                pass.u16("start_cpu", &mut self.start_cpu)?;
                pass.u16("end_cpu", &mut self.end_cpu)?;
            }
            _ => {}
        }
        pass.rest("padding", &mut self.padding)
    }
}
