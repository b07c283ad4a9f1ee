//! What the addresses are called: functions, inlined functions, source lines.

mod places;
mod same;

use crate::addresses::{AddressId, Addresses};
use crate::symbolize::{AddressBatch, Named, NamedBatch, NamedFrame, NamedFunction, NamedInline};
use readperf_session::{BinaryId, CodeAddress, CpuMode};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

/// Number of a function in [`Names::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub(crate) u32);

impl FunctionId {
    /// Its index in [`Names::functions`].
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Number of a source file in [`Names::files`]; held one higher, so that "none" needs no place of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileId(NonZeroU32);

impl FileId {
    fn of(index: usize) -> Self {
        FileId(NonZeroU32::MIN.saturating_add(number(index)))
    }

    /// Its index in [`Names::files`].
    #[inline]
    pub fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A function, or an address that has no name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The binary; `None` where no mapping covers the address.
    pub binary: Option<BinaryId>,
    /// First address of the function, or the unnamed address; of functions that only appear inlined 0.
    pub address: u64,
    /// What is known of it, or why it has no name. Addresses without a name may be many, and are to be small.
    known: Result<Box<NamedFunction>, Arc<str>>,
}

impl Function {
    /// The name; without one the address itself stands in.
    #[inline]
    pub fn name(&self) -> Option<&str> {
        self.known.as_ref().ok().map(|known| known.name.as_str())
    }

    /// The name in the symbol table, where that is another one: as the compiler mangled it. Of an inlined name that several
    /// functions share, none.
    pub fn linkage_name(&self) -> Option<&str> {
        self.known.as_ref().ok()?.linkage_name.as_deref()
    }

    /// Its size in bytes, as the symbol table has it; 0 if not known.
    pub fn size(&self) -> u64 {
        self.known.as_ref().map_or(0, |known| known.size)
    }

    /// Source file, as the compiler recorded it.
    pub fn source_file(&self) -> Option<&str> {
        self.known.as_ref().ok()?.source_file.as_deref()
    }

    /// Why there is no name, in plain words.
    pub fn reason(&self) -> Option<&str> {
        self.known.as_ref().err().map(|reason| &**reason)
    }

    /// The name, or the address in hex.
    pub fn label(&self) -> Cow<'_, str> {
        self.name().map_or_else(|| Cow::Owned(format!("{:#018x}", self.address)), Cow::Borrowed)
    }
}

/// One level of the code at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The function.
    pub function: FunctionId,
    /// The source file of the code, or of the call that was inlined.
    pub file: Option<FileId>,
    /// The line in that file, from 1; 0 where unknown.
    pub line: u32,
}

/// What is known of an address.
#[derive(Clone, Debug)]
struct AddressNames {
    function: FunctionId,
    frames: Range<u32>,
}

/// The names of addresses. They are learned in one go or, where the answer is wanted before the end, piece by piece.
#[derive(Clone, Debug, Default)]
pub struct Names {
    functions: Vec<Function>,
    files: Vec<String>,
    frames: Vec<Frame>,
    of_address: Vec<AddressNames>,
    by_start: FxHashMap<(BinaryId, u64), FunctionId>,
    inlined: FxHashMap<(BinaryId, String), FunctionId>,
    file_ids: FxHashMap<String, FileId>,
    /// Each reason once: millions of addresses may share one.
    reasons: FxHashSet<Arc<str>>,
    /// What can be done about a reason.
    remedies: FxHashMap<Arc<str>, String>,
    is_of_pieces: bool,
    /// The function that stands for each, once that was asked for; empty if each stands for itself.
    one_of: Vec<FunctionId>,
}

impl Names {
    /// The functions by number.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// The source files by number.
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// How many addresses have been learned.
    pub fn len(&self) -> usize {
        self.of_address.len()
    }

    /// Whether none has been learned.
    pub fn is_empty(&self) -> bool {
        self.of_address.is_empty()
    }

    /// A function by its number.
    #[inline]
    pub fn function(&self, id: FunctionId) -> Option<&Function> {
        self.functions.get(id.index())
    }

    /// A source file by its number.
    pub fn file(&self, id: FileId) -> Option<&str> {
        self.files.get(id.index()).map(String::as_str)
    }

    /// What a user can do about the reason why something has no name, if anything.
    pub fn remedy(&self, reason: &str) -> Option<&str> {
        self.remedies.get(reason).map(String::as_str)
    }

    /// The function that an address lies in: the real one, whatever is inlined there. After [`Names::unify`] it is the one that
    /// stands for all that are the same.
    #[inline]
    pub fn function_at(&self, address: AddressId) -> Option<FunctionId> {
        let piece = self.piece_at(address)?;
        Some(self.one_of.get(piece.index()).copied().unwrap_or(piece))
    }

    /// The same, whatever stands for it: where the code begins, and how long it is.
    #[inline]
    pub fn piece_at(&self, address: AddressId) -> Option<FunctionId> {
        self.of_address.get(address.index()).map(|names| names.function)
    }

    /// The levels at an address: the innermost inlined function first, the real function last. Never empty for an address
    /// that has been learned.
    #[inline]
    pub fn frames_at(&self, address: AddressId) -> &[Frame] {
        self.frames.get(self.levels_of(address)).unwrap_or_default()
    }

    /// How many levels there are at all addresses.
    pub(crate) fn levels(&self) -> usize {
        self.frames.len()
    }

    /// Which of the levels of all addresses are those at one.
    #[inline]
    pub(crate) fn levels_of(&self, address: AddressId) -> Range<usize> {
        let names = self.of_address.get(address.index());
        names.map_or(0..0, |names| names.frames.start as usize..names.frames.end as usize)
    }

    /// The addresses that have not been learned, by binary, in the order of their ids.
    pub fn unknown(&self, addresses: &Addresses) -> Vec<AddressBatch> {
        let new = addresses.as_slice().get(self.len()..).unwrap_or_default();
        AddressBatch::by_binary(new)
    }

    /// Learns all addresses that are not known yet. What nobody answered about stays without a name.
    pub fn learn(&mut self, addresses: &Addresses, answers: &[(AddressBatch, NamedBatch)]) {
        let new = addresses.as_slice().get(self.len()..).unwrap_or_default();
        self.is_of_pieces = !self.is_empty();
        let mut found: Vec<Option<(u32, u32)>> = vec![None; new.len()];
        let mut numbered = Vec::with_capacity(answers.len());
        for (of_binary, (batch, answer)) in (0u32..).zip(answers) {
            numbered.push(self.take_in(batch.binary, answer));
            for (place, nr) in &batch.places {
                if let Some(found) = found.get_mut(*place as usize) {
                    *found = Some((of_binary, *nr));
                }
            }
        }
        let not_answered = new.iter().zip(&found).filter(|(_, found)| found.is_none());
        let not_answered = numbered_by_address(not_answered.map(|(code, _)| *code));
        let most = not_answered.iter().max().map_or(0, |last| *last as usize + 1);
        let mut without_answer: Vec<FunctionId> = Vec::with_capacity(most);
        let mut not_answered = not_answered.into_iter();
        self.functions.reserve(most);
        self.of_address.reserve(new.len());
        self.frames.reserve(new.len());
        for (code, found) in new.iter().zip(found) {
            let answer = found.and_then(|(of_binary, nr)| Some((numbered.get_mut(of_binary as usize)?, nr)));
            let frames_before = number(self.frames.len());
            let function = match answer {
                Some((numbered, nr)) => self.learn_one(code.binary, code.address, nr as usize, numbered),
                None => {
                    let nr = not_answered.next().unwrap_or(u32::MAX) as usize;
                    let known = without_answer.get(nr).copied();
                    known.unwrap_or_else(|| {
                        let reason = match code.binary {
                            None => "no mapping covers the address",
                            Some(_) => NOT_LOOKED_UP,
                        };
                        let function = self.unnamed(code.binary, code.address, reason);
                        without_answer.push(function);
                        function
                    })
                }
            };
            if number(self.frames.len()) == frames_before {
                self.frames.push(Frame { function, file: None, line: 0 });
            }
            let frames = frames_before..number(self.frames.len());
            self.of_address.push(AddressNames { function, frames });
        }
    }

    fn learn_one(
        &mut self,
        binary: Option<BinaryId>,
        address: u64,
        nr: usize,
        numbered: &mut Numbered<'_>,
    ) -> FunctionId {
        let function = match numbered.answer.named.get(nr) {
            Some(Named::Function(index)) => numbered.functions.get(*index).copied(),
            _ => None,
        };
        // Places at one address may differ in where it was mapped; without a name it is one function all the same.
        let known = || numbered.unnamed.get(nr).copied().flatten();
        let function = function.or_else(known).unwrap_or_else(|| {
            let reason = match numbered.answer.named.get(nr) {
                Some(Named::Unnamed(reason)) => reason,
                _ => NOT_LOOKED_UP,
            };
            let function = self.unnamed(binary, address, reason);
            if let Some(slot) = numbered.unnamed.get_mut(nr) {
                *slot = Some(function);
            }
            function
        });
        for NamedFrame { inlined, file, line } in numbered.answer.frames_of(nr) {
            let inlined = inlined.and_then(|index| numbered.inlined.get(index as usize).copied());
            let file = file.and_then(|index| numbered.files.get(index as usize).copied());
            self.frames.push(Frame { function: inlined.unwrap_or(function), file, line: *line });
        }
        function
    }

    /// Gives the functions and files of an answer their numbers.
    fn take_in<'n>(&mut self, binary: BinaryId, answer: &'n NamedBatch) -> Numbered<'n> {
        self.remedies.extend(answer.remedies.iter().cloned());
        let functions = answer.functions.iter().map(|named| {
            let next = FunctionId(number(self.functions.len()));
            let id = *self.by_start.entry((binary, named.start)).or_insert(next);
            if id == next {
                let known = Ok(Box::new(named.clone()));
                self.functions.push(Function { binary: Some(binary), address: named.start, known });
            } else if let (Some(known), Some(file)) = (self.named_mut(id), &named.source_file) {
                known.source_file.get_or_insert_with(|| file.clone());
            }
            id
        });
        let functions = functions.collect();
        let inlined = answer.inlined.iter().map(|NamedInline { name, linkage_name }| {
            let next = FunctionId(number(self.functions.len()));
            let id = *self.inlined.entry((binary, name.clone())).or_insert(next);
            if id == next {
                let (name, linkage_name) = (name.clone(), linkage_name.clone());
                let known = NamedFunction { name, linkage_name, ..NamedFunction::default() };
                self.functions.push(Function {
                    binary: Some(binary),
                    address: 0,
                    known: Ok(Box::new(known)),
                });
            } else if let Some(known) = self.named_mut(id)
                && known.linkage_name != *linkage_name
            {
                known.linkage_name = None;
            }
            id
        });
        let inlined = inlined.collect();
        let files = answer.files.iter().map(|file| {
            let next = FileId::of(self.files.len());
            let id = *self.file_ids.entry(file.clone()).or_insert(next);
            if id == next {
                self.files.push(file.clone());
            }
            id
        });
        let unnamed = vec![None; answer.named.len()];
        Numbered { answer, functions, inlined, files: files.collect(), unnamed }
    }

    /// What is known of a function that has a name.
    fn named_mut(&mut self, id: FunctionId) -> Option<&mut NamedFunction> {
        self.functions.get_mut(id.index())?.known.as_deref_mut().ok()
    }

    fn unnamed(&mut self, binary: Option<BinaryId>, address: u64, reason: &str) -> FunctionId {
        let id = FunctionId(number(self.functions.len()));
        let reason = match self.reasons.get(reason) {
            Some(known) => Arc::clone(known),
            None => {
                let reason: Arc<str> = reason.into();
                self.reasons.insert(Arc::clone(&reason));
                reason
            }
        };
        self.functions.push(Function { binary, address, known: Err(reason) });
        id
    }
}

/// An answer whose functions and files have their numbers.
struct Numbered<'n> {
    answer: &'n NamedBatch,
    functions: Vec<FunctionId>,
    inlined: Vec<FunctionId>,
    files: Vec<FileId>,
    /// For each address the function that stands for it, if it has no name and one was made.
    unnamed: Vec<Option<FunctionId>>,
}

/// For each place the number of its address among these: places may differ in the mode of the CPU alone.
fn numbered_by_address(places: impl Iterator<Item = CodeAddress> + Clone) -> Vec<u32> {
    // What no mapping covers is mostly words on user stacks that are no addresses, and these differ.
    let is_usual = |code: &CodeAddress| code.mode == CpuMode::User && code.binary.is_none();
    let key = |code: &CodeAddress| (code.binary, code.address);
    let others = places.clone().filter(|code| !is_usual(code));
    let mut others: FxHashMap<_, Option<u32>> = others.map(|code| (key(&code), None)).collect();
    let mut next = 0;
    let number_of = |code: CodeAddress| {
        let known = others.get_mut(&key(&code));
        let number = known.as_ref().and_then(|known| **known).unwrap_or(next);
        if let Some(known) = known {
            *known = Some(number);
        }
        next += u32::from(number == next);
        number
    };
    places.map(number_of).collect()
}

const NOT_LOOKED_UP: &str = "its name was not looked up";

/// Memory is at its end long before the numbers are.
fn number(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_one_address_have_one_number() {
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
        assert_eq!(numbered_by_address(places.into_iter()), [0, 1, 0, 2, 1, 1, 3]);
    }
}
