//! The path as recorded, below the root that was given.

use std::path::PathBuf;

use super::{Place, Proof, Search};

pub(super) const PLACE: Place = Place { candidates, proof: Proof::IdIfRecorded };

fn candidates(search: &Search<'_>) -> Vec<PathBuf> {
    vec![search.here(search.path)]
}
