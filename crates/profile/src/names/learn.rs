//! The answers about names are taken in: the one place where the answer of the symbols becomes functions, frames and files.

use super::functions::{CauseId, Functions};
use super::levels::Levels;
use super::{BinaryPlaces, FileId, Frame, FunctionId, Names};
use crate::codes::CodesSlice;
use readperf_session::{BinaryId, CodeAddress, CpuMode};
use readperf_symbols::{Symbol, SymbolBatch};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Where no answer is.
const NO_ANSWER: u32 = u32::MAX;

impl Names {
    /// Learns the addresses that follow those that are known. What nobody answered about stays without a name.
    pub fn learn(&mut self, new: CodesSlice<'_>, answers: Vec<(BinaryPlaces, SymbolBatch)>) {
        self.is_of_pieces = !self.is_empty();
        // For each place the number of the answer, and its number there.
        let mut found: Vec<(u32, u32)> = vec![(NO_ANSWER, 0); new.len()];
        let mut numbered = Vec::with_capacity(answers.len());
        for (of_binary, (asked, answer)) in (0u32..).zip(answers) {
            numbered.push(self.take_in(asked.binary, answer));
            for (place, nr) in asked.places {
                if let Some(found) = found.get_mut(place as usize) {
                    *found = (of_binary, nr);
                }
            }
        }
        let not_answered = new.iter().zip(&found).filter(|(_, (answer, _))| *answer == NO_ANSWER);
        let mut not_answered = NotAnswered::new(not_answered.map(|(code, _)| code));
        // Most have no name.
        let Names { functions, levels, .. } = self;
        let functions = Arc::make_mut(functions);
        functions.reserve(new.len());
        levels.reserve(new.len());
        let mut outside = None;
        for (code, (of_binary, nr)) in new.iter().zip(found) {
            match numbered.get_mut(of_binary as usize) {
                Some(numbered) => numbered.name(&code, nr as usize, functions, levels),
                None => {
                    let function = not_answered.function_of(&code, || {
                        let cause = match code.binary {
                            Some(_) => functions.cause(code.binary, NOT_LOOKED_UP),
                            None => *outside.get_or_insert_with(|| functions.cause(None, OUTSIDE)),
                        };
                        functions.unnamed(code.address, cause)
                    });
                    levels.push(function, []);
                }
            }
        }
    }

    /// Gives the functions and files of an answer their numbers. What it holds of them goes over, and the rest is let go.
    fn take_in(&mut self, binary: BinaryId, mut answer: SymbolBatch) -> Numbered {
        let addresses = std::mem::take(&mut answer.addresses).len();
        let is_inlined = complete(&mut answer, addresses);
        let symbols = std::mem::take(&mut answer.symbols).into_iter();
        let functions = symbols.map(|symbol| self.functions_mut().of_symbol(binary, symbol)).collect();
        let names = std::mem::take(&mut answer.functions).into_iter();
        let inlined = names.zip(is_inlined);
        let inlined =
            inlined.map(|(name, is)| is.then(|| self.functions_mut().inlined(binary, name))).collect();
        let files = std::mem::take(&mut answer.files).into_iter();
        let files = files.map(|file| FileId::new(self.files.insert_full(file).0)).collect();
        let causes = answer.reasons().iter().map(|reason| {
            let words = reason.to_string();
            let number = self.functions_mut().cause(Some(binary), &words);
            if let Some(remedy) = reason.remedy() {
                self.remedies.insert(words, remedy.into_owned());
            }
            number
        });
        let causes = causes.collect();
        Numbered { answer, functions, inlined, files, causes, unnamed: vec![None; addresses] }
    }
}

/// An answer whose functions and files have their numbers, and gave their names away.
struct Numbered {
    answer: SymbolBatch,
    /// Of its symbols.
    functions: Vec<FunctionId>,
    /// Of the functions in its frames; of those that are only the outermost level, which has the symbol's name, none.
    inlined: Vec<Option<FunctionId>>,
    files: Vec<FileId>,
    /// Why something of its binary has no name.
    causes: Vec<CauseId>,
    /// For each address the function that stands for it, if it has no name and one was made.
    unnamed: Vec<Option<FunctionId>>,
}

impl Numbered {
    /// Names the next place, whose address has this index in the answer.
    fn name(&mut self, code: &CodeAddress, nr: usize, functions: &mut Functions, levels: &mut Levels) {
        let covered = self.answer.symbol(nr).ok();
        let function = covered.and_then(|symbol| self.functions.get(symbol.index()).copied());
        // Places at one address may differ in where it was mapped; without a name it is one function all the same.
        let known = || self.unnamed.get(nr).copied().flatten();
        let function = function.or_else(known).unwrap_or_else(|| {
            let cause = self.answer.reason_index(nr).and_then(|index| self.causes.get(index));
            let cause = cause.copied().unwrap_or_else(|| functions.cause(code.binary, NOT_LOOKED_UP));
            let function = functions.unnamed(code.address, cause);
            if let Some(slot) = self.unnamed.get_mut(nr) {
                *slot = Some(function);
            }
            function
        });
        let frames = self.answer.frames(nr);
        let of_frames = frames.iter().enumerate().map(|(level, frame)| {
            // The outermost level is the function that the symbol names.
            let is_symbol = covered.is_some() && level + 1 == frames.len();
            let inlined = frame.function.filter(|_| !is_symbol);
            let inlined = inlined.and_then(|id| self.inlined.get(id.index()).copied().flatten());
            let file = frame.file.and_then(|id| self.files.get(id.index()).copied());
            Frame { function: inlined.unwrap_or(function), file, line: frame.line }
        });
        levels.push(function, of_frames);
    }
}

/// Completes the source files of an answer's symbols, and says of each function in its frames whether code of it is inlined. A
/// function's source file is the one in which it is written or, where only lines are known, that of its outermost frame at the
/// lowest of the addresses that has one.
fn complete(answer: &mut SymbolBatch, addresses: usize) -> Vec<bool> {
    let mut symbols = std::mem::take(&mut answer.symbols);
    let mut is_inlined = vec![false; answer.functions.len()];
    for nr in 0..addresses {
        let covered = answer.symbol(nr).ok();
        let frames = answer.frames(nr);
        let symbol = covered.and_then(|symbol| symbols.get_mut(symbol.index()));
        let file = frames.last().and_then(|frame| answer.files.get(frame.file?.index()));
        if let (Some(Symbol { source_file: source @ None, .. }), Some(file)) = (symbol, file) {
            *source = Some(Arc::clone(file));
        }
        let inlined = frames.get(..frames.len() - usize::from(covered.is_some() && !frames.is_empty()));
        for function in inlined.unwrap_or_default().iter().filter_map(|frame| frame.function) {
            if let Some(is_inlined) = is_inlined.get_mut(function.index()) {
                *is_inlined = true;
            }
        }
    }
    answer.symbols = symbols;
    is_inlined
}

/// What stands for places that nobody answered about: places may differ in the mode of the CPU alone.
struct NotAnswered {
    /// The function of each that is not [usual](is_usual), by binary and address, once there is one.
    functions: FxHashMap<(Option<BinaryId>, u64), Option<FunctionId>>,
}

impl NotAnswered {
    fn new(places: impl Iterator<Item = CodeAddress>) -> NotAnswered {
        let others = places.filter(|code| !is_usual(code));
        NotAnswered { functions: others.map(|code| ((code.binary, code.address), None)).collect() }
    }

    /// The function of one of the places, which is made where its address is met first.
    #[inline]
    fn function_of(&mut self, code: &CodeAddress, make: impl FnOnce() -> FunctionId) -> FunctionId {
        match self.functions.get_mut(&(code.binary, code.address)) {
            Some(function) => *function.get_or_insert_with(make),
            None => make(),
        }
    }
}

/// Whether a place is of user code that no mapping covers: mostly a word on a stack that is no address, and no other place has it.
fn is_usual(code: &CodeAddress) -> bool {
    code.mode == CpuMode::User && code.binary.is_none()
}

const OUTSIDE: &str = "no mapping covers the address";
const NOT_LOOKED_UP: &str = "its name was not looked up";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::AddressId;
    use crate::codes::Codes;

    #[test]
    fn places_of_one_address_have_one_function() {
        let code = |address, mode| CodeAddress { binary: None, address, ip: address, mode };
        let places = [
            code(5, CpuMode::User),
            code(7, CpuMode::Kernel),
            code(5, CpuMode::Kernel),
            code(6, CpuMode::User),
            code(7, CpuMode::User),
            code(7, CpuMode::Unknown),
            code(8, CpuMode::Unknown),
        ];
        let mut names = Names::default();
        names.learn(Codes::from_iter(places).as_slice(), Vec::new());
        let functions = (0..7).map(|nr| names.piece_at(AddressId(nr)).map(FunctionId::index));
        assert!(functions.eq([0, 1, 0, 2, 1, 1, 3].map(Some)));
    }
}
