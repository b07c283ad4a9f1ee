//! Relocations that RISC-V has of its own: differences of two addresses, as pairs of changes to what is there (psABI for RISC-V,
//! chapter "Relocations"). Code may still shrink when it is linked, so that the assembler cannot fill them in.

use object::elf;

/// What a relocation does to the bytes at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Adds the value to a number of so many bytes.
    Add(usize),
    /// Subtracts it.
    Subtract(usize),
    /// Puts it there.
    Set(usize),
    /// Puts it into the lower six bits of a byte.
    Set6,
    /// Subtracts it from them.
    Subtract6,
    /// Puts it there as ULEB128, as long as the number that is there.
    SetUleb128,
    /// Subtracts it from such a number.
    SubtractUleb128,
    /// Nothing that has to do with code.
    Nothing,
}

impl Change {
    /// By the type of a relocation; `None` if it is another one.
    pub(super) fn of(r_type: u32) -> Option<Change> {
        Some(match r_type {
            elf::R_RISCV_ADD8 => Change::Add(1),
            elf::R_RISCV_ADD16 => Change::Add(2),
            elf::R_RISCV_ADD32 => Change::Add(4),
            elf::R_RISCV_ADD64 => Change::Add(8),
            elf::R_RISCV_SUB8 => Change::Subtract(1),
            elf::R_RISCV_SUB16 => Change::Subtract(2),
            elf::R_RISCV_SUB32 => Change::Subtract(4),
            elf::R_RISCV_SUB64 => Change::Subtract(8),
            elf::R_RISCV_SET8 => Change::Set(1),
            elf::R_RISCV_SET16 => Change::Set(2),
            elf::R_RISCV_SET32 => Change::Set(4),
            elf::R_RISCV_SET6 => Change::Set6,
            elf::R_RISCV_SUB6 => Change::Subtract6,
            elf::R_RISCV_SET_ULEB128 => Change::SetUleb128,
            elf::R_RISCV_SUB_ULEB128 => Change::SubtractUleb128,
            // Marks for the linker, and places of variables of threads.
            elf::R_RISCV_RELAX
            | elf::R_RISCV_ALIGN
            | elf::R_RISCV_TLS_DTPREL32
            | elf::R_RISCV_TLS_DTPREL64 => Change::Nothing,
            _ => return None,
        })
    }

    /// Changes the bytes that begin at the place. `None` if they end too early. All numbers wrap.
    pub(super) fn make(self, place: &mut [u8], value: u64) -> Option<()> {
        match self {
            Change::Add(width) => fixed(place, width, |old| old.wrapping_add(value)),
            Change::Subtract(width) => fixed(place, width, |old| old.wrapping_sub(value)),
            Change::Set(width) => fixed(place, width, |_| value),
            Change::Set6 => fixed(place, 1, |old| old & !SIX | value & SIX),
            Change::Subtract6 => fixed(place, 1, |old| old & !SIX | old.wrapping_sub(value) & SIX),
            Change::SetUleb128 => uleb128(place, |_| value),
            Change::SubtractUleb128 => uleb128(place, |old| old.wrapping_sub(value)),
            Change::Nothing => Some(()),
        }
    }
}

/// The bits of `DW_CFA_advance_loc` that are a number.
const SIX: u64 = 0x3f;

fn fixed(place: &mut [u8], width: usize, change: impl Fn(u64) -> u64) -> Option<()> {
    let place = place.get_mut(..width)?;
    let mut word = [0; 8];
    word.get_mut(..width)?.copy_from_slice(place);
    place.copy_from_slice(change(u64::from_le_bytes(word)).to_le_bytes().get(..width)?);
    Some(())
}

fn uleb128(place: &mut [u8], change: impl Fn(u64) -> u64) -> Option<()> {
    const MORE: u8 = 0x80;
    // Ten groups of seven bits hold 64.
    let length = place.iter().take(10).position(|byte| byte & MORE == 0)? + 1;
    let place = place.get_mut(..length)?;
    let old = place.iter().rev().fold(0_u64, |sum, byte| sum << 7 | u64::from(byte & !MORE));
    let mut left = change(old);
    for byte in place {
        let [group, ..] = left.to_le_bytes();
        *byte = *byte & MORE | group & !MORE;
        left >>= 7;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(bytes: &[u8], changes: &[(u32, u64)]) -> Option<Vec<u8>> {
        let mut bytes = bytes.to_vec();
        for (r_type, value) in changes {
            Change::of(*r_type)?.make(&mut bytes, *value)?;
        }
        Some(bytes)
    }

    /// By hand, out of the table of the psABI.
    #[test]
    fn pairs_are_differences() {
        let (high, low) = (0xffff_ffff_0000_1234, 0xffff_ffff_0000_1204);
        let pairs = [
            (elf::R_RISCV_ADD16, elf::R_RISCV_SUB16, vec![1, 0, 9], vec![0x31, 0, 9]),
            (elf::R_RISCV_ADD8, elf::R_RISCV_SUB8, vec![0xff, 7], vec![0x2f, 7]),
            (elf::R_RISCV_ADD64, elf::R_RISCV_SUB64, vec![0; 8], vec![0x30, 0, 0, 0, 0, 0, 0, 0]),
            (elf::R_RISCV_SET32, elf::R_RISCV_SUB32, vec![9; 5], vec![0x30, 0, 0, 0, 9]),
            // The upper bits say what instruction it is.
            (elf::R_RISCV_SET6, elf::R_RISCV_SUB6, vec![0x40, 5], vec![0x70, 5]),
            // One byte, and padded to three.
            (elf::R_RISCV_SET_ULEB128, elf::R_RISCV_SUB_ULEB128, vec![0, 6], vec![0x30, 6]),
            (
                elf::R_RISCV_SET_ULEB128,
                elf::R_RISCV_SUB_ULEB128,
                vec![0x80, 0x80, 0, 6],
                vec![0xb0, 0x80, 0, 6],
            ),
        ];
        for (first, second, before, after) in pairs {
            assert_eq!(changed(&before, &[(first, high), (second, low)]), Some(after), "{first}");
        }
        // 300 needs two groups.
        let long = [(elf::R_RISCV_SET_ULEB128, 0x1000 + 300), (elf::R_RISCV_SUB_ULEB128, 0x1000)];
        assert_eq!(changed(&[0x80, 0], &long), Some(vec![0xac, 0x02]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(changed(&[1, 2, 3], &[(elf::R_RISCV_ADD32, 1)]), None);
        assert_eq!(changed(&[0x80; 20], &[(elf::R_RISCV_SET_ULEB128, 1)]), None);
        assert_eq!(changed(&[], &[(elf::R_RISCV_SET6, 1)]), None);
        assert_eq!(changed(&[1, 2, 3, 4], &[(elf::R_RISCV_CALL_PLT, 1)]), None);
        assert_eq!(changed(&[1], &[(elf::R_RISCV_RELAX, 1)]), Some(vec![1]));
    }
}
