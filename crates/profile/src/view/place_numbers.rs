//! Places as rows: what the keys say of each, by number.

use super::calls::NONE;
use super::facts::{Facts, Place};
use super::graph::GraphKey;
use super::histogram::HistogramOptions;
use super::key::{KeyUse, Part};
use crate::added_to::AddedTo;
use crate::index::{Index, hash};
use crate::names::FunctionId;
use crate::tuples::Tuples;
use crate::value::Value;
use std::sync::Arc;

/// The number of each function, as itself and as an inlined one, each one higher; 0 is that of none: few functions are inlined, and memory
/// that is 0 is not made before it is written.
type ByFunction = [Vec<u32>; 2];

/// These, as they are shared.
pub(super) type OfFunctions = Arc<ByFunction>;

/// Numbers what the keys say of places.
#[derive(Debug)]
pub(super) struct PlaceNumbers<'n> {
    keys: &'n [KeyUse],
    values: AddedTo<Tuples>,
    scratch: Vec<Value>,
    /// If only functions matter: the number of each that was asked about, as itself and as an inlined one.
    known: Option<AddedTo<ByFunction>>,
    /// The function that stands for those that are hidden: of any binary, so that it alone does not matter.
    hidden: Option<FunctionId>,
}

/// Whether the row of a function depends on where in it a place is.
fn by_place(keys: &[KeyUse]) -> bool {
    keys.iter().any(|key| matches!(key.key.part, Part::Place(_)))
}

impl<'n> PlaceNumbers<'n> {
    pub(super) fn new(facts: &Facts<'_>, options: &'n HistogramOptions) -> PlaceNumbers<'n> {
        let functions = facts.profile.names.functions().len();
        let known = (!by_place(&options.keys)).then(|| AddedTo::own([(); 2].map(|()| vec![0; functions])));
        PlaceNumbers::with(facts, options, AddedTo::own(Tuples::default()), known)
    }

    /// Numbers more places of a profile whose functions are the same. What is known is copied only where something new is said.
    pub(super) fn going_on(
        facts: &Facts<'_>,
        options: &'n HistogramOptions,
        values: Arc<Tuples>,
        known: Option<OfFunctions>,
    ) -> PlaceNumbers<'n> {
        PlaceNumbers::with(facts, options, AddedTo::shared(values), known.map(AddedTo::shared))
    }

    fn with(
        facts: &Facts<'_>,
        options: &'n HistogramOptions,
        values: AddedTo<Tuples>,
        known: Option<AddedTo<ByFunction>>,
    ) -> PlaceNumbers<'n> {
        let hidden = facts.profile.names.known_hidden();
        PlaceNumbers { keys: &options.keys, values, scratch: Vec::new(), known, hidden }
    }

    /// What the keys say, by number, and the numbers of functions if these alone matter.
    pub(super) fn into_parts(self) -> (Arc<Tuples>, Option<OfFunctions>) {
        (self.values.into_shared(), self.known.map(AddedTo::into_shared))
    }

    /// The row of a place.
    pub(super) fn row(&mut self, facts: &mut Facts<'_>, place: &Place) -> u32 {
        let (function, inlined) = (place.function.index(), usize::from(place.inlined));
        let known = self.known.as_ref().and_then(|known| known.get().get(inlined)?.get(function));
        if let Some(number) = known.and_then(|number| number.checked_sub(1)) {
            return number;
        }
        self.scratch.clear();
        for key in self.keys {
            if let Part::Function(of) | Part::Place(of) = key.key.part {
                self.scratch.push(of(facts, place));
            }
        }
        let itself = Value::Function { function: place.function, inlined: place.inlined };
        let known = self.known.as_mut().filter(|_| self.hidden != Some(place.function));
        // Each function comes here once, and no other one has it among its values. Without names there are many.
        let is_lone = known.is_some() && self.scratch.contains(&itself);
        let found = if is_lone { None } else { self.values.get().find(&self.scratch) };
        let number = found.unwrap_or_else(|| {
            let values = self.values.to_mut(Tuples::behind);
            if is_lone { values.number_only(&self.scratch) } else { values.number(&self.scratch) }
        });
        let known = known.map(|known| known.to_mut(|known| (**known).clone()));
        let slot = known.and_then(|known| known.get_mut(inlined)?.get_mut(function));
        if let Some(slot) = slot {
            *slot = number.saturating_add(1);
        }
        number
    }
}

/// Frames of call graphs, by number: what each says, and its row. A row may have several frames.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    says: Vec<Value>,
    rows: Vec<u32>,
    index: Index,
}

impl Frames {
    /// What a frame says.
    pub fn says(&self, frame: u32) -> Value {
        self.says.get(frame as usize).copied().unwrap_or_default()
    }

    /// Takes the rows of all frames; no frame is added from now on.
    pub(super) fn take_rows(&mut self) -> Vec<u32> {
        self.index = Index::default();
        std::mem::take(&mut self.rows)
    }

    /// The rows of all frames up to now.
    pub(super) fn rows(&self) -> Vec<u32> {
        self.rows.clone()
    }

    /// The number of a frame.
    pub(super) fn number(&mut self, says: Value, row: u32) -> u32 {
        let Frames { says: known, rows, index } = self;
        index.make_room(known.len());
        let is = |number: u32| {
            known.get(number as usize) == Some(&says) && rows.get(number as usize) == Some(&row)
        };
        let number = index.find_or_add(hash(&(says, row)), known.len(), is);
        if number as usize == self.says.len() {
            self.push(says, row);
        }
        number
    }

    /// The number of a frame that is asked for once: it is not looked for.
    fn push(&mut self, says: Value, row: u32) -> u32 {
        let number = u32::try_from(self.says.len()).unwrap_or(NONE);
        self.says.push(says);
        self.rows.push(row);
        number
    }
}

/// Numbers the frames of call graphs.
#[derive(Debug)]
pub(super) struct FrameNumbers<'n> {
    key: GraphKey,
    frames: &'n mut Frames,
    /// Where functions alone tell frames apart: the frames of each, as itself and as an inlined one.
    known: Option<Vec<[u32; 2]>>,
}

impl<'n> FrameNumbers<'n> {
    /// Numbers places into `frames`.
    pub(super) fn new(
        facts: &Facts<'_>,
        options: &HistogramOptions,
        key: GraphKey,
        frames: &'n mut Frames,
    ) -> FrameNumbers<'n> {
        let by_function = key == GraphKey::Function && !by_place(&options.keys);
        let known = by_function.then(|| vec![[NONE; 2]; facts.profile.names.functions().len()]);
        FrameNumbers { key, frames, known }
    }

    /// The frame of a place in this row.
    pub(super) fn frame(&mut self, facts: &mut Facts<'_>, place: &Place, row: u32) -> u32 {
        let says = self.key.of(facts, place);
        let known = self.known.as_mut().and_then(|known| known.get_mut(place.function.index()));
        let Some(slot) = known.and_then(|known| known.get_mut(usize::from(place.inlined))) else {
            return self.frames.number(says, row);
        };
        if *slot == NONE {
            *slot = self.frames.push(says, row);
        }
        *slot
    }
}
