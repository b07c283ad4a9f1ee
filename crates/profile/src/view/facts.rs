//! What sort keys look things up in.

use super::histogram::HistogramOptions;
use super::key::INLINED;
use super::surroundings::Surroundings;
use crate::addresses::AddressId;
use crate::frames::Level;
use crate::names::FunctionId;
use crate::profile::Profile;
use crate::value::{TextId, Texts, Value};
use readperf_session::{BinaryId, CodeAddress, Session};
use regex::Regex;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A place in code, for the keys of rows.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The address.
    pub code: CodeAddress,
    /// The function that a row of functions counts it for. Of unnamed addresses the same one for the same address of a binary.
    pub function: FunctionId,
    /// Whether that is inlined here.
    pub inlined: bool,
    /// The function that the address really lies in: of code that was generated several times the very piece.
    pub piece: FunctionId,
    /// Which of the levels of the code it is, with file and line; where a sample was taken the innermost one.
    pub level: Level,
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
    /// Whether inlined functions have a key of their own: then rows of functions count all levels of an address for its symbol.
    pub inlined_apart: bool,
    memory: Cow<'f, FactMemory>,
}

/// What facts have worked out. It refers to nothing: a viewer that holds a profile and a table of it keeps this beside them, and makes
/// facts of it when the table is shown.
#[derive(Clone, Debug, Default)]
pub struct FactMemory {
    /// Texts that keys made.
    texts: Texts,
    /// One binary for all of the same name.
    binaries: FxHashMap<BinaryId, BinaryId>,
}

impl FactMemory {
    /// Whether other facts, which began with this, have not made more texts.
    pub fn has_texts_of(&self, other: &FactMemory) -> bool {
        self.texts.len() == other.texts.len()
    }
}

impl<'f> Facts<'f> {
    /// The facts of a profile.
    pub fn new(profile: &'f Profile, session: &'f Session, surroundings: &'f Surroundings) -> Facts<'f> {
        let memory = FactMemory { texts: Texts::default(), binaries: same_binaries(profile, session) };
        Facts::with_memory(profile, session, surroundings, Cow::Owned(memory))
    }

    /// The facts of a profile of which some were worked out before.
    pub fn with_memory(
        profile: &'f Profile,
        session: &'f Session,
        surroundings: &'f Surroundings,
        memory: Cow<'f, FactMemory>,
    ) -> Facts<'f> {
        Facts {
            profile,
            session,
            surroundings,
            parent: None,
            innermost_parent: false,
            inlined_apart: false,
            memory,
        }
    }

    /// Decides for whom samples count in histograms with these options.
    pub fn settle(&mut self, options: &HistogramOptions) {
        self.inlined_apart = options.inline && options.keys.iter().any(|key| key.key.name == INLINED);
    }

    /// What was worked out.
    pub fn memory(&self) -> &FactMemory {
        &self.memory
    }

    /// What was worked out, to be kept.
    pub fn into_memory(self) -> FactMemory {
        self.memory.into_owned()
    }

    /// The text of a value that was made here.
    pub fn text(&self, id: TextId) -> &[u8] {
        self.memory.texts.text(id)
    }

    /// A text as a value.
    pub fn say(&mut self, text: &[u8]) -> Value {
        Value::Text(self.memory.to_mut().texts.number(text))
    }

    /// The binary of a place.
    pub fn binary(&self, binary: Option<BinaryId>) -> Value {
        Value::Binary(binary.map(|id| self.memory.binaries.get(&id).copied().unwrap_or(id)))
    }

    /// An address as the place where a sample was taken: its symbol, and the innermost level.
    pub fn taken_at(&self, address: AddressId) -> Option<Place> {
        let level = self.profile.levels_at(address).next()?;
        let function = self.profile.names.function_at(address)?;
        Some(Place { function, inlined: false, ..self.level(level)? })
    }

    /// An address as levels of a stack, the innermost first.
    pub fn levels(&self, address: AddressId) -> impl DoubleEndedIterator<Item = Place> + '_ {
        self.profile.levels_at(address).filter_map(|level| self.level(level))
    }

    fn level(&self, level: Level) -> Option<Place> {
        let code = self.profile.addresses.get(level.address)?;
        let piece = self.profile.names.piece_at(level.address)?;
        let function = match self.inlined_apart {
            true => self.profile.names.function_at(level.address)?,
            false => level.function,
        };
        Some(Place { code, function, inlined: level.inlined && !self.inlined_apart, piece, level })
    }
}

/// By name: a binary of which only some records told the build-id is still one. Only those that are not the first.
fn same_binaries(profile: &Profile, session: &Session) -> FxHashMap<BinaryId, BinaryId> {
    // Places are many, and binaries few.
    let mut met = vec![None; session.binaries().len()];
    for id in profile.addresses.as_slice().iter().filter_map(|code| code.binary) {
        if let Some(met) = met.get_mut(id.index()) {
            *met = Some(id);
        }
    }
    let mut first: FxHashMap<&[u8], BinaryId> = FxHashMap::default();
    let mut same = FxHashMap::default();
    for (id, binary) in met.into_iter().zip(session.binaries()).filter_map(|(id, binary)| Some((id?, binary)))
    {
        let one = *first.entry(&binary.name).or_insert(id);
        if one != id {
            same.insert(id, one);
        }
    }
    same
}
