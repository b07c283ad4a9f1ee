//! Samples chosen from a profile: by what was recorded of them, by binary, by function, by any function of the stack.

use crate::addresses::AddressId;
use crate::filter::SampleFilter;
use crate::known::Known;
use crate::profile::{EventTotal, Profile, SampleRow};
use crate::transform::Transform;
use crate::weight::Weight;
use readperf_session::{Binary, Session};
use regex_lite::Regex;
use std::sync::Arc;

/// What of a profile is looked at, and how its stacks are changed for that: what a viewer holds as its state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// What samples count for.
    pub weight: Weight,
    /// Which samples, by what was recorded of them: of which events, threads, CPUs, times. By threads, CPUs and times can be chosen
    /// if they were kept.
    pub samples: SampleFilter,
    /// Which samples, by names.
    pub names: NameFilter,
    /// How stacks are changed, one after the other. What is chosen by names is chosen before.
    pub transforms: Vec<Transform>,
}

/// Which samples count, by names. Lists that are empty let everything through; a sample has to pass all of them.
#[derive(Clone, Debug, Default)]
pub struct NameFilter {
    /// Short names or paths of the binaries that samples were taken in.
    pub dsos: Vec<String>,
    /// Functions that samples were taken in.
    pub symbols: Vec<String>,
    /// Parts of the names of functions that samples were taken in.
    pub symbol_parts: Vec<String>,
    /// Whether only samples in functions with a name pass.
    pub named: bool,
    /// Patterns of which one has to match a function of the stack.
    pub focus: Vec<Regex>,
    /// Patterns of which none may match a function of the stack.
    pub ignore: Vec<Regex>,
}

/// Patterns are the same if they are written the same.
impl PartialEq for NameFilter {
    fn eq(&self, other: &NameFilter) -> bool {
        let NameFilter { dsos, symbols, symbol_parts, named, focus, ignore } = self;
        let same = |a: &[Regex], b: &[Regex]| a.iter().map(Regex::as_str).eq(b.iter().map(Regex::as_str));
        (dsos, symbols, symbol_parts, named)
            == (&other.dsos, &other.symbols, &other.symbol_parts, &other.named)
            && same(focus, &other.focus)
            && same(ignore, &other.ignore)
    }
}

impl NameFilter {
    /// Whether every sample passes.
    pub fn is_open(&self) -> bool {
        let NameFilter { dsos, symbols, symbol_parts, named, focus, ignore } = self;
        dsos.is_empty()
            && symbols.is_empty()
            && symbol_parts.is_empty()
            && !named
            && focus.is_empty()
            && ignore.is_empty()
    }

    /// Whether a sample passes that was taken at a place, with this stack.
    pub fn passes(&self, known: &Known<'_>, at: AddressId, stack: &[AddressId]) -> bool {
        let verdict = self.verdict(known, at);
        self.passes_with(verdict, || stack.iter().map(|place| self.verdict(known, *place)))
    }

    /// Whether a sample passes, by the verdicts on where it was taken and on the places of its stack. Without a stack only where it was
    /// taken counts.
    fn passes_with<I: Iterator<Item = Verdict>>(&self, at: Verdict, stack: impl Fn() -> I) -> bool {
        let of_stack = |test: fn(Verdict) -> bool| test(at) || stack().any(test);
        at.dso
            && at.symbol
            && (self.focus.is_empty() || of_stack(|verdict| verdict.focus))
            && (self.ignore.is_empty() || !of_stack(|verdict| verdict.ignore))
    }

    fn verdict(&self, known: &Known<'_>, id: AddressId) -> Verdict {
        let Known { session, addresses, names } = known;
        let name_of = |function| names.function(function).and_then(|function| function.name());
        let binary = addresses.get(id).and_then(|code| session.binary(code.binary?));
        let dso = binary.is_some_and(|binary| is_called(binary, &self.dsos));
        let function = names.function_at(id).and_then(name_of);
        let among = |name: &str| {
            (self.symbols.is_empty() || self.symbols.iter().any(|wanted| wanted == name))
                && (self.symbol_parts.is_empty()
                    || self.symbol_parts.iter().any(|part| name.contains(part.as_str())))
        };
        let any_name = self.symbols.is_empty() && self.symbol_parts.is_empty() && !self.named;
        let matches = |patterns: &[Regex]| {
            let mut levels = names.frames_at(id).iter().filter_map(|frame| name_of(frame.function));
            !patterns.is_empty() && levels.any(|name| patterns.iter().any(|pattern| pattern.is_match(name)))
        };
        Verdict {
            dso: dso || self.dsos.is_empty(),
            symbol: any_name || function.is_some_and(among),
            focus: matches(&self.focus),
            ignore: matches(&self.ignore),
        }
    }
}

impl Profile {
    /// What is left of a profile if this is chosen. What both have in common they share: a viewer chooses anew from the whole with
    /// every step.
    #[must_use]
    pub fn chosen(&self, selection: &Selection, session: &Session) -> Profile {
        let mut chosen = self.clone();
        chosen.choose(selection, session);
        chosen
    }

    /// Takes away the rows that are not chosen, and changes the stacks of the others: the work is that of what is chosen. The totals
    /// of the events become those of what is left.
    pub fn choose(&mut self, selection: &Selection, session: &Session) {
        let Selection { weight, samples, names, transforms } = selection;
        self.weight = *weight;
        if !samples.is_open() {
            let is_chosen = |event: &EventTotal| samples.passes_event_name(&event.name);
            let events: Vec<bool> = self.events.iter().map(is_chosen).collect();
            let of_event = |row: &SampleRow| events.get(row.event as usize).copied().unwrap_or(false);
            retain(&mut self.rows, |row| of_event(row) && samples.passes_row(session, row));
            self.add_up();
        }
        self.select(names, session);
        if !transforms.is_empty() {
            self.transform(transforms, session);
        }
    }

    /// Takes away the rows that a filter does not let through. The totals of the events become those of what is left.
    pub fn select(&mut self, filter: &NameFilter, session: &Session) {
        if filter.is_open() {
            return;
        }
        let known = Known { session, addresses: &self.addresses, names: &self.names };
        let verdicts: Vec<Verdict> = self.addresses.ids().map(|id| filter.verdict(&known, id)).collect();
        let verdict = |id: AddressId| verdicts.get(id.index()).copied().unwrap_or_default();
        let stacks = &self.stacks;
        let passes = |row: &SampleRow| {
            filter.passes_with(verdict(row.address), || stacks.places(row.stack).map(verdict))
        };
        retain(&mut self.rows, passes);
        self.add_up();
    }

    /// Takes away the rows of other CPUs than those wanted, and those without one.
    pub fn select_cpus(&mut self, wanted: impl Fn(u32) -> bool) {
        retain(&mut self.rows, |row| row.cpu.is_some_and(&wanted));
        self.add_up();
    }

    /// Makes the totals of the events those of the rows.
    pub(crate) fn add_up(&mut self) {
        for event in &mut self.events {
            (event.samples, event.period) = (0, 0);
        }
        for row in self.rows.iter() {
            if let Some(event) = self.events.get_mut(row.event as usize) {
                event.samples += row.samples;
                event.period = event.period.wrapping_add(row.period);
            }
        }
    }
}

/// Keeps some rows. Rows that others look at, too, stay as they are for these.
fn retain(rows: &mut Arc<Vec<SampleRow>>, keep: impl Fn(&SampleRow) -> bool) {
    match Arc::get_mut(rows) {
        Some(rows) => rows.retain(keep),
        None => *rows = Arc::new(rows.iter().filter(|row| keep(row)).copied().collect()),
    }
}

/// Whether a binary has one of these names, as its short name or its path.
pub(crate) fn is_called(binary: &Binary, names: &[String]) -> bool {
    let mut names = names.iter().map(String::as_bytes);
    names.any(|name| *name == *binary.short_name || *name == *binary.name)
}

/// What a filter says of one place.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    dso: bool,
    symbol: bool,
    focus: bool,
    ignore: bool,
}
