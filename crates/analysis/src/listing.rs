//! Functions of a profile as code: their instructions and lines are read from the binaries, and put together with the samples.

use crate::naming::Namer;
use crate::piece_code::Decoded;
use crate::subjects::Dumps;
use perffile::Metadata;
use readperf_code::{Disassembler, Syntax};
use readperf_profile::Profile;
use readperf_profile::view::listing::{
    CodeLines, Listing, ListingOptions, Piece, PieceCode, Target, Targets,
};
use readperf_session::{BinaryId, BinaryKind, Session};
use readperf_symbols::{AddressBatch, Extent, Files, FunctionCode, NoCode, Options, Subject, SymbolBatch};
use rustc_hash::FxHashMap;
use std::ops::Range;
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

/// Reads the code of functions of a profile. It keeps the binaries open that it was asked about.
#[derive(Debug)]
pub struct CodeReader<'r> {
    syntax: Syntax,
    options: ListingOptions,
    /// Asked for lines.
    lines: Namer<'r>,
    /// Asked for code, and for names alone.
    names: Namer<'r>,
    subjects: FxHashMap<BinaryId, Option<Subject>>,
    dumps: Dumps,
}

impl<'r> CodeReader<'r> {
    /// One that keeps what it opens in `files`, and asks `names` for code and names: what those of the profile were looked up with
    /// ([`analyse_keeping_names`](crate::analyse_keeping_names)).
    pub fn new(
        files: &'r Files,
        metadata: &Metadata,
        names: Namer<'r>,
        request: ListingRequest,
    ) -> CodeReader<'r> {
        let ListingRequest { symbols, syntax, options } = request;
        let with_lines = Options { lines: true, inlines: true, source_files: false, ..symbols };
        CodeReader {
            syntax,
            options,
            lines: Namer::new(files, with_lines, metadata),
            names,
            subjects: FxHashMap::default(),
            dumps: Dumps::default(),
        }
    }

    /// All that may be listed. Addresses without a name are put together by the unwinding tables of their binaries.
    pub fn targets<'p>(&mut self, profile: &'p Profile, session: &'p Session) -> Targets<'p> {
        let calls = self.options.calls;
        Targets::new(profile, session, calls, |binary, address| self.extent(session, binary, address))
    }

    /// The extent of the function at an address that no symbol covers, in terms of the binary.
    fn extent(&mut self, session: &Session, binary: BinaryId, address: u64) -> Option<Range<u64>> {
        let subject = self.subject(session, Some(binary))?.clone();
        let resolver = self.names.resolver(session);
        let code = resolver.function_code(&subject, address).ok()?;
        (code.extent != Extent::Unknown).then(|| code.start..code.end())
    }

    /// For each kernel that samples were taken in, what is added to addresses of it to get those of the linker; wrapping. A kernel is
    /// moved when it starts. Of other binaries [`linked_addresses`](crate::Request) tells it.
    pub fn kernel_biases(&mut self, profile: &Profile, session: &Session) -> FxHashMap<BinaryId, u64> {
        let mut biases: FxHashMap<BinaryId, u64> = FxHashMap::default();
        for code in profile.addresses().as_slice().iter() {
            let Some((id, binary)) = code.binary.and_then(|id| Some((id, session.binary(id)?))) else {
                continue;
            };
            let is_kernel = matches!(binary.kind, BinaryKind::Kernel { .. } | BinaryKind::GuestKernel { .. });
            if !is_kernel || biases.contains_key(&id) {
                continue;
            }
            let Some(subject) = self.subject(session, Some(id)).cloned() else { continue };
            let found = self.names.resolver(session).function_code(&subject, code.address);
            biases.insert(id, found.map_or(0, |code| code.linked.wrapping_sub(code.start)));
        }
        biases
    }

    /// What to ask the symbols about a binary.
    fn subject(&mut self, session: &Session, binary: Option<BinaryId>) -> Option<&Subject> {
        let CodeReader { names, subjects, dumps, .. } = self;
        let binary = binary?;
        subjects.entry(binary).or_insert_with(|| names.subject(session, binary, dumps)).as_ref()
    }

    /// The code of pieces, one answer for each.
    fn codes(&mut self, session: &Session, pieces: &[&Piece]) -> Vec<Result<FunctionCode, String>> {
        let subjects: Vec<Option<Subject>> =
            pieces.iter().map(|piece| self.subject(session, piece.binary).cloned()).collect();
        let wanted = subjects.iter().zip(pieces);
        let wanted: Vec<(&Subject, u64)> =
            wanted.filter_map(|(subject, piece)| Some((subject.as_ref()?, piece.address))).collect();
        let mut found = self.names.resolver(session).function_codes(&wanted).into_iter();
        let answer = |subject: &Option<Subject>| match subject {
            Some(_) => found.next().unwrap_or(Err(NoCode::NotDumped)).map_err(|why| told(&why)),
            None => Err("no mapping covers the address".to_owned()),
        };
        subjects.iter().map(answer).collect()
    }

    /// Lists functions, in their order. Each binary is asked once for all lines, and once for the names of what its code refers
    /// to.
    pub fn list(&mut self, targets: &Targets<'_>, chosen: &[Target]) -> Vec<Listing> {
        let (profile, session) = (targets.profile(), targets.session());
        let pieces: Vec<&Piece> = chosen.iter().flat_map(|target| &target.pieces).collect();
        let codes = self.codes(session, &pieces).into_iter().map(|code| {
            let code = code?;
            let disassembler = code.disassembler(self.syntax);
            Ok((code, disassembler))
        });
        let codes: Vec<Result<(FunctionCode, Disassembler), String>> = codes.collect();
        let decoded: Vec<Result<Decoded<'_>, String>> = codes
            .iter()
            .map(|code| match code {
                Ok((code, disassembler)) => Ok(Decoded::new(code, disassembler)),
                Err(why) => Err(why.clone()),
            })
            .collect();
        let code_of = |nr: usize| decoded.get(nr).and_then(|decoded| decoded.as_ref().ok());
        let CodeReader { lines, names, subjects, .. } = self;
        let lines = Answers::of(&pieces, subjects, lines, session, |nr, piece| {
            let places =
                piece.places.iter().filter_map(|place| Some(profile.addresses().get(*place)?.address));
            places.chain(code_of(nr).into_iter().flat_map(Decoded::addresses)).collect()
        });
        let referred = Answers::of(&pieces, subjects, names, session, |nr, _| {
            code_of(nr).map(Decoded::refers_to).unwrap_or_default()
        });
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
                Listing::new(profile, target, targets.sums(), codes, self.options)
            })
            .collect()
    }
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
        namer: &mut Namer<'_>,
        session: &readperf_session::Session,
        addresses: impl Fn(usize, &Piece) -> Vec<u64>,
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
        let asked = wanted.into_iter().filter(|(_, addresses)| !addresses.is_empty());
        let (binaries, batches): (Vec<BinaryId>, Vec<AddressBatch>) = asked
            .filter_map(|(id, addresses)| {
                let subject = subjects.get(&id)?.clone()?;
                Some((id, AddressBatch::new(subject, addresses)))
            })
            .unzip();
        let answers = namer.resolver(session).resolve(batches);
        Answers(binaries.into_iter().zip(answers.into_iter().map(Arc::new)).collect())
    }

    fn of_binary(&self, binary: Option<BinaryId>) -> Option<&Arc<SymbolBatch>> {
        self.0.get(&binary?)
    }
}
