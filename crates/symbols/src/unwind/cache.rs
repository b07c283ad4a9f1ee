//! What one thread has worked out so far.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cfi::Context;
use super::rule::Rule;
use super::sections::Tables;
use super::space::BinaryId;

/// Rules of distinct instructions that are kept. When there are more, all are let go and made again as needed.
const MAX_PLACES: usize = 1 << 20;

/// What one thread has worked out so far: rules of instructions that it met. It may be used with one
/// [`Unwinder`](super::Unwinder) only. Its size is bounded.
pub struct Cache {
    places: FxHashMap<(BinaryId, u64), Option<u32>>,
    rules: Vec<Rule>,
    numbers: FxHashMap<Rule, u32>,
    pub(super) tables: Vec<Option<Option<Arc<Tables>>>>,
    pub(super) context: Box<Context>,
}

impl Default for Cache {
    fn default() -> Self {
        Cache {
            places: FxHashMap::default(),
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
            .field("rules", &self.rules.len())
            .finish_non_exhaustive()
    }
}

impl Cache {
    /// The number of the rule at a place of a binary, made by `make` when it is not known yet; `None` when there is none.
    #[inline]
    pub(super) fn rule(
        &mut self,
        binary: BinaryId,
        offset: u64,
        make: impl FnOnce(&mut Cache) -> Option<Rule>,
    ) -> Option<u32> {
        if let Some(known) = self.places.get(&(binary, offset)) {
            return *known;
        }
        let made = make(self);
        if self.places.len() >= MAX_PLACES {
            self.places.clear();
            self.rules.clear();
            self.numbers.clear();
        }
        let number = made.and_then(|rule| self.number(rule));
        self.places.insert((binary, offset), number);
        number
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
