//! The lines of a listing as they stand in their files.

use super::{LineId, Listing};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Lines without code that are shown between lines with code.
const MOST_BETWEEN: u32 = 6;
/// Lines that are shown before the first.
const BEFORE: u32 = 2;

/// Lines of one file that belong together: of the listed function, or of one that is inlined into it.
#[derive(Clone, Debug)]
pub struct SourceBlock {
    /// Index of the file in [`Listing::files`].
    pub file: usize,
    /// The function, if it is only there because that is inlined.
    pub inlined: Option<Arc<str>>,
    /// The stretches of lines that are worth showing, ascending.
    pub stretches: Vec<RangeInclusive<u32>>,
    /// The lines with code.
    lines: BTreeMap<u32, LineId>,
}

impl SourceBlock {
    /// The line with this number, if it has code.
    pub fn line(&self, number: u32) -> Option<LineId> {
        self.lines.get(&number).copied()
    }

    /// All lines with code.
    pub fn lines(&self) -> impl Iterator<Item = (u32, LineId)> {
        self.lines.iter().map(|(number, id)| (*number, *id))
    }
}

impl Listing {
    /// The lines by function, the listed one first, then what is inlined, the hottest first. Lines that are not known are in none.
    pub fn source_blocks(&self) -> Vec<SourceBlock> {
        self.blocks(|inlined| inlined.cloned())
    }

    /// The lines by file, the hottest first.
    pub fn source_files(&self) -> Vec<SourceBlock> {
        self.blocks(|_| None)
    }

    /// The lines of which no number is known, or not even the file.
    pub fn unknown_lines(&self) -> impl Iterator<Item = LineId> {
        let lines = (0..self.lines.len()).map(LineId::new);
        lines.filter(|id| self.line(*id).is_some_and(|line| line.file.is_none() || line.line == 0))
    }

    fn blocks(&self, function: impl Fn(Option<&Arc<str>>) -> Option<Arc<str>>) -> Vec<SourceBlock> {
        let mut blocks: Vec<SourceBlock> = Vec::new();
        let mut known: FxHashMap<(usize, Option<Arc<str>>), usize> = FxHashMap::default();
        for (id, line) in (0..).map(LineId::new).zip(&self.lines) {
            let Some(file) = line.file.filter(|_| line.line > 0) else { continue };
            let inlined = function(line.inlined.as_ref());
            let number = *known.entry((file, inlined.clone())).or_insert(blocks.len());
            if number == blocks.len() {
                blocks.push(SourceBlock { file, inlined, stretches: Vec::new(), lines: BTreeMap::new() });
            }
            if let Some(block) = blocks.get_mut(number) {
                block.lines.insert(line.line, id);
            }
        }
        blocks.iter_mut().for_each(|block| block.stretches = stretches(block.lines.keys().copied()));
        let own = |block: &SourceBlock| {
            let lines = block.lines.values().filter_map(|id| self.line(*id));
            let sums = lines.map(|line| line.numbers.iter().map(|numbers| numbers.own.samples).sum::<u64>());
            sums.sum::<u64>()
        };
        let path = |block: &SourceBlock| self.files.get(block.file).map(|file| Arc::clone(&file.path));
        blocks.sort_by_cached_key(|block| {
            let is_inlined = block.inlined.is_some();
            (is_inlined, std::cmp::Reverse(own(block)), path(block), block.inlined.clone())
        });
        blocks
    }
}

/// The lines, and those between them where these are few.
fn stretches(lines: impl Iterator<Item = u32>) -> Vec<RangeInclusive<u32>> {
    let mut stretches: Vec<RangeInclusive<u32>> = Vec::new();
    for line in lines {
        match stretches.last_mut() {
            Some(last) if line - *last.end() <= MOST_BETWEEN + 1 => *last = *last.start()..=line,
            _ => {
                let least = stretches.last().map_or(1, |last| last.end() + 1);
                stretches.push(line.saturating_sub(BEFORE).max(least)..=line);
            }
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines_between_are_shown_where_they_are_few() {
        let stretches = super::stretches([2, 9, 17, 40].into_iter());
        assert_eq!(stretches, [1..=9, 15..=17, 38..=40]);
    }
}
