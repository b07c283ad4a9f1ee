//! What lines wait for: the names of their places, and source text.

use crate::source_lines::SourceLines;
use readperf::Questions;
use readperf::output::script::{Draft, Fillings};
use readperf::profile::{Codes, Names, NewBinaries, NewPlaces};
use readperf::session::{Binary, BinaryId};
use readperf::symbols::Resolver;
use rustc_hash::FxHashMap;

/// Places that came since the last time, with all that is needed to name and show them: it can go to another thread.
#[derive(Debug)]
pub(super) struct Unnamed {
    /// How many came before; none at first, and when they are numbered anew.
    pub(super) before: usize,
    pub(super) codes: Codes,
    pub(super) questions: Questions,
    /// Those of the places, as they are known by now.
    pub(super) binaries: FxHashMap<BinaryId, Binary>,
}

/// Names places, and makes what goes into the gaps of drafts.
pub(super) struct Naming<'f> {
    pub(super) resolver: Resolver<'f>,
    pub(super) names: Names,
    pub(super) fillings: Fillings,
    pub(super) sources: SourceLines,
}

impl Naming<'_> {
    /// Names places.
    pub(super) fn learn(&mut self, unnamed: Unnamed) {
        let Unnamed { before, codes, questions, binaries } = unnamed;
        if before == 0 {
            self.names = Names::default();
            self.fillings.forget();
        }
        if codes.is_empty() {
            return;
        }
        let answers = questions.answers(&mut self.resolver);
        self.names.learn(codes.as_slice(), answers);
        let (codes, binaries, names) = (codes.as_slice(), NewBinaries::Some(&binaries), &self.names);
        self.fillings.learn(&NewPlaces { before, codes, binaries, names });
    }
}

/// Puts the source text into drafts, if it is shown: each depends on the one before of its thread.
pub(super) fn fill_in_sources(sources: &mut SourceLines, names: &Names, drafts: &mut [Draft]) {
    for gap in drafts.iter_mut().flat_map(Draft::source_gaps) {
        if let Some((text, line)) = sources.next(names, gap.tid, gap.place) {
            gap.fill(&text, line);
        }
    }
}
