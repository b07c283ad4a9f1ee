//! What sort keys look things up in.

use super::surroundings::Surroundings;
use crate::addresses::AddressId;
use crate::names::{Frame, FunctionId};
use crate::profile::Profile;
use crate::value::{TextId, Texts, Value};
use readperf_session::{BinaryId, CodeAddress, Session};
use regex_lite::Regex;
use rustc_hash::FxHashMap;

/// A place in code, as one level of it: the function itself, or one that is inlined there.
#[derive(Clone, Copy, Debug)]
pub struct Place<'p> {
    /// The address.
    pub code: &'p CodeAddress,
    /// The function. Of unnamed addresses the same one for the same address of a binary.
    pub function: FunctionId,
    /// The function that the address really lies in: of code that was generated several times the very piece.
    pub piece: FunctionId,
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
    /// One binary for all of the same name.
    binaries: FxHashMap<BinaryId, BinaryId>,
}

impl<'f> Facts<'f> {
    /// The facts of a profile.
    pub fn new(profile: &'f Profile, session: &'f Session, surroundings: &'f Surroundings) -> Facts<'f> {
        Facts {
            profile,
            session,
            surroundings,
            parent: None,
            innermost_parent: false,
            texts: Texts::default(),
            binaries: same_binaries(profile, session),
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

    /// The binary of a place.
    pub fn binary(&self, binary: Option<BinaryId>) -> Value {
        Value::Binary(binary.map(|id| self.binaries.get(&id).copied().unwrap_or(id)))
    }

    /// An address as the place where a sample was taken: the function itself, with the innermost line.
    pub fn taken_at(&self, address: AddressId) -> Option<Place<'f>> {
        let profile = self.profile;
        let code = profile.addresses.get(address)?;
        let function = profile.names.function_at(address)?;
        let piece = profile.names.piece_at(address)?;
        let frame = profile.names.frames_at(address).first().copied();
        let frame = frame.unwrap_or(Frame { function, file: None, line: 0 });
        Some(Place { code, function, piece, inlined: false, frame })
    }

    /// An address as levels of a stack, the innermost first.
    pub fn levels(&self, address: AddressId) -> impl DoubleEndedIterator<Item = Place<'f>> + '_ {
        let profile = self.profile;
        let code = profile.addresses.get(address);
        let frames = profile.names.frames_at(address);
        let piece = profile.names.piece_at(address);
        let last = frames.len().saturating_sub(1);
        frames.iter().enumerate().filter_map(move |(nr, frame)| {
            Some(Place {
                code: code?,
                function: frame.function,
                piece: piece?,
                inlined: nr < last,
                frame: *frame,
            })
        })
    }
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
