//! The eight bytes before every record, and the bits of `misc`.

use super::endian::Order;

/// Size of [`RecordHead`] on the wire, in bytes.
pub const HEAD_SIZE: usize = 8;

/// `perf_event_header`: type, `misc` bits, size of the whole record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordHead {
    /// Record type; below 64 the kernel's, from 64 on perf's.
    pub kind: u32,
    /// Bits whose meaning depends on the type; the lowest three are the CPU mode.
    pub misc: u16,
    /// Size in bytes, this head included.
    pub size: u16,
}

impl RecordHead {
    /// The head at the start of `bytes`.
    #[inline(always)]
    pub fn read<O: Order>(bytes: &[u8]) -> Option<RecordHead> {
        // In pieces, not byte by byte: three loads.
        let (kind, rest) = bytes.first_chunk::<HEAD_SIZE>()?.split_first_chunk()?;
        let (misc, size) = rest.split_first_chunk()?;
        Some(RecordHead { kind: O::u32(*kind), misc: O::u16(*misc), size: O::u16(*size.first_chunk()?) })
    }

    /// Its eight bytes.
    pub fn put<O: Order>(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&O::put_u32(self.kind));
        out.extend_from_slice(&O::put_u16(self.misc));
        out.extend_from_slice(&O::put_u16(self.size));
    }

    /// In which mode the CPU was.
    #[inline]
    pub fn cpu_mode(self) -> CpuMode {
        CpuMode::of(self.misc)
    }
}

/// In which mode a CPU was (`misc`, lowest three bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CpuMode {
    /// Not known.
    #[default]
    Unknown,
    /// Kernel.
    Kernel,
    /// User.
    User,
    /// Hypervisor.
    Hypervisor,
    /// Kernel of a guest.
    GuestKernel,
    /// User of a guest.
    GuestUser,
}

impl CpuMode {
    /// The mode in a record's `misc`.
    #[inline]
    pub fn of(misc: u16) -> CpuMode {
        match misc & 7 {
            1 => CpuMode::Kernel,
            2 => CpuMode::User,
            3 => CpuMode::Hypervisor,
            4 => CpuMode::GuestKernel,
            5 => CpuMode::GuestUser,
            _ => CpuMode::Unknown,
        }
    }

    /// The bits of `misc` that say it.
    pub const fn misc(self) -> u16 {
        match self {
            CpuMode::Unknown => 0,
            CpuMode::Kernel => 1,
            CpuMode::User => 2,
            CpuMode::Hypervisor => 3,
            CpuMode::GuestKernel => 4,
            CpuMode::GuestUser => 5,
        }
    }

    /// Its name; `None` if it is not known.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            CpuMode::Unknown => None,
            CpuMode::Kernel => Some("kernel"),
            CpuMode::User => Some("user"),
            CpuMode::Hypervisor => Some("hypervisor"),
            CpuMode::GuestKernel => Some("guest_kernel"),
            CpuMode::GuestUser => Some("guest_user"),
        }
    }
}
