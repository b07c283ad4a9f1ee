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

    /// What another one wants, too.
    #[must_use]
    pub fn with(self, other: &Wanted) -> Wanted {
        Wanted { needs: self.needs | other.needs }
    }

    /// Whether all that another one wants is wanted here.
    pub fn has(&self, other: &Wanted) -> bool {
        self.needs.has(other.needs)
    }

    pub(crate) fn needs(&self) -> Needs {
        self.needs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_together_has_each() {
        let (samples, switches) =
            (Wanted::nothing().and(Table::Samples, Some(&[])), Wanted::nothing().and(Table::Switches, None));
        assert!(!samples.has(&switches) && !switches.has(&samples));
        let both = samples.clone().with(&switches);
        assert!(both.has(&samples) && both.has(&switches) && both.has(&Wanted::nothing()));
        assert!(!samples.has(&both) && Wanted::everything().has(&both));
    }
}
