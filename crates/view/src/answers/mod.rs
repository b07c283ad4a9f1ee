//! The views: one file each, one line each in [`VIEWS`]. Numbers are those of the profile's own views; here they become JSON.

mod busy;
mod chosen_times;
mod code;
mod flame;
mod flame_time;
mod functions;
mod heat;
mod line;
mod matched;
mod names;
mod recording;
mod records;
mod sandwich;
mod stack;
mod subtree;
mod summary;
mod time;
mod tree;

use crate::query::Query;
use crate::worker::{Answer, Question};
use perffile::Recording;
use readperf_explore::{Explorer, Flame, NowAndBefore, State, Step};
use readperf_output::export::flamegraph::{Colors, Head, title};
use readperf_output::export::quantity::Quantity;
use readperf_output::export::{Export, ExportOptions};
use readperf_profile::Weight;
use readperf_profile::profile::EventTotal;
use readperf_profile::view::flame_tree::Sum;
use serde_json::{Map, Value, json};

pub(crate) use functions::{hottest, with_code};
pub use recording::{Outside, Part};

/// What questions are answered from.
pub(crate) struct Answers<'s, 'f> {
    pub(crate) explorer: Explorer<'f>,
    /// What is looked at where the address chooses nothing.
    start: State,
    /// What is chosen there, for good.
    fixed: Query,
    /// The first sample of the recording: times in addresses begin with it, ns of the recording's clock.
    origin_ns: u64,
    outside: &'s dyn Outside,
    records: records::Records<'s>,
    searched: functions::Searched,
    subtrees: subtree::Known,
    busy: busy::Known,
    /// What the page is called; else by program, host, date and event.
    pub(crate) title: Option<String>,
}

type View = fn(&mut Answers<'_, '_>, &Query) -> Result<Vec<u8>, String>;

const VIEWS: &[(&str, View)] = &[
    ("summary", summary::answer),
    ("functions", functions::answer),
    ("flame", flame::answer),
    ("flame-time", flame_time::answer),
    ("matched", matched::answer),
    ("tree", tree::answer),
    ("sandwich", sandwich::answer),
    ("time", time::answer),
    ("heat", heat::answer),
    ("stack", stack::answer),
    ("code", code::answer),
    ("line", line::answer),
    ("recording", recording::answer),
    ("records", records::window),
    ("find", records::find),
    ("record", records::one),
];

impl<'s, 'f> Answers<'s, 'f> {
    pub(crate) fn new(explorer: Explorer<'f>, outside: &'s dyn Outside, recording: &'s Recording) -> Self {
        let origin_ns = explorer.whole().times_ns().map_or(0, |(first, _)| first);
        Answers {
            start: explorer.state().clone(),
            fixed: Query::default(),
            explorer,
            origin_ns,
            outside,
            records: records::Records::new(recording),
            searched: functions::Searched::default(),
            subtrees: subtree::Known::default(),
            busy: busy::Known::default(),
            title: None,
        }
    }

    /// Chooses for good: who looks begins with it, and cannot take it back.
    pub(crate) fn fix(&mut self, chosen: Query) -> Result<(), String> {
        self.go(&chosen)?;
        self.start = self.explorer.state().clone();
        self.fixed = chosen;
        Ok(())
    }

    /// Makes what the page shows first.
    pub(crate) fn make_first(&self) {
        self.explorer.make_first();
    }

    /// The answer to a question. The state is that of the question, whatever was asked before.
    pub(crate) fn answer(&mut self, question: &Question) -> Answer {
        let query = Query::parse(&question.query);
        let view = VIEWS.iter().find(|(name, _)| *name == question.view);
        let Some((_, view)) = view else { return Answer::Wrong(format!("no view {}", question.view)) };
        let answered = self.go(&query).and_then(|()| view(self, &query));
        answered.map_or_else(Answer::Wrong, Answer::Made)
    }

    /// Looks at what a query chooses.
    pub(crate) fn go(&mut self, query: &Query) -> Result<(), String> {
        let (mut start, origin_ns) = (self.start.clone(), self.origin_ns);
        let events = self.explorer.whole().recorded().iter().map(|event| event.name.as_str());
        start.event = query.event(events)?.unwrap_or(start.event);
        let mut state = query.state(&start, origin_ns, |state, way| subtree::steps(self, state, way))?;
        state.rows.named = state.steps.iter().any(|step| matches!(step, Step::Names(names) if names.named));
        if state.event >= self.explorer.whole().events().len().max(1) {
            return Err(format!("event={}: there is none", state.event));
        }
        self.explorer.go(state);
        Ok(())
    }

    /// The flame graph of what is looked at; of both recordings where two are compared.
    fn flame(&self) -> &Flame {
        self.explorer.compared_flame().unwrap_or_else(|| self.explorer.flame())
    }

    /// The same from the roots, whatever is turned around.
    fn upright_flame(&self) -> &Flame {
        self.explorer.upright_compared_flame().unwrap_or_else(|| self.explorer.upright_flame())
    }

    /// What the page is called: program, host, date, event.
    pub(crate) fn title(&self) -> String {
        self.with_export(title)
    }

    /// The head of a picture.
    fn head(&self, note: String) -> Head {
        let (weight, quantity) = (self.explorer.state().weight, self.quantity());
        Head {
            title: self.title(),
            note,
            weight,
            quantity,
            colors: Colors::Kind,
            inverted: true,
            ..Head::default()
        }
    }

    /// What shares are of, and in what.
    fn measure(&self) -> Map<String, Value> {
        let (profile, state) = (self.explorer.totals(), self.explorer.state());
        let of = |events: &[EventTotal]| {
            let total = events
                .get(state.event)
                .map_or(Sum::default(), |total| Sum { period: total.period, samples: total.samples });
            state.weight.of_sum(&total)
        };
        let unit = match self.quantity() {
            Quantity::Time => "ns".to_owned(),
            Quantity::Events(name) => name,
            Quantity::Period => String::new(),
        };
        let mut object = Map::new();
        object.insert("weight".into(), state.weight.name().into());
        object.insert("unit".into(), unit.into());
        object.insert("whole".into(), of(profile.events()).into());
        object.insert("recorded".into(), of(profile.recorded()).into());
        if let Some(before) = self.explorer.total_before() {
            object.insert("whole_before".into(), state.weight.of_sum(&before).into());
        }
        object
    }

    /// What periods are sums of.
    fn quantity(&self) -> Quantity {
        self.with_export(|export| Quantity::of(export, self.explorer.state().event))
    }

    /// What is looked at, as exports take it.
    fn with_export<T>(&self, make: impl FnOnce(&Export<'_>) -> T) -> T {
        let (analysis, state) = (self.explorer.analysis(), self.explorer.state());
        let options =
            ExportOptions { event: Some(state.event), title: self.title.clone(), ..ExportOptions::default() };
        make(&Export {
            profile: self.explorer.by_comm(),
            session: &analysis.session,
            metadata: &analysis.metadata,
            marks: &analysis.marks,
            linked_addresses: &[],
            options: &options,
        })
    }
}

/// What something writes.
fn written_by(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    write(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// JSON as bytes. Characters that are never written as they are become escapes, as in all of readperf's JSON.
fn written(value: &impl serde::Serialize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    readperf_output::json::write(&mut bytes, value).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// A view's own fields behind those of the measure.
fn with_measure(answers: &Answers<'_, '_>, more: Value) -> Result<Vec<u8>, String> {
    let mut object = answers.measure();
    if let Value::Object(more) = more {
        object.extend(more);
    }
    written(&json!(object))
}

/// Adds what something weighs: now under the first name, and under the second one before, where two recordings are compared.
fn with_sums(mut of: Value, weight: Weight, compares: bool, sums: &[(&str, &str, &NowAndBefore)]) -> Value {
    if let Value::Object(object) = &mut of {
        for (name, name_before, [now, before]) in sums {
            object.insert((*name).into(), weight.of_sum(now).into());
            if compares {
                object.insert((*name_before).into(), weight.of_sum(before).into());
            }
        }
    }
    of
}
