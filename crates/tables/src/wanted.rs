//! Which tables and columns are wanted of a recording.

use crate::needs::Needs;
use crate::schema::Table;

/// Which tables and columns are wanted of a recording. What none of them needs is not made: no names, no stacks, no table of symbols is read for
/// a sum over periods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    needs: Needs,
}

impl Default for Wanted {
    fn default() -> Wanted {
        Wanted::everything()
    }
}

impl Wanted {
    /// No table at all. What the recording says of itself is known even then: `profiles` and `events`, but for numbers of samples.
    pub fn nothing() -> Wanted {
        Wanted { needs: Needs::NOTHING }
    }

    /// Every column of every table.
    pub fn everything() -> Wanted {
        Table::ALL.iter().fold(Wanted::nothing(), |wanted, table| wanted.and(*table, None))
    }

    /// These columns of a table, too, by number; all of them if not given. Without a column its rows can be counted.
    #[must_use]
    pub fn and(self, table: Table, columns: Option<&[usize]>) -> Wanted {
        Wanted { needs: self.needs | table.definition().needs(columns) }
    }

    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }
}
