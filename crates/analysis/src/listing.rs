//! Functions of a profile as code: their instructions and lines are read from the binaries, and put together with the samples.

use crate::analyse::Analysis;
use crate::naming::Namer;
use crate::piece_code::Decoded;
use crate::subjects::Dumps;
use readperf_code::{Disassembler, Syntax};
use readperf_profile::view::listing::{
    CodeLines, Listing, ListingOptions, Piece, PieceCode, Target, Targets,
};
use readperf_session::BinaryId;
use readperf_symbols::{AddressBatch, Files, FunctionCode, NoCode, Options, Subject, SymbolBatch};
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
    let mut names = Namer::new(&files, without, metadata);
    let names = names.resolver(session);
    let codes: Vec<Result<FunctionCode, NoCode>> = pieces
        .iter()
        .map(|piece| match subject_of(piece) {
            Some(subject) => names.function_code(subject, piece.address),
            None => Err(NoCode::NotDumped),
        })
        .collect();
    let with_tools: Vec<Result<(&FunctionCode, Disassembler), &NoCode>> = codes
        .iter()
        .map(|code| code.as_ref().map(|code| (code, code.disassembler(request.syntax))))
        .collect();
    let decoded: Vec<Result<Decoded<'_>, String>> = with_tools
        .iter()
        .map(|code| match code {
            Ok((code, disassembler)) => Ok(Decoded::new(code, disassembler)),
            Err(why) => Err(told(why)),
        })
        .collect();
    let code_of = |nr: usize| decoded.get(nr).and_then(|decoded| decoded.as_ref().ok());
    let places = |piece: &Piece| -> Vec<u64> {
        piece.places.iter().filter_map(|place| Some(profile.addresses().get(*place)?.address)).collect()
    };
    let lines = Answers::of(
        &pieces,
        &subjects,
        |nr, piece| {
            places(piece).into_iter().chain(code_of(nr).into_iter().flat_map(Decoded::addresses)).collect()
        },
        |batches| namer.resolver(session).resolve(batches),
    );
    let referred = Answers::of(
        &pieces,
        &subjects,
        |nr, _| code_of(nr).map(Decoded::refers_to).unwrap_or_default(),
        |batches| names.resolve(batches),
    );
    let mut codes = pieces.iter().zip(&decoded).map(|(piece, decoded)| PieceCode {
        bias: decoded.as_ref().map_or(0, Decoded::bias),
        instructions: match decoded {
            Ok(decoded) => Ok(decoded.instructions(referred.of_binary(piece.binary).map(Arc::as_ref))),
            Err(reason) => Err(reason.clone()),
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

/// Why there is no code, and what can be done about it.
fn told(why: &NoCode) -> String {
    match why.remedy() {
        Some(remedy) => format!("{why}: {remedy}"),
        None => why.to_string(),
    }
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
