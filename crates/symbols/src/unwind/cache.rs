//! What one thread has worked out so far.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use rustc_hash::FxHashMap;

use super::cfi::Context;
use super::rule::Rule;
use super::space::BinaryId;
use super::store::Tables;

/// Rules of distinct instructions that are kept. When there are more, all are let go and made again as needed.
const MAX_PLACES: usize = 1 << 20;

/// What one thread has worked out so far: rules of instructions that it met. It may be used with one
/// [`Unwinder`](super::Unwinder) only. Its size is bounded.
pub struct Cache {
    places: FxHashMap<(BinaryId, u64), Option<u32>>,
    /// Last offset for which a row of the tables holds, to its first one and its rule.
    rows: BTreeMap<(BinaryId, u64), (u64, u32)>,
    rules: Vec<Rule>,
    numbers: FxHashMap<Rule, u32>,
    pub(super) tables: Vec<Option<Option<Tables>>>,
    pub(super) context: Box<Context>,
}

impl Default for Cache {
    fn default() -> Self {
        Cache {
            places: FxHashMap::default(),
            rows: BTreeMap::new(),
            rules: Vec::new(),
            numbers: FxHashMap::default(),
            tables: Vec::new(),
            context: Box::new(Context::new_in()),
        }
    }
}

impl std::fmt::Debug for Cache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cache")
            .field("places", &self.places.len())
            .field("rows", &self.rows.len())
            .field("rules", &self.rules.len())
            .finish_non_exhaustive()
    }
}

impl Cache {
    /// The number of the rule at an offset of a binary's file; `None` when there is none. When it is not known yet, `make`
    /// makes it and says for which offsets it holds.
    #[inline]
    pub(super) fn rule(
        &mut self,
        binary: BinaryId,
        offset: u64,
        make: impl FnOnce(&mut Cache) -> Option<(Rule, RangeInclusive<u64>)>,
    ) -> Option<u32> {
        if let Some(known) = self.places.get(&(binary, offset)) {
            return *known;
        }
        if self.places.len() >= MAX_PLACES {
            self.places.clear();
            self.rows.clear();
            self.rules.clear();
            self.numbers.clear();
        }
        let number = self.row(binary, offset).or_else(|| {
            let (rule, offsets) = make(self)?;
            let number = self.number(rule)?;
            self.rows.insert((binary, *offsets.end()), (*offsets.start(), number));
            Some(number)
        });
        self.places.insert((binary, offset), number);
        number
    }

    fn row(&self, binary: BinaryId, offset: u64) -> Option<u32> {
        let ((found, _), (start, number)) = self.rows.range((binary, offset)..).next()?;
        (*found == binary && *start <= offset).then_some(*number)
    }

    fn number(&mut self, rule: Rule) -> Option<u32> {
        if let Some(number) = self.numbers.get(&rule) {
            return Some(*number);
        }
        let number = u32::try_from(self.rules.len()).ok()?;
        self.rules.push(rule.clone());
        self.numbers.insert(rule, number);
        Some(number)
    }

    #[inline]
    pub(super) fn rule_at(&self, number: u32) -> Option<&Rule> {
        self.rules.get(usize::try_from(number).ok()?)
    }
}
