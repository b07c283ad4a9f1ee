//! What 100 % is.

use crate::profile::{EventTotal, Profile};

/// What 100 % is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whole {
    /// The samples that were chosen.
    #[default]
    Chosen,
    /// All samples of the event.
    Recorded,
}

impl Whole {
    /// Its name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Whole::Chosen => "chosen",
            Whole::Recorded => "recorded",
        }
    }

    /// For each event of a profile, the samples that are 100 %.
    pub fn totals(self, profile: &Profile) -> &[EventTotal] {
        match self {
            Whole::Chosen => profile.events(),
            Whole::Recorded => profile.recorded(),
        }
    }
}
