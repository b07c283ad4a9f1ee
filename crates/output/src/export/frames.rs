//! Stacks as the levels that viewers show, and what these are called.

use crate::export::Export;
use crate::names::UNKNOWN;
use crate::text::decoded;
use readperf_analysis::LinkedAddress;
use readperf_profile::matching::name_by_kind;
use readperf_profile::{AddressId, Apart, CodeKind, FrameTable, Level, SampleRow, UniqueFrame};
use readperf_session::Binary;
use std::borrow::Cow;

impl<'x> Export<'x> {
    /// The places of a row's stack, the innermost first: without a stack where the sample was taken.
    pub fn places(&self, row: &SampleRow) -> impl Iterator<Item = AddressId> + use<'x> {
        self.profile.places(row)
    }

    /// The address of the instruction at a place as the linker gave it, where that is known.
    pub fn linked_address(&self, address: AddressId) -> LinkedAddress {
        let own = || self.profile.addresses().get(address).map_or(0, |code| code.address);
        let known = self.linked_addresses.get(self.profile.recorded_place(address).index()).copied();
        known.unwrap_or_else(|| LinkedAddress { instruction: own(), bias: 0 })
    }

    /// The levels at a place, the innermost inlined function first.
    pub fn levels_at(
        &self,
        address: AddressId,
    ) -> impl DoubleEndedIterator<Item = Level> + ExactSizeIterator + use<'x> {
        self.profile.levels_at(address)
    }

    /// The frames of the profile, as far as a format tells them apart.
    pub fn frame_table(&self, apart: Apart) -> FrameTable {
        FrameTable::new(self.profile, self.session, apart)
    }

    /// The binary that a level lies in.
    pub fn binary(&self, address: AddressId) -> Option<&'x Binary> {
        self.session.binary(self.profile.addresses().get(address)?.binary?)
    }

    /// The short name of the binary that a place lies in; where recordings are compared, that on the other side.
    pub fn binary_name(&self, address: AddressId) -> Cow<'x, str> {
        let name = |binary: &'x Binary| match &self.options.matching {
            Some(matching) => Cow::Owned(matching.binary(&name_by_kind(binary)).to_owned()),
            None => decoded(&binary.short_name),
        };
        self.binary(address).map_or(Cow::Borrowed(UNKNOWN), name)
    }

    /// What kind of code a place is.
    pub fn kind(&self, address: AddressId) -> CodeKind {
        let code = self.profile.addresses().get(address);
        code.map_or(CodeKind::Unknown, |code| CodeKind::of(&code, self.session))
    }

    /// The name of a level's function, if it has one.
    pub fn name(&self, level: &Level) -> Option<&'x str> {
        self.profile.function(level.function)?.name()
    }

    /// What to call a frame: the function's name, else the binary's in brackets; where recordings are compared, that on the other
    /// side.
    pub fn label(&self, frame: &UniqueFrame) -> Cow<'x, str> {
        frame.label_in(self.profile, || self.binary_name(frame.first.address))
    }

    /// The name of a row's thread at that time; where recordings are compared, that on the other side.
    pub fn comm(&self, row: &SampleRow) -> Cow<'x, str> {
        let name = decoded(self.session.comm(row.comm));
        match &self.options.matching {
            Some(matching) => Cow::Owned(matching.comm(&name).to_owned()),
            None => name,
        }
    }

    /// Process and thread id of a row, if threads are kept. As the kernel's type has them (`pid_t`): a thread on its way out
    /// has -1.
    pub fn ids(&self, row: &SampleRow) -> Option<(i32, i32)> {
        let thread = self.session.thread(row.thread?)?;
        Some((self.session.process(thread.process)?.pid.cast_signed(), thread.tid.cast_signed()))
    }
}
