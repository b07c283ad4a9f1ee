//! Functions of a profile as code: their instructions and lines are read from the binaries, and put together with the samples.

use crate::analyse::Analysis;
use crate::naming::Namer;
use crate::piece_code::{Decoded, RawCode, raw_code};
use crate::subjects::Dumps;
use readperf_code::Syntax;
use readperf_profile::view::listing::{
    CodeLines, Listing, ListingOptions, Piece, PieceCode, Target, Targets,
};
use readperf_session::BinaryId;
use readperf_symbols::{AddressBatch, Files, Options, Subject, SymbolBatch};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is wanted of listings.
#[derive(Clone, Debug, Default)]
pub struct ListingRequest {
    /// Where binaries are.
    pub symbols: Options,
    /// How assembly is written.
    pub syntax: Syntax,
    /// How samples are counted.
    pub options: ListingOptions,
}

/// Lists functions of a profile, in their order.
///
/// Each binary is asked once for all lines, and once for the names of what its code refers to.
pub fn list(
    analysis: &Analysis,
    targets: &Targets<'_>,
    chosen: &[Target],
    request: &ListingRequest,
) -> Vec<Listing> {
    let Analysis { profile, session, metadata, .. } = analysis;
    let pieces: Vec<&Piece> = chosen.iter().flat_map(|target| &target.pieces).collect();
    let files = Files::new();
    let with_lines = Options { lines: true, inlines: true, source_files: false, ..request.symbols.clone() };
    let without = Options { lines: false, inlines: false, cache: None, ..with_lines.clone() };
    let mut namer = Namer::new(&files, with_lines, metadata);
    let mut dumps = Dumps::default();
    let mut subjects: FxHashMap<BinaryId, Option<Subject>> = FxHashMap::default();
    for binary in pieces.iter().filter_map(|piece| piece.binary) {
        subjects.entry(binary).or_insert_with(|| namer.subject(session, binary, &mut dumps));
    }
    let subject_of = |piece: &Piece| subjects.get(&piece.binary?)?.as_ref();
    let resolver = namer.resolver(session);
    let raw: Vec<Result<RawCode, String>> = pieces
        .iter()
        .map(|piece| {
            let symbol = profile.function(piece.symbol);
            raw_code(resolver, subject_of(piece), symbol, piece.address)
        })
        .collect();
    let decoded: Vec<Option<Decoded<'_>>> =
        raw.iter().map(|raw| Some(Decoded::new(raw.as_ref().ok()?, request.syntax))).collect();
    let places = |piece: &Piece| -> Vec<u64> {
        piece.places.iter().filter_map(|place| Some(profile.addresses().get(*place)?.address)).collect()
    };
    let lines = Answers::of(
        &pieces,
        &subjects,
        |nr, piece| {
            let instructions = decoded.get(nr).and_then(Option::as_ref).map(Decoded::addresses);
            places(piece).into_iter().chain(instructions.into_iter().flatten()).collect()
        },
        |batches| resolver.resolve(batches),
    );
    let mut names = Namer::new(&files, without, metadata);
    let referred = Answers::of(
        &pieces,
        &subjects,
        |nr, _| decoded.get(nr).and_then(Option::as_ref).map(Decoded::refers_to).unwrap_or_default(),
        |batches| names.resolver(session).resolve(batches),
    );
    let mut codes = pieces.iter().zip(&raw).zip(&decoded).map(|((piece, raw), decoded)| PieceCode {
        bias: decoded.as_ref().map_or(0, |decoded| decoded.bias),
        instructions: match (raw, decoded) {
            (Ok(_), Some(decoded)) => Ok(decoded.instructions(referred.of_binary(piece.binary))),
            (Err(reason), _) => Err(reason.clone()),
            (Ok(_), None) => Ok(Vec::new()),
        },
        lines: CodeLines::new(lines.of_binary(piece.binary).cloned()),
    });
    chosen
        .iter()
        .map(|target| {
            let codes = codes.by_ref().take(target.pieces.len()).collect();
            Listing::new(profile, target, targets.sums(), codes, request.options)
        })
        .collect()
}

/// What was answered about addresses of binaries.
struct Answers(FxHashMap<BinaryId, Arc<SymbolBatch>>);

impl Answers {
    /// Asks about addresses of each piece, given its number: all of a binary at once.
    fn of(
        pieces: &[&Piece],
        subjects: &FxHashMap<BinaryId, Option<Subject>>,
        addresses: impl Fn(usize, &Piece) -> Vec<u64>,
        resolve: impl FnOnce(Vec<AddressBatch>) -> Vec<SymbolBatch>,
    ) -> Answers {
        let mut wanted: Vec<(BinaryId, Vec<u64>)> = Vec::new();
        for (nr, piece) in pieces.iter().enumerate() {
            let Some(binary) = piece.binary else { continue };
            let more = addresses(nr, piece);
            match wanted.iter_mut().find(|(known, _)| *known == binary) {
                Some((_, all)) => all.extend(more),
                None => wanted.push((binary, more)),
            }
        }
        let (binaries, batches): (Vec<BinaryId>, Vec<AddressBatch>) = wanted
            .into_iter()
            .filter(|(_, addresses)| !addresses.is_empty())
            .filter_map(|(id, addresses)| {
                let subject = subjects.get(&id)?.clone()?;
                Some((id, AddressBatch::new(subject, addresses)))
            })
            .unzip();
        Answers(binaries.into_iter().zip(resolve(batches).into_iter().map(Arc::new)).collect())
    }

    fn of_binary(&self, binary: Option<BinaryId>) -> Option<&Arc<SymbolBatch>> {
        self.0.get(&binary?)
    }
}
