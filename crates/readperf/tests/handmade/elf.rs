//! Small ELF files for x86-64, put together byte by byte, without any code of readperf.
//!
//! ABI: System V ABI, "Object Files", for 64 bits.

/// A file with code.
#[derive(Clone, Default)]
pub(crate) struct Elf<'e> {
    /// Whether it is not linked yet, as a kernel module: it has sections, and no segment.
    pub(crate) is_module: bool,
    /// The address that the linker gave to the code.
    pub(crate) address: u64,
    pub(crate) code: &'e [u8],
    /// Functions: name, where in the code, size.
    pub(crate) functions: &'e [(&'e str, u64, u64)],
    pub(crate) build_id: Option<[u8; 20]>,
    /// The content of `.eh_frame`, which lies behind the code.
    pub(crate) eh_frame: &'e [u8],
}

/// Where the code lies in the file.
pub(crate) const CODE_AT: u64 = 0x200;

/// A section: name, kind, flags, address, link, content.
type Section = (&'static str, u32, u64, u64, u32, Vec<u8>);

impl Elf<'_> {
    /// The content of `.eh_frame` for functions in the code, each from its beginning up to its end: how a stack is unwound there, the
    /// same for all.
    pub(crate) fn unwinding_table(code: &[u8], functions: &[std::ops::Range<u32>]) -> Vec<u8> {
        let mut table = Vec::new();
        let entry = |table: &mut Vec<u8>, size: u32, content: &[u8]| {
            table.extend([&size.to_le_bytes(), content].concat());
            table.resize(table.len() + size as usize - content.len(), 0);
        };
        // Version 1, addresses as distances of four bytes; CFA is rsp + 8, where the return address is below it.
        let common = b"\0\0\0\0\x01zR\0\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01";
        entry(&mut table, 20, common);
        let table_at = (code.len() as u32).next_multiple_of(8);
        for function in functions {
            let at = table.len() as u32;
            let distance = function.start.wrapping_sub(table_at + at + 8);
            let content = [at + 4, distance, function.end - function.start];
            let content: Vec<u8> = content.iter().flat_map(|word| word.to_le_bytes()).collect();
            entry(&mut table, 20, &content);
        }
        table.resize(table.len() + 4, 0);
        table
    }

    /// The file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let (strings, symbols) = self.symbols();
        let sections = self.sections(strings, symbols);
        let mut file = vec![0; CODE_AT as usize];
        let mut names = vec![0];
        let mut heads = vec![0; 64];
        for (name, kind, flags, address, link, content) in &sections {
            // The content of `.shstrtab` is not known before.
            let content = if *name == ".shstrtab" { all_names(&sections) } else { content.clone() };
            let offset = file.len() as u64;
            heads.extend([(names.len() as u32).to_le_bytes(), kind.to_le_bytes()].concat());
            for word in [*flags, *address, offset, content.len() as u64] {
                heads.extend(word.to_le_bytes());
            }
            let (info, entry_size) = if *kind == 2 { (1u32, 24u64) } else { (0, 0) };
            heads.extend([link.to_le_bytes(), info.to_le_bytes()].concat());
            heads.extend([8u64.to_le_bytes(), entry_size.to_le_bytes()].concat());
            names.extend([name.as_bytes(), &[0]].concat());
            file.extend(content);
            file.resize(file.len().next_multiple_of(8), 0);
        }
        let heads_at = file.len() as u64;
        file.extend(heads);
        self.head(&mut file, heads_at, sections.len() as u16 + 1);
        file
    }

    fn sections(&self, strings: Vec<u8>, symbols: Vec<u8>) -> Vec<Section> {
        let eh_frame_at = self.address + (self.code.len() as u64).next_multiple_of(8);
        let note = self.build_id.map_or(Vec::new(), |id| {
            let words: Vec<u8> = [4u32, 20, 3].iter().flat_map(|word| word.to_le_bytes()).collect();
            [&words[..], b"GNU\0", &id].concat()
        });
        vec![
            (".text", 1, 6, self.address, 0, self.code.to_vec()),
            (".eh_frame", 1, 2, eh_frame_at, 0, self.eh_frame.to_vec()),
            (".note.gnu.build-id", 7, 2, 0, 0, note),
            (".symtab", 2, 0, 0, 5, symbols),
            (".strtab", 3, 0, 0, 0, strings),
            (".shstrtab", 3, 0, 0, 0, Vec::new()),
        ]
    }

    /// The content of `.strtab` and `.symtab`; nothing in them if there are no functions.
    fn symbols(&self) -> (Vec<u8>, Vec<u8>) {
        let (mut strings, mut symbols) = (vec![0], Vec::new());
        for (name, at, size) in self.functions {
            if symbols.is_empty() {
                symbols.resize(24, 0);
            }
            symbols.extend((strings.len() as u32).to_le_bytes());
            // Global, a function, in the first section.
            symbols.extend([0x12, 0, 1, 0]);
            let base = if self.is_module { 0 } else { self.address };
            symbols.extend([(base + at).to_le_bytes(), size.to_le_bytes()].concat());
            strings.extend([name.as_bytes(), &[0]].concat());
        }
        (strings, symbols)
    }

    fn head(&self, file: &mut [u8], heads_at: u64, heads: u16) {
        let mut head = b"\x7fELF\x02\x01\x01".to_vec();
        head.resize(16, 0);
        let (kind, segments) = if self.is_module { (1u16, 0u16) } else { (2, 1) };
        [kind, 62, 1, 0].iter().for_each(|half| head.extend(half.to_le_bytes()));
        [0, 64 * u64::from(segments), heads_at].iter().for_each(|word| head.extend(word.to_le_bytes()));
        [0, 0, 64, 56, segments, 64, heads, heads - 1]
            .iter()
            .for_each(|half| head.extend(half.to_le_bytes()));
        if !self.is_module {
            // PT_LOAD, readable and executable: the code and what is behind it.
            [1u32, 5].iter().for_each(|word| head.extend(word.to_le_bytes()));
            let size = (self.code.len() as u64).next_multiple_of(8) + self.eh_frame.len() as u64;
            for word in [CODE_AT, self.address, self.address, size, size, 8] {
                head.extend(word.to_le_bytes());
            }
        }
        file[..head.len()].copy_from_slice(&head);
    }
}

fn all_names(sections: &[Section]) -> Vec<u8> {
    let names = sections.iter().flat_map(|(name, ..)| [name.as_bytes(), &[0]].concat());
    std::iter::once(0).chain(names).collect()
}
