//! What sort keys look things up in.

use super::surroundings::Surroundings;
use crate::addresses::AddressId;
use crate::names::{Frame, FunctionId};
use crate::profile::Profile;
use crate::value::{TextId, Texts, Value};
use readperf_session::{BinaryId, BinaryKind, CodeAddress, Session};
use regex_lite::Regex;
use rustc_hash::FxHashMap;

/// A place in code, as one level of it: the function itself, or one that is inlined there.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// The address.
    pub code: &'p CodeAddress,
    /// The function. Of unnamed addresses the same one for the same address of a binary.
    pub function: FunctionId,
    /// Whether it is inlined here.
    pub inlined: bool,
    /// File and line, if known.
    pub frame: Frame,
}

/// Everything that is known once a recording has been read.
#[derive(Debug)]
pub struct Facts<'f> {
    /// The profile.
    pub profile: &'f Profile,
    /// Threads and binaries.
    pub session: &'f Session,
    /// The machine, cgroups, tracepoints.
    pub surroundings: &'f Surroundings,
    /// The pattern of the key `parent`.
    pub parent: Option<&'f Regex>,
    /// Whether the innermost function that matches is meant, not the outermost.
    pub innermost_parent: bool,
    /// Texts that keys made.
    pub texts: Texts,
    /// One function for all unnamed addresses that are the same, and for generated code of one name at one address.
    same: Vec<FunctionId>,
    /// One binary for all of the same name.
    binaries: FxHashMap<BinaryId, BinaryId>,
}

impl<'f> Facts<'f> {
    /// The facts of a profile.
    pub fn new(profile: &'f Profile, session: &'f Session, surroundings: &'f Surroundings) -> Facts<'f> {
        let binaries = same_binaries(profile, session);
        Facts {
            profile,
            session,
            surroundings,
            parent: None,
            innermost_parent: false,
            texts: Texts::default(),
            same: same_functions(profile, session, &binaries),
            binaries,
        }
    }

    /// The text of a value that was made here.
    pub fn text(&self, id: TextId) -> &[u8] {
        self.texts.text(id)
    }

    /// A text as a value.
    pub fn say(&mut self, text: &[u8]) -> Value {
        Value::Text(self.texts.number(text))
    }

    /// A function, or the one that stands for the same unnamed address.
    #[inline]
    pub fn function(&self, function: FunctionId) -> FunctionId {
        self.same.get(function.index()).copied().unwrap_or(function)
    }

    /// The binary of a place.
    pub fn binary(&self, binary: Option<BinaryId>) -> Value {
        Value::Binary(binary.map(|id| self.binaries.get(&id).copied().unwrap_or(id)))
    }

    /// An address as the place where a sample was taken: the function itself, with the innermost line.
    pub fn taken_at(&self, address: AddressId) -> Option<Place<'f>> {
        let profile = self.profile;
        let code = profile.addresses.get(address)?;
        let function = self.function(profile.names.function_at(address)?);
        let frame = profile.names.frames_at(address).first().copied();
        let frame = frame.unwrap_or(Frame { function, file: None, line: 0 });
        Some(Place { code, function, inlined: false, frame })
    }

    /// An address as levels of a stack, the innermost first.
    pub fn levels(&self, address: AddressId) -> impl DoubleEndedIterator<Item = Place<'f>> + '_ {
        let profile = self.profile;
        let code = profile.addresses.get(address);
        let frames = profile.names.frames_at(address);
        let last = frames.len().saturating_sub(1);
        frames.iter().enumerate().filter_map(move |(nr, frame)| {
            Some(Place {
                code: code?,
                function: self.function(frame.function),
                inlined: nr < last,
                frame: *frame,
            })
        })
    }
}

/// Empty if equal unnamed addresses have one function as it is, and so have equal names of generated code at one address.
fn same_functions(
    profile: &Profile,
    session: &Session,
    binaries: &FxHashMap<BinaryId, BinaryId>,
) -> Vec<FunctionId> {
    // A runtime makes the same function again and again.
    let generated: FxHashMap<BinaryId, BinaryId> = binaries
        .iter()
        .filter(|(id, _)| session.binary(**id).is_some_and(|binary| is_generated(&binary.kind)))
        .flat_map(|(id, one)| [(*id, *one), (*one, *one)])
        .collect();
    if !profile.names.is_of_pieces() && generated.is_empty() {
        return Vec::new();
    }
    let mut first: FxHashMap<(Option<BinaryId>, u64, Option<&str>), FunctionId> = FxHashMap::default();
    let functions = (0u32..).zip(profile.names.functions());
    functions
        .map(|(nr, function)| {
            let generated = function.binary.and_then(|binary| generated.get(&binary)).copied();
            if function.name().is_some() && generated.is_none() {
                return FunctionId(nr);
            }
            let key = (generated.or(function.binary), function.address, function.name());
            *first.entry(key).or_insert(FunctionId(nr))
        })
        .collect()
}

fn is_generated(kind: &BinaryKind) -> bool {
    matches!(kind, BinaryKind::Jit { .. })
}

/// By name: a binary of which only some records told the build-id is still one. Only those that are not the first.
fn same_binaries(profile: &Profile, session: &Session) -> FxHashMap<BinaryId, BinaryId> {
    let mut known: Vec<BinaryId> =
        profile.addresses.as_slice().iter().filter_map(|code| code.binary).collect();
    known.sort_unstable();
    known.dedup();
    let mut first: FxHashMap<&[u8], BinaryId> = FxHashMap::default();
    let mut same = FxHashMap::default();
    for id in known {
        let Some(binary) = session.binary(id) else { continue };
        let one = *first.entry(&binary.name).or_insert(id);
        if one != id {
            same.insert(id, one);
        }
    }
    same
}
