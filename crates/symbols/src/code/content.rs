//! What is code and what is data, by the marks that assemblers of some machines leave among the symbols: `$a`, `$t`, `$x`, `$d`
//! (ELF for the Arm Architecture, 5.5.5; RISC-V ELF psABI, "Mapping Symbol").

use object::elf;
use readperf_code::Content;

use crate::image::{Image, text_at};
use crate::source::elf::raw_symbols;

/// Where what kind of content begins, by address. Without marks all is code; for 32-bit Arm the symbols of functions say which.
pub(super) fn marks(image: &Image<'_>) -> Vec<(u64, Content)> {
    if !has_marks(image.machine) {
        return Vec::new();
    }
    let tables =
        [elf::SHT_SYMTAB, elf::SHT_DYNSYM].into_iter().filter_map(|kind| image.section_of_kind(kind));
    let (mut marks, mut functions) = (Vec::new(), Vec::new());
    for table in tables {
        let strings = image.section_at(table.link).map_or(&[][..], |strings| image.bytes(strings));
        for symbol in raw_symbols(image, table).filter(|symbol| symbol.section != 0) {
            let is_thumb = symbol.value & 1 == 1;
            let is_function = matches!(symbol.kind(), elf::STT_FUNC | elf::STT_GNU_IFUNC);
            if is_function && image.machine == elf::EM_ARM {
                functions.push((symbol.value & !1, if is_thumb { Content::Thumb } else { Content::Code }));
            }
            let name = usize::try_from(symbol.name).ok().and_then(|at| text_at(strings, at));
            if symbol.kind() == elf::STT_NOTYPE
                && let Some(content) = name.and_then(marked)
            {
                marks.push((symbol.value, content));
            }
        }
    }
    let mut marks = if marks.is_empty() { functions } else { marks };
    marks.sort_by_key(|(address, _)| *address);
    marks
}

/// Whether the assembler of a machine leaves marks.
pub(super) fn has_marks(machine: u16) -> bool {
    matches!(machine, elf::EM_ARM | elf::EM_AARCH64 | elf::EM_RISCV)
}

fn marked(name: &[u8]) -> Option<Content> {
    match name {
        [b'$', b'd'] | [b'$', b'd', b'.', ..] => Some(Content::Data),
        [b'$', b't'] | [b'$', b't', b'.', ..] => Some(Content::Thumb),
        [b'$', b'a'] | [b'$', b'a', b'.', ..] => Some(Content::Code),
        [b'$', b'x', ..] => Some(Content::Code),
        _ => None,
    }
}
