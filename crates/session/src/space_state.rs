//! One state of the mappings, to be asked when the session is further on, or by another thread.

use crate::kernel::Kernel;
use crate::space::{AddressSpace, Mapping, SpaceVersion};

/// What was mapped in one state of an address space. It answers as the session did then; a clone costs nothing.
#[derive(Clone, Debug)]
pub struct SpaceState(Space);

#[derive(Clone, Debug)]
enum Space {
    Process(AddressSpace),
    Kernel(Kernel),
}

impl SpaceState {
    pub(crate) fn of_process(space: &AddressSpace) -> SpaceState {
        SpaceState(Space::Process(space.clone()))
    }

    pub(crate) fn of_kernel(kernel: &Kernel) -> SpaceState {
        SpaceState(Space::Kernel(kernel.clone()))
    }

    /// Which state it is.
    #[inline]
    pub fn version(&self) -> SpaceVersion {
        match &self.0 {
            Space::Process(space) => space.version(),
            Space::Kernel(kernel) => kernel.version(),
        }
    }

    /// The mappings of a process by address, as far as newer ones left them; none of a kernel.
    pub fn process_mappings(&self) -> impl Iterator<Item = &Mapping> {
        let space = match &self.0 {
            Space::Process(space) => Some(space),
            Space::Kernel(_) => None,
        };
        space.into_iter().flat_map(AddressSpace::iter)
    }

    /// The mapping that covers an address. O(log n) in the number of mappings.
    #[inline]
    pub fn find(&self, ip: u64) -> Option<&Mapping> {
        match &self.0 {
            Space::Process(space) => space.find(ip),
            Space::Kernel(kernel) => kernel.find(ip),
        }
    }
}
