//! The levels of all stacks as numbers: each name once, each address looked at once.

use crate::export::Export;
use crate::export::strings::{Strings, ranks};
use indexmap::IndexSet;
use readperf_profile::view::flame_tree::{FlameLevel, FlameLevels, NO_LINE};
use readperf_profile::{Apart, CodeKind, FileId, Level, SampleRow, UniqueFrame};
use readperf_session::{CommId, ThreadId};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::fmt::Write as _;

/// What a level is besides its label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Variant {
    /// The label.
    pub label: u32,
    /// What kind of code; nothing for what is no code, as the thread that a stack stands on.
    pub kind: Option<CodeKind>,
    /// Whether the function is inlined there.
    pub inlined: bool,
    /// The name of the binary: index in [`Labels::names`].
    pub binary: u32,
}

/// Names of levels. After [`Labels::finish`] labels are in the order of their names, and variants in that of what they are.
#[derive(Debug)]
pub struct Labels {
    names: Strings,
    variants: IndexSet<Variant, FxBuildHasher>,
    /// Lines of source, each once; their numbers begin with 1.
    lines: Strings,
    /// How a name is written.
    spell: fn(&str, &mut String),
    /// Whether marks of the kind of code belong to the name.
    annotate: bool,
}

/// The levels and roots of one profile.
#[derive(Debug, Default)]
pub struct Numbered {
    /// The levels at each address.
    pub levels: FlameLevels,
    roots: FxHashMap<(CommId, Option<ThreadId>), FlameLevel>,
}

impl Numbered {
    /// What the stack of a row stands on.
    pub fn root(&self, row: &SampleRow) -> FlameLevel {
        self.roots.get(&(row.comm, row.thread)).copied().unwrap_or(FlameLevel {
            label: 0,
            variant: 0,
            line: NO_LINE,
        })
    }
}

impl Labels {
    /// No labels yet. `spell` writes a name as the format wants it.
    pub fn new(annotate: bool, spell: fn(&str, &mut String)) -> Labels {
        Labels {
            names: Strings::default(),
            variants: IndexSet::default(),
            lines: Strings::default(),
            spell,
            annotate,
        }
    }

    /// The name of a label, and of a binary.
    pub fn name(&self, label: u32) -> &str {
        self.names.get(label).unwrap_or_default()
    }

    /// All names, by label.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter()
    }

    /// What a level is.
    pub fn variant(&self, variant: u32) -> Option<&Variant> {
        self.variants.get_index(variant as usize)
    }

    /// A line of source: file and line; nothing where it is not known.
    pub fn line(&self, line: u32) -> &str {
        line.checked_sub(1).and_then(|index| self.lines.get(index)).unwrap_or_default()
    }

    /// Numbers everything in a profile. `root` writes what the stack of a row stands on.
    pub fn take_in(
        &mut self,
        export: &Export<'_>,
        event: usize,
        mut root: impl FnMut(&Export<'_>, &SampleRow, &mut String),
    ) -> Numbered {
        let mut numbered = Numbered::default();
        let mut text = String::new();
        for row in export.profile.rows_of(event) {
            numbered.roots.entry((row.comm, row.thread)).or_insert_with(|| {
                text.clear();
                root(export, &row, &mut text);
                self.level(&text, None, false, "")
            });
        }
        let table = export.frame_table(Apart { variants: true, ..Apart::default() });
        let frames: Vec<FlameLevel> =
            table.frames().iter().map(|frame| self.of_frame(export, frame, &mut text)).collect();
        let mut lines: FxHashMap<(FileId, u32), u32> = FxHashMap::default();
        for address in export.profile.addresses().ids() {
            let levels = table.at(address).iter().zip(export.levels_at(address)).rev();
            numbered.levels.push(levels.filter_map(|(frame, level)| {
                let line = self.line_of(export, &level, &mut lines);
                Some(FlameLevel { line, ..*frames.get(frame.index())? })
            }));
        }
        numbered
    }

    fn of_frame(&mut self, export: &Export<'_>, frame: &UniqueFrame, text: &mut String) -> FlameLevel {
        let UniqueFrame { first, kind, .. } = frame;
        text.clear();
        (self.spell)(&export.label(frame), text);
        if self.annotate {
            text.push_str(mark(*kind, first.inlined));
        }
        let mut binary = String::new();
        (self.spell)(&export.binary_name(first.address), &mut binary);
        self.level(text, Some(*kind), first.inlined, &binary)
    }

    fn level(&mut self, name: &str, kind: Option<CodeKind>, inlined: bool, binary: &str) -> FlameLevel {
        let label = self.names.number(name);
        let variant = Variant { label, kind, inlined, binary: self.names.number(binary) };
        let variant = u32::try_from(self.variants.insert_full(variant).0).unwrap_or(u32::MAX);
        FlameLevel { label, variant, line: NO_LINE }
    }

    fn line_of(
        &mut self,
        export: &Export<'_>,
        level: &Level,
        known: &mut FxHashMap<(FileId, u32), u32>,
    ) -> u32 {
        let Some(file) = level.file else { return NO_LINE };
        *known.entry((file, level.line)).or_insert_with(|| {
            let mut text = String::new();
            (self.spell)(export.profile.names().file(file).unwrap_or_default(), &mut text);
            if level.line > 0 {
                // Writing to a string does not fail.
                let _ = write!(text, ":{}", level.line);
            }
            self.lines.number(&text).saturating_add(1)
        })
    }

    /// Puts labels in the order of their names, and variants in that of what they are: then nothing depends on which was seen
    /// first.
    pub fn finish<'n>(&mut self, numbered: impl IntoIterator<Item = &'n mut Numbered>) {
        let rank = self.names.sort();
        let of = |table: &[u32], number: u32| table.get(number as usize).copied().unwrap_or(number);
        let variants = std::mem::take(&mut self.variants).into_iter();
        self.variants = variants
            .map(|variant| Variant {
                label: of(&rank, variant.label),
                binary: of(&rank, variant.binary),
                ..variant
            })
            .collect();
        let variant_rank = ranks(&self.variants);
        self.variants.sort_unstable();
        let number = |level: FlameLevel| FlameLevel {
            label: of(&rank, level.label),
            variant: of(&variant_rank, level.variant),
            line: level.line,
        };
        for numbered in numbered {
            numbered.levels.renumber(number);
            numbered.roots.values_mut().for_each(|root| *root = number(*root));
        }
    }
}

/// The marks of stackcollapse-perf.
pub(super) fn mark(kind: CodeKind, inlined: bool) -> &'static str {
    match kind {
        _ if inlined => "_[i]",
        CodeKind::Kernel => "_[k]",
        CodeKind::Jit => "_[j]",
        CodeKind::User | CodeKind::Unknown => "",
    }
}

/// Appends the ids of a row's thread to its name as stackcollapse-perf does: `-PID`, or `-PID/TID`.
pub fn push_ids(export: &Export<'_>, row: &SampleRow, text: &mut String) {
    if let (true, Some((pid, tid))) = (export.options.with_pid || export.options.with_tid, export.ids(row)) {
        // Writing to a string does not fail.
        let _ = match export.options.with_tid {
            true => write!(text, "-{pid}/{tid}"),
            false => write!(text, "-{pid}"),
        };
    }
}
