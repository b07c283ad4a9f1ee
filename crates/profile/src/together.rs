//! Places put together, where there are more than memory is to hold and nobody asks for their addresses.
//!
//! Places of one function and line become one. If those are still too many, addresses without a name are told only to the page, and to more
//! than that if it must be: the places of code that nothing names can be as many as the samples.

use crate::addresses::{AddressId, Addresses};
use crate::index::{Index, hash};
use crate::names::Names;
use crate::stacks::StackId;
use readperf_session::{BinaryId, CodeAddress, CpuMode};

/// How exactly addresses without a name are told: so many bits of them are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rounding(u32);

impl Rounding {
    /// Coarser and coarser: to the page, to 1 MiB, to 256 MiB, to 64 GiB, and not at all.
    const BITS: [u32; 5] = [12, 20, 28, 36, u64::BITS];

    /// What comes next; `None` if nothing is left of addresses.
    fn next(self) -> Option<Rounding> {
        Rounding::BITS.into_iter().find(|bits| *bits > self.0).map(Rounding)
    }

    /// What is left of an address.
    fn of(self, address: u64) -> u64 {
        address.checked_shr(self.0).and_then(|left| left.checked_shl(self.0)).unwrap_or(0)
    }

    /// In words, if addresses are not told to the byte.
    pub fn told(self) -> Option<String> {
        match self.0 {
            0 => None,
            bits @ ..20 => Some(format!("to {} KiB", 1_u64 << (bits - 10))),
            bits @ ..30 => Some(format!("to {} MiB", 1_u64 << (bits - 20))),
            bits @ ..u64::BITS => Some(format!("to {} GiB", 1_u64 << (bits - 30))),
            _ => Some("by their binary alone".to_owned()),
        }
    }
}

/// What places became.
#[derive(Debug)]
pub struct Together {
    /// By the number of a place that which it has now.
    numbers: Vec<AddressId>,
}

impl Together {
    /// Where place `nr` becomes `to(nr)`.
    #[cfg(test)]
    pub(crate) fn for_test(places: u32, to: impl Fn(u32) -> u32) -> Together {
        Together { numbers: (0..places).map(|nr| AddressId(to(nr))).collect() }
    }

    /// The number that a place has now.
    #[inline]
    pub(crate) fn of(&self, id: AddressId) -> AddressId {
        self.numbers.get(id.index()).copied().unwrap_or(id)
    }
}

/// What places and stacks became.
pub(crate) struct Moved<'t> {
    pub(crate) places: &'t Together,
    /// By the number of a stack that which it has now.
    pub(crate) stacks: Vec<StackId>,
}

impl Moved<'_> {
    #[inline]
    pub(crate) fn place(&self, id: AddressId) -> AddressId {
        self.places.of(id)
    }

    #[inline]
    pub(crate) fn stack(&self, id: StackId) -> StackId {
        id.index().and_then(|index| self.stacks.get(index)).copied().unwrap_or(StackId::EMPTY)
    }
}

/// A place that stands for others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// The first of them, by the number that it had.
    pub(crate) first: AddressId,
    /// What they have in common.
    pub(crate) code: CodeAddress,
    /// Whether it is found by that. A part of an address is not: it may be an address of its own, with a name.
    pub(crate) is_found: bool,
}

/// Places with their names, of which equal ones can be found.
struct Places<'p> {
    addresses: &'p Addresses,
    names: &'p Names,
    rounding: Rounding,
}

/// What tells places apart that have no name.
type Unnamed = (CpuMode, Option<BinaryId>, u64);

impl Places<'_> {
    /// What is left of a place without a name. A place of which its levels are known has more than that.
    fn unnamed(&self, id: AddressId) -> Option<Unnamed> {
        let code = self.addresses.get(id)?;
        let function = self.names.piece_at(id)?;
        let is_so = !self.names.has_name(function) && !self.names.has_frames(id);
        is_so.then(|| (code.mode, code.binary, self.rounding.of(code.address)))
    }

    fn mode(&self, id: AddressId) -> Option<CpuMode> {
        self.addresses.get(id).map(|code| code.mode)
    }

    fn hash(&self, id: AddressId) -> u32 {
        match self.unnamed(id) {
            Some(unnamed) => hash(&unnamed),
            None => {
                let of_code = hash(&(self.mode(id), self.names.piece_at(id)));
                let levels = self.names.frames_at(id);
                levels.fold(of_code, |sum, level| hash(&(sum, level.function, level.line)))
            }
        }
    }

    fn are_one(&self, a: AddressId, b: AddressId) -> bool {
        match (self.unnamed(a), self.unnamed(b)) {
            (None, None) => {
                self.mode(a) == self.mode(b)
                    && self.names.piece_at(a) == self.names.piece_at(b)
                    && self.names.frames_at(a).eq(self.names.frames_at(b))
            }
            (a, b) => a == b,
        }
    }

    /// The first place of each that are one, and for each place which of these stands for it.
    fn firsts(&self) -> (Vec<AddressId>, Vec<u32>) {
        let (mut index, mut firsts) = (Index::default(), Vec::new());
        let which = self.addresses.ids().map(|id| {
            index.make_room(firsts.len());
            let next = firsts.len();
            let is = |first: u32| firsts.get(first as usize).is_some_and(|first| self.are_one(*first, id));
            let first = index.find_or_add(self.hash(id), next, is);
            if first as usize == next {
                firsts.push(id);
            }
            first
        });
        let which = which.collect();
        (firsts, which)
    }
}

impl Addresses {
    /// Puts places together whose names are known, so that at most so many are left, if that can be. Addresses without a name are told as
    /// `rounding` says or, if these are too many, less exactly; it says then how.
    pub fn put_together(&mut self, names: &mut Names, most: usize, rounding: &mut Rounding) -> Together {
        let (firsts, which) = loop {
            let places = Places { addresses: self, names, rounding: *rounding };
            let (firsts, which) = places.firsts();
            let unnamed = firsts.iter().filter(|first| places.unnamed(**first).is_some()).count();
            // Where most have names, there is little to gain.
            let is_too_much = firsts.len() > most && unnamed > most / 4;
            match rounding.next().filter(|_| is_too_much) {
                Some(coarser) => *rounding = coarser,
                None => break (firsts, which),
            }
        };
        let places = Places { addresses: self, names, rounding: *rounding };
        let left = firsts.iter().filter_map(|first| {
            let code = self.get(*first)?;
            let is_found = *rounding == Rounding::default() || places.unnamed(*first).is_none();
            let address = if is_found { code.address } else { rounding.of(code.address) };
            let ip = code.ip.wrapping_sub(code.address.wrapping_sub(address));
            Some(Left { first: *first, code: CodeAddress { address, ip, ..code }, is_found })
        });
        let left: Vec<Left> = left.collect();
        names.leave(&left);
        self.leave(&left);
        Together { numbers: which.into_iter().map(AddressId).collect() }
    }
}
