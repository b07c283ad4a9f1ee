//! Samples chosen from a profile: by what was recorded of them, by binary, by function, by any function of the stack.

use crate::addresses::AddressId;
use crate::filter::SampleFilter;
use crate::known::Known;
use crate::names::{FunctionId, Names};
use crate::picked::Picked;
use crate::profile::{EventTotal, Profile, SampleRow};
use crate::rows::{Origin, Rows};
use crate::stacks::{Node, Stacks};
use crate::transform::Transform;
use crate::weight::Weight;
use readperf_session::{Binary, Session};
use regex::Regex;
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

/// A regular expression.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn pattern(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|error| {
        // It draws the place below the pattern; the last line is what it says.
        let told = error.to_string();
        let last = told.lines().last().unwrap_or_default();
        last.strip_prefix("error: ").unwrap_or(last).to_owned()
    })
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
        let verdict =
            |id: AddressId| self.verdict(known, id, |function| self.of_function(known.names, function));
        self.passes_with(verdict(at), |test| stack.iter().any(|place| test(verdict(*place))))
    }

    /// Whether a sample passes, by the verdict on where it was taken and whether one on the places of its stack meets a test. Without a
    /// stack only where it was taken counts.
    fn passes_with(&self, at: Verdict, in_stack: impl Fn(fn(Verdict) -> bool) -> bool) -> bool {
        let of_stack = |test: fn(Verdict) -> bool| test(at) || in_stack(test);
        at.dso
            && at.symbol
            && (self.focus.is_empty() || of_stack(|verdict| verdict.focus))
            && (self.ignore.is_empty() || !of_stack(|verdict| verdict.ignore))
    }

    /// What is said of a function, wherever it is.
    fn of_function(&self, names: &Names, function: FunctionId) -> OfFunction {
        let any_name = self.symbols.is_empty() && self.symbol_parts.is_empty() && !self.named;
        let Some(name) = names.function(function).and_then(|function| function.name()) else {
            return OfFunction { symbol: any_name, focus: false, ignore: false };
        };
        let matches = |patterns: &[Regex]| patterns.iter().any(|pattern| pattern.is_match(name));
        OfFunction {
            symbol: (self.symbols.is_empty() || self.symbols.iter().any(|wanted| wanted == name))
                && (self.symbol_parts.is_empty()
                    || self.symbol_parts.iter().any(|part| name.contains(part.as_str()))),
            focus: matches(&self.focus),
            ignore: matches(&self.ignore),
        }
    }

    fn verdict(
        &self,
        known: &Known<'_>,
        id: AddressId,
        of_function: impl Fn(FunctionId) -> OfFunction,
    ) -> Verdict {
        let Known { session, addresses, names } = known;
        let binary = || addresses.get(id).and_then(|code| session.binary(code.binary?));
        let (mut focus, mut ignore) = (false, false);
        if !self.focus.is_empty() || !self.ignore.is_empty() {
            for frame in names.frames_at(id) {
                let of = of_function(frame.function);
                (focus, ignore) = (focus || of.focus, ignore || of.ignore);
            }
        }
        let any_name = self.symbols.is_empty() && self.symbol_parts.is_empty() && !self.named;
        Verdict {
            dso: self.dsos.is_empty() || binary().is_some_and(|binary| is_called(binary, &self.dsos)),
            symbol: any_name || names.function_at(id).is_some_and(|function| of_function(function).symbol),
            focus,
            ignore,
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
            let origins = self.origins_that_pass(samples, session);
            retain(&mut self.rows, |rows, at| passes_samples(samples, &origins, rows, at));
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
        let test = NameTest::new(filter, &known, &self.stacks);
        retain(&mut self.rows, |rows, at| rows.get(at).is_some_and(|row| test.passes(&row)));
        self.add_up();
    }

    /// Of the rows that are picked, leaves those that a filter lets through. By names is chosen by [`Groups::pick_named`](crate::Groups).
    pub fn pick(&self, samples: &SampleFilter, session: &Session, picked: &mut Picked) {
        if !samples.is_open() {
            let origins = self.origins_that_pass(samples, session);
            picked.retain_at(|at| passes_samples(samples, &origins, &self.rows, at));
        }
    }

    /// The totals of the rows that are picked.
    pub fn totals_of(&self, picked: &Picked) -> Vec<EventTotal> {
        picked.totals(self.rows(), &self.events)
    }

    /// The same places with their names, with other totals and without samples.
    #[must_use]
    pub fn with_totals(&self, events: Vec<EventTotal>) -> Profile {
        Profile { events, ..self.without_samples() }
    }

    /// The same, where samples count for something else.
    #[must_use]
    pub fn weighing(&self, weight: Weight) -> Profile {
        Profile { weight, ..self.clone() }
    }

    /// For what the keys of samples say of rows, whether these pass if their time does.
    fn origins_that_pass(&self, samples: &SampleFilter, session: &Session) -> Vec<bool> {
        let events: Vec<bool> =
            self.events.iter().map(|event| samples.passes_event_name(&event.name)).collect();
        let passes = |origin: &Origin| {
            events.get(origin.event as usize) == Some(&true) && samples.passes_origin(session, origin)
        };
        self.rows.origins().iter().map(passes).collect()
    }

    /// Takes away the rows of other CPUs than those wanted, and those without one.
    pub fn select_cpus(&mut self, wanted: impl Fn(u32) -> bool) {
        retain(&mut self.rows, |rows, at| rows.get(at).and_then(|row| row.cpu).is_some_and(&wanted));
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
fn retain(rows: &mut Arc<Rows>, keep: impl Fn(&Rows, usize) -> bool) {
    match Arc::get_mut(rows) {
        Some(rows) => rows.retain_at(keep),
        None => *rows = Arc::new(rows.filtered(keep)),
    }
}

#[inline]
fn passes_samples(samples: &SampleFilter, origins: &[bool], rows: &Rows, at: usize) -> bool {
    origins.get(rows.origin_at(at)) == Some(&true) && samples.passes_time(rows.time_ns_at(at))
}

/// A filter by names, made ready for the rows of a profile: a function has many places, and a place is in many stacks; each is asked once.
pub(crate) struct NameTest<'p> {
    filter: &'p NameFilter,
    verdicts: Vec<Verdict>,
    /// By part of a stack, if the filter looks at stacks and they are a tree.
    of_nodes: Vec<Verdict>,
    stacks: &'p Stacks,
}

impl<'p> NameTest<'p> {
    pub(crate) fn new(filter: &'p NameFilter, known: &Known<'_>, stacks: &'p Stacks) -> NameTest<'p> {
        let functions: Vec<OfFunction> = (0..known.names.functions().len())
            .map(|nr| filter.of_function(known.names, FunctionId::new(nr)))
            .collect();
        let of_function = |id: FunctionId| functions.get(id.index()).copied().unwrap_or_default();
        let verdicts: Vec<Verdict> =
            known.addresses.ids().map(|id| filter.verdict(known, id, of_function)).collect();
        let verdict = |id: AddressId| verdicts.get(id.index()).copied().unwrap_or_default();
        let by_stack = !filter.focus.is_empty() || !filter.ignore.is_empty();
        let of_nodes = if by_stack { verdicts_of_nodes(stacks.nodes(), verdict) } else { Vec::new() };
        NameTest { filter, verdicts, of_nodes, stacks }
    }

    pub(crate) fn passes(&self, row: &SampleRow) -> bool {
        let verdict = |id: AddressId| self.verdicts.get(id.index()).copied().unwrap_or_default();
        let of_node = row.stack.index().and_then(|node| self.of_nodes.get(node)).copied();
        self.filter.passes_with(verdict(row.address), |test| match of_node {
            Some(of_node) => test(of_node),
            None => self.stacks.places(row.stack).any(|place| test(verdict(place))),
        })
    }
}

/// Whether a binary has one of these names, as its short name or its path.
pub(crate) fn is_called(binary: &Binary, names: &[String]) -> bool {
    let mut names = names.iter().map(String::as_bytes);
    names.any(|name| *name == *binary.short_name || *name == *binary.name)
}

/// What a filter says of the places of each stack of a tree together.
fn verdicts_of_nodes(nodes: &[Node], verdict: impl Fn(AddressId) -> Verdict) -> Vec<Verdict> {
    // Callers come before what they call.
    let mut of_nodes: Vec<Verdict> = Vec::with_capacity(nodes.len());
    for node in nodes {
        let here = verdict(node.address);
        let below = node.parent.index().and_then(|caller| of_nodes.get(caller)).copied().unwrap_or_default();
        of_nodes.push(Verdict {
            focus: here.focus || below.focus,
            ignore: here.ignore || below.ignore,
            ..Verdict::default()
        });
    }
    of_nodes
}

/// What a filter says of one function.
#[derive(Clone, Copy, Debug, Default)]
struct OfFunction {
    symbol: bool,
    focus: bool,
    ignore: bool,
}

/// What a filter says of one place.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    dso: bool,
    symbol: bool,
    focus: bool,
    ignore: bool,
}
