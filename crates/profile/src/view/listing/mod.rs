//! Listings: functions as code, each instruction and each line of source with what samples say of it.
//!
//! What is listed is chosen among what samples were taken in ([`Targets`]). The instructions of a target, and the lines that they
//! come from, are not in the profile: whoever reads binaries gives them ([`PieceCode`]). [`Listing::new`] puts both together.
//!
//! Every sample of a target is on exactly one instruction and on exactly one line. A sample at an address where no instruction begins
//! is on an entry of its own, and so is one whose line is not known. The line is that of the innermost inlined function; the lines
//! of the calls around it count the sample among what they include.

mod arrows;
mod blocks;
mod code;
mod count;
mod lines;
mod pattern;
mod place_sums;
mod rows;
mod source;
mod targets;

pub use arrows::{Arrow, Arrows};
pub use blocks::{Block, BlockRuns, BranchLog, BranchRuns};
pub use code::{CodeLevel, CodeLines, DataReference, Instruction, PieceCode};
pub use lines::{Line, LineId, SourceFile};
pub use pattern::Pattern;
pub use place_sums::PlaceSums;
pub use rows::{Row, RowLine};
pub use source::SourceBlock;
pub use targets::{Choice, Piece, Target, Targets};

use super::flame_tree::Sum;
use crate::names::FunctionId;
use crate::profile::Profile;
use indexmap::IndexMap;
use lines::LineTable;
use readperf_session::BinaryId;
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// What samples of one event say of an instruction or a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    /// Samples that were taken there.
    pub own: Sum,
    /// Samples that were taken there or in what was called or inlined there, each once. Calls count only where stacks were kept.
    pub total: Sum,
}

/// A function as code.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The function.
    pub function: FunctionId,
    /// Whether it is listed where it is inlined into other functions.
    pub inlined: bool,
    /// What its samples add up to, for each event.
    pub numbers: Vec<Numbers>,
    /// Its pieces of code.
    pub parts: Vec<Part>,
    /// The lines that its code comes from, and those that samples were taken on.
    pub lines: Vec<Line>,
    /// The source files of the lines, as the compiler recorded them.
    pub files: Vec<SourceFile>,
}

/// A piece of code in one stretch.
#[derive(Clone, Debug)]
pub struct Part {
    /// The binary.
    pub binary: Option<BinaryId>,
    /// The function whose symbol covers it: that into which the listed one is inlined, or the listed one itself.
    pub symbol: FunctionId,
    /// What is added to addresses to get those of the linker; wrapping.
    pub bias: u64,
    /// Its instructions, by address; of what is inlined only those that belong to it.
    pub instructions: Vec<InstructionRow>,
    /// Samples at addresses where no instruction begins, by address. Without code all samples are here.
    pub strays: Vec<Stray>,
    /// The jumps within it.
    pub arrows: Arrows,
    /// Its blocks between recorded branches, those that took most first.
    pub blocks: Vec<Block>,
    /// Why there are no instructions.
    pub no_code: Option<String>,
    /// What samples in it add up to, for each event.
    pub numbers: Vec<Numbers>,
}

/// An instruction, and what samples say of it.
#[derive(Clone, Debug)]
pub struct InstructionRow {
    /// The instruction.
    pub code: Instruction,
    /// Index of the instruction that it may jump to, if that is in this part.
    pub jumps_to: Option<u32>,
    /// The levels of source at it, the innermost inlined function first.
    pub levels: Arc<[Level]>,
    /// What samples say, for each event.
    pub numbers: Vec<Numbers>,
}

/// Samples at an address where no instruction begins.
#[derive(Clone, Debug)]
pub struct Stray {
    /// The address, in terms of the binary.
    pub address: u64,
    /// The levels of source at it, the innermost inlined function first.
    pub levels: Arc<[Level]>,
    /// What samples say, for each event.
    pub numbers: Vec<Numbers>,
}

/// One level of source at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Level {
    /// The line.
    pub line: LineId,
    /// The name of the function that the line is in, if it is inlined here.
    pub inlined: Option<Arc<str>>,
}

/// How listings are counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct ListingOptions {
    /// Whether calls count what they call: stacks have to be kept.
    pub calls: bool,
}

impl Listing {
    /// The listing of a target. `codes` has the code of each of its pieces, in their order.
    pub fn new(
        profile: &Profile,
        target: &Target,
        sums: &PlaceSums,
        codes: Vec<PieceCode>,
        options: ListingOptions,
    ) -> Listing {
        let mut table = LineTable::new(sums.events());
        let whose = target.inlined.then(|| profile.function(target.function)).flatten();
        let mut parts: Vec<Part> = Vec::with_capacity(codes.len());
        let mut places = IndexMap::with_hasher(FxBuildHasher);
        for (piece, code) in target.pieces.iter().zip(codes) {
            let number = parts.len();
            parts.push(count::part(profile, piece, code, whose, &mut table, number, &mut places));
        }
        let mut listing = Listing {
            function: target.function,
            inlined: target.inlined,
            numbers: vec![Numbers::default(); sums.events()],
            parts,
            lines: Vec::new(),
            files: Vec::new(),
        };
        (listing.lines, listing.files) = table.finish();
        listing.count(profile, sums, &places, options);
        listing
    }

    /// A line by its number.
    pub fn line(&self, id: LineId) -> Option<&Line> {
        self.lines.get(id.index())
    }

    /// The lines that samples were taken on, the hottest first, by the highest share of an event among the listed samples.
    pub fn hottest_lines(&self) -> Vec<LineId> {
        let whole: Vec<u64> = self.numbers.iter().map(|numbers| numbers.own.period).collect();
        let share = |line: &Line| {
            let shares =
                line.numbers.iter().zip(&whole).map(|(here, whole)| percent(here.own.period, *whole));
            shares.fold(0.0, f64::max)
        };
        let lines = self.lines.iter().enumerate();
        let sampled = lines.filter(|(_, line)| line.numbers.iter().any(|numbers| numbers.own.samples > 0));
        let mut shares: Vec<(f64, LineId)> =
            sampled.map(|(nr, line)| (share(line), LineId::new(nr))).collect();
        shares.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        shares.into_iter().map(|(_, id)| id).collect()
    }

    /// The file of a line, as the compiler recorded it.
    pub fn file_of(&self, line: &Line) -> Option<&str> {
        Some(&self.files.get(line.file?)?.path)
    }
}

/// A share in percent.
fn percent(part: u64, whole: u64) -> f64 {
    // Periods beyond 2^53 lose digits that a share does not show.
    #[allow(clippy::cast_precision_loss)]
    let percent = part as f64 * 100.0 / whole.max(1) as f64;
    percent
}
