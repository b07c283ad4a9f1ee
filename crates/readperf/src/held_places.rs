//! How many places are held: the flag of the commands that show functions, not addresses.

use clap::Args;

/// Places that are held at a time. What hangs on each takes 300 bytes or less, so that it is within a gigabyte. There are more only in
/// recordings of gigabytes.
const MOST_PLACES: usize = 3 << 20;

/// The option.
#[derive(Args, Debug, Clone, Copy, Default)]
pub(crate) struct HeldPlaces {
    /// Hold so many places in the code [3145728]. If there are more, those of one function and line become one; if that is not enough,
    /// addresses without a name are told to the page or less exactly, which is said
    #[arg(long, value_name = "N")]
    most_places: Option<usize>,
}

impl HeldPlaces {
    /// The option, if it was given.
    pub(crate) fn given(self) -> Option<&'static str> {
        self.most_places.map(|_| "--most-places")
    }

    /// The most places for those who do not ask for addresses.
    pub(crate) fn most(self) -> usize {
        self.most_places.unwrap_or(MOST_PLACES)
    }
}
