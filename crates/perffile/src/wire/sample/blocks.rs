//! The parts of a sample that have a shape of their own: counter values, branches, registers, stack.

use crate::wire::attr::{BranchSampleType, ReadFormat};
use crate::wire::branch::BranchFlags;
use crate::wire::declare::fields;
use crate::wire::list::List;
use crate::wire::pass::{Element, Fields, Pass, Step, WireField};
use crate::wire::registers::{self, RegsAbi};
use crate::wire::words::U64s;

/// Counter values: one, or those of a whole group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Read<'a> {
    /// What the values consist of.
    pub format: ReadFormat,
    /// The value, unless the format is GROUP.
    pub value: u64,
    /// Time enabled, ns.
    pub time_enabled: Option<u64>,
    /// Time running, ns.
    pub time_running: Option<u64>,
    /// Event id, unless the format is GROUP.
    pub id: Option<u64>,
    /// Lost samples, unless the format is GROUP.
    pub lost: Option<u64>,
    /// With GROUP: value, id, lost of each member as the format says, one after the other.
    pub group: U64s<'a>,
}

/// One value of a [`Read`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CounterValue {
    /// The count.
    pub value: u64,
    /// Event id.
    pub id: Option<u64>,
    /// Lost samples.
    pub lost: Option<u64>,
}

impl<'a> Read<'a> {
    /// Words per member of a group.
    fn stride(format: ReadFormat) -> usize {
        1 + usize::from(format.has(ReadFormat::ID)) + usize::from(format.has(ReadFormat::LOST))
    }

    /// The values: one, or those of the group's members in order.
    pub fn values(&self) -> impl Iterator<Item = CounterValue> + use<'a> {
        let Read { format, value, id, lost, group, .. } = *self;
        let single = (!format.has(ReadFormat::GROUP)).then_some(CounterValue { value, id, lost });
        let stride = Self::stride(format);
        let members = (0..group.len() / stride).filter_map(move |nr| {
            let at = nr * stride;
            let id = format.has(ReadFormat::ID).then(|| group.get(at + 1)).flatten();
            let lost = format.has(ReadFormat::LOST).then(|| group.get(at + stride - 1)).flatten();
            Some(CounterValue { value: group.get(at)?, id, lost })
        });
        single.into_iter().chain(members)
    }

    /// The members of a group as structures of the right width, so that each pass sees named fields.
    fn members<T: Element, P: Pass<'a>>(&mut self, count: u64, pass: &mut P) -> Step {
        let mut list = List::<T>::new(self.group.as_bytes(), self.group.order());
        pass.list("values", count, &mut list)?;
        self.group = U64s::new(list.as_bytes(), list.order());
        Ok(())
    }
}

fields! {
    /// A member's value alone.
    #[derive(Copy)]
    pub struct PlainValue { value: u64 }
}
fields! {
    /// A member's value and id.
    #[derive(Copy)]
    pub struct ValueId { value: u64, id: u64 }
}
fields! {
    /// A member's value and lost count.
    #[derive(Copy)]
    pub struct ValueLost { value: u64, lost: u64 }
}
fields! {
    /// A member's value, id and lost count.
    #[derive(Copy)]
    pub struct ValueIdLost { value: u64, id: u64, lost: u64 }
}
impl Element for PlainValue {}
impl Element for ValueId {}
impl Element for ValueLost {}
impl Element for ValueIdLost {}

impl<'a> Fields<'a> for Read<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.format = pass.shape().read_format;
        let has = |format: ReadFormat, bit| format.has(bit);
        let format = self.format;
        let group = has(format, ReadFormat::GROUP);
        let mut nr = 0;
        if group {
            nr = pass.count_u64("nr", self.group.len() / Self::stride(format))?;
        } else {
            pass.u64("value", &mut self.value)?;
        }
        pass.optional(has(format, ReadFormat::TOTAL_TIME_ENABLED), "time_enabled", &mut self.time_enabled)?;
        pass.optional(has(format, ReadFormat::TOTAL_TIME_RUNNING), "time_running", &mut self.time_running)?;
        if !group {
            pass.optional(has(format, ReadFormat::ID), "id", &mut self.id)?;
            return pass.optional(has(format, ReadFormat::LOST), "lost", &mut self.lost);
        }
        match (has(format, ReadFormat::ID), has(format, ReadFormat::LOST)) {
            (false, false) => self.members::<PlainValue, P>(nr, pass),
            (true, false) => self.members::<ValueId, P>(nr, pass),
            (false, true) => self.members::<ValueLost, P>(nr, pass),
            (true, true) => self.members::<ValueIdLost, P>(nr, pass),
        }
    }
}

/// One branch: where from, where to, and what is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BranchEntry {
    /// Address of the branch.
    pub from: u64,
    /// Address of its target.
    pub to: u64,
    /// Flags, first C bit-field lowest.
    pub flags: BranchFlags,
}

impl Element for BranchEntry {}

impl<'a> Fields<'a> for BranchEntry {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        pass.addr("from", &mut self.from)?;
        pass.addr("to", &mut self.to)?;
        self.flags.field("flags", pass)
    }
}

/// The last branches, newest first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BranchStack<'a> {
    /// Index of the newest entry in the hardware; -1 unknown. With HW_INDEX.
    pub hw_idx: Option<u64>,
    /// The branches.
    pub entries: List<'a, BranchEntry>,
    /// Packed event counters of each branch. With COUNTERS.
    pub counters: Option<U64s<'a>>,
}

impl<'a> Fields<'a> for BranchStack<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let with = pass.shape().branch_sample_type;
        let nr = pass.count_u64("nr", self.entries.len())?;
        pass.optional(with.has(BranchSampleType::HW_INDEX), "hw_idx", &mut self.hw_idx)?;
        pass.list("entries", nr, &mut self.entries)?;
        if with.has(BranchSampleType::COUNTERS) {
            pass.u64s("counters", nr, self.counters.get_or_insert_default())?;
        }
        Ok(())
    }
}

/// Register values, ascending by register number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Registers<'a> {
    /// Registers of 32 or of 64 bits, or none.
    pub abi: RegsAbi,
    /// Which registers, a bit each; from the attr, not on the wire.
    pub mask: u64,
    /// The values.
    pub values: U64s<'a>,
}

impl Registers<'_> {
    /// Register number and value of each.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..64).filter(|bit| self.mask >> bit & 1 == 1).zip(self.values.iter())
    }

    /// Value of one register.
    pub fn register(&self, number: u32) -> Option<u64> {
        self.iter().find(|(nr, _)| *nr == number).map(|(_, value)| value)
    }
}

impl<'a> Fields<'a> for Registers<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        self.abi.field("abi", pass)?;
        if self.abi != RegsAbi::NONE {
            let (abi, mask) = (self.abi, self.mask);
            pass.explain(|context| registers::names(context.machine?, mask, abi));
            pass.addrs("regs", u64::from(self.mask.count_ones()), &mut self.values)?;
        }
        Ok(())
    }
}

/// A copy of the top of the user stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UserStack<'a> {
    /// The bytes, from the stack pointer up.
    pub data: &'a [u8],
    /// How many of them are valid; absent on the wire when there are none.
    pub dyn_size: u64,
}

impl<'a> Fields<'a> for UserStack<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let size = pass.count_u64("size", self.data.len())?;
        if size != 0 {
            pass.bytes("data", size, &mut self.data)?;
            pass.u64("dyn_size", &mut self.dyn_size)?;
        }
        Ok(())
    }
}
