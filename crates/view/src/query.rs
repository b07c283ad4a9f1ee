//! The state in the address: what is chosen, in the order in which it was chosen, and what is asked.

use readperf_explore::{State, Step};
use readperf_profile::{Functions, NameFilter, SampleFilter, Selection, Transform, Weight};
use regex::Regex;
use std::fmt::{self, Display, Formatter};
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The pairs of a query, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query(Vec<(String, String)>);

/// What the address of the page looks like with this query: nothing if it is empty.
impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        write!(f, "?{}", form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.0).finish())
    }
}

impl Query {
    /// The query that chooses what selections do, one after the other. Of several events it looks at the first.
    pub fn of(selections: &[Selection]) -> Query {
        let mut query = Query::default();
        let weight = selections.iter().map(|selection| selection.weight).find(|by| *by != Weight::default());
        query.add("weight", weight.map(|weight| weight.name().to_owned()));
        selections.iter().for_each(|selection| query.choose(selection));
        query
    }

    /// Adds what a selection chooses.
    fn choose(&mut self, selection: &Selection) {
        let Selection { weight: _, samples, names, transforms } = selection;
        let SampleFilter { comms, pids, tids, cpus, times_ns, events } = samples;
        let NameFilter { dsos, symbols, symbol_parts, named, focus, ignore } = names;
        self.add("event", events.first().cloned());
        self.add_list("comm", comms.iter().map(|name| String::from_utf8_lossy(name)));
        self.add_list("pid", pids.iter().map(u32::to_string));
        self.add_list("tid", tids.iter().map(u32::to_string));
        self.add_list("cpu", cpus.iter().map(range_text));
        self.add_list("time", times_ns.iter().map(range_text));
        self.add_list("dso", dsos);
        self.add_list("symbol", symbols);
        self.add_list("symbol-filter", symbol_parts);
        self.add("named", named.then(on));
        self.add("focus", any_of(focus));
        self.add("ignore", any_of(ignore));
        for transform in transforms {
            let functions = |functions: &Functions| match functions {
                Functions::Matching(pattern) => Some(pattern.as_str().to_owned()),
                Functions::These(_) => None,
            };
            match transform {
                Transform::Hide(of) => self.add("hide", functions(of)),
                Transform::Show(of) => self.add("show", functions(of)),
                Transform::ShowFrom(of) => self.add("show-from", functions(of)),
                Transform::CollapseBinaries(names) => self.add_list("collapse", names),
                Transform::CollapseRecursion => self.add("collapse-recursion", Some(on())),
                Transform::DropPrefix(prefix) => self.add("drop-prefix", Some(prefix.clone())),
                // Frames of a flame graph have a way to them, which is not known here.
                Transform::Subtree(_) => {}
            }
        }
    }

    /// Adds a pair, if there is a value.
    fn add(&mut self, key: &str, value: Option<String>) {
        self.0.extend(value.map(|value| (key.to_owned(), value)));
    }

    /// One value that stands for several, of which any will do.
    fn add_list(&mut self, key: &str, values: impl IntoIterator<Item: AsRef<str>>) {
        let values: Vec<String> = values
            .into_iter()
            .map(|value| value.as_ref().replace('\\', "\\\\").replace(',', "\\,"))
            .collect();
        self.add(key, (!values.is_empty()).then(|| values.join(",")));
    }

    /// That of an address, without its question mark.
    pub(crate) fn parse(query: &str) -> Query {
        Query(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
    }

    /// Keys and values.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }

    /// The value of a key; empty if it is not there.
    pub(crate) fn get(&self, key: &str) -> &str {
        self.0.iter().find(|(k, _)| k == key).map_or("", |(_, value)| value)
    }

    /// A number; nothing if the key is not there.
    pub(crate) fn number<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>, String> {
        match self.get(key) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| wrong(key, text)),
        }
    }

    /// The query without some keys.
    pub(crate) fn without(&self, keys: &[&str]) -> Query {
        Query(self.0.iter().filter(|(key, _)| !keys.contains(&key.as_str())).cloned().collect())
    }

    /// Whether a switch is on.
    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.get(key) == "1"
    }

    /// The event that is asked for, by its name or its index among those that have these names.
    pub(crate) fn event<'e>(
        &self,
        mut names: impl Iterator<Item = &'e str>,
    ) -> Result<Option<usize>, String> {
        match self.get("event") {
            "" => Ok(None),
            event => match names.position(|name| name == event) {
                None => self.number("event"),
                named => Ok(named),
            },
        }
    }

    /// The state that is asked for: `start` with what the query chooses, but for the event. The range `from` and `to` is in ns since
    /// `origin_ns`; `below` gives the steps that look at a frame of the flame graph of a state.
    pub(crate) fn state(
        &self,
        start: &State,
        origin_ns: u64,
        mut below: impl FnMut(&State, &str) -> Result<Vec<Step>, String>,
    ) -> Result<State, String> {
        let mut state = start.clone();
        match self.get("weight") {
            "" => {}
            "period" => state.weight = Weight::Period,
            "samples" => state.weight = Weight::Samples,
            other => return Err(wrong("weight", other)),
        }
        state.reversed = self.is_on("inverted");
        for (key, value) in &self.0 {
            match &**key {
                "subtree" => {
                    let steps = below(&state, value)?;
                    state.steps.extend(steps);
                }
                _ => state.steps.extend(self.step(key, value, origin_ns)?),
            }
        }
        Ok(state)
    }

    /// The step that a pair stands for; nothing if it chooses nothing.
    fn step(&self, key: &str, value: &str, origin_ns: u64) -> Result<Option<Step>, String> {
        let pattern = || readperf_profile::pattern(value).map_err(|error| format!("{key}={value}: {error}"));
        let functions = || pattern().map(Functions::Matching);
        let samples = SampleFilter::default();
        let names = NameFilter::default();
        Ok(Some(match key {
            "from" | "to" => return self.range(key, origin_ns),
            "time" => Step::Samples(SampleFilter { times_ns: ranges(key, value)?, ..samples }),
            "tid" => Step::Samples(SampleFilter { tids: numbers(key, value)?, ..samples }),
            "pid" => Step::Samples(SampleFilter { pids: numbers(key, value)?, ..samples }),
            "cpu" => Step::Samples(SampleFilter { cpus: ranges(key, value)?, ..samples }),
            "comm" => {
                let comms = list(value).into_iter().map(|name| name.into_bytes().into()).collect();
                Step::Samples(SampleFilter { comms, ..samples })
            }
            "dso" => Step::Names(NameFilter { dsos: list(value), ..names }),
            "symbol" => Step::Names(NameFilter { symbols: list(value), ..names }),
            "named" => Step::Names(NameFilter { named: true, ..names }),
            "symbol-filter" => Step::Names(NameFilter { symbol_parts: list(value), ..names }),
            "focus" => Step::focus(value).map_err(|error| format!("{key}={value}: {error}"))?,
            "ignore" => Step::ignore(value).map_err(|error| format!("{key}={value}: {error}"))?,
            "hide" => Step::Stacks(Transform::Hide(functions()?)),
            "show" => Step::Stacks(Transform::Show(functions()?)),
            "show-from" => Step::Stacks(Transform::ShowFrom(functions()?)),
            "collapse" => Step::Stacks(Transform::CollapseBinaries(list(value))),
            "collapse-recursion" => Step::Stacks(Transform::CollapseRecursion),
            "drop-prefix" => Step::Stacks(Transform::DropPrefix(value.to_owned())),
            _ => return Ok(None),
        }))
    }

    /// The range of time, once, where its first end stands; an end that is not there is open.
    fn range(&self, key: &str, origin_ns: u64) -> Result<Option<Step>, String> {
        let from: Option<u64> = self.number("from")?;
        if key == "to" && from.is_some() {
            return Ok(None);
        }
        let from = origin_ns.saturating_add(from.unwrap_or(0));
        let to = self.number("to")?.map_or(u64::MAX, |to| origin_ns.saturating_add(to));
        let times_ns = vec![from..=to];
        Ok(Some(Step::Samples(SampleFilter { times_ns, ..SampleFilter::default() })))
    }
}

/// A pattern for what any of these matches.
fn any_of(patterns: &[Regex]) -> Option<String> {
    match patterns {
        [] => None,
        [one] => Some(one.as_str().to_owned()),
        // Each by itself, so that flags of one are not those of the next.
        many => {
            Some(many.iter().map(|one| format!("(?:{})", one.as_str())).collect::<Vec<String>>().join("|"))
        }
    }
}

/// What a switch has that is on.
fn on() -> String {
    "1".to_owned()
}

/// The values of a list. A comma of their own stands behind a backslash, and so does a backslash.
fn list(value: &str) -> Vec<String> {
    let (mut values, mut last) = (Vec::new(), String::new());
    let mut letters = value.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ',' => values.push(std::mem::take(&mut last)),
            '\\' => last.extend(letters.next()),
            letter => last.push(letter),
        }
    }
    values.push(last);
    values
}

fn numbers<T: FromStr>(key: &str, value: &str) -> Result<Vec<T>, String> {
    value.split(',').map(|number| number.parse().map_err(|_| wrong(key, value))).collect()
}

/// Numbers and ranges of them, as `0,2-3`.
fn ranges<T: FromStr + Copy + PartialOrd>(key: &str, value: &str) -> Result<Vec<RangeInclusive<T>>, String> {
    let range = |text: &str| {
        let (from, to) = text.split_once('-').unwrap_or((text, text));
        let range = from.parse().ok()?..=to.parse().ok()?;
        (!range.is_empty()).then_some(range)
    };
    value.split(',').map(|text| range(text).ok_or_else(|| wrong(key, value))).collect()
}

fn range_text<T: Display + PartialEq>(range: &RangeInclusive<T>) -> String {
    match range.start() == range.end() {
        true => range.start().to_string(),
        false => format!("{}-{}", range.start(), range.end()),
    }
}

fn wrong(key: &str, value: &str) -> String {
    format!("{key}={value}: not a value of {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(query: &str) -> Result<State, String> {
        let query = Query::parse(query);
        let event = query.event(["cycles", "7", "faults"].into_iter())?.unwrap_or(0);
        query.state(&State { event, ..State::default() }, 1000, |state, way| {
            Ok(vec![Step::comm(way.as_bytes()); state.steps.len()])
        })
    }

    #[test]
    fn events_have_names_and_numbers() {
        let event = |query| state(query).unwrap().event;
        assert_eq!([event("event=faults"), event("event=2"), event("event=7"), event("")], [2, 2, 1, 0]);
    }

    /// What options of the command line choose is what the address chooses that they become.
    #[test]
    fn a_selection_and_its_query_choose_the_same() {
        let pattern = |text| readperf_profile::pattern(text).unwrap();
        let samples = SampleFilter {
            comms: vec![b"make".as_slice().into(), br"a,b\c".as_slice().into()],
            pids: vec![1, 2],
            tids: vec![3],
            cpus: vec![0..=0, 2..=3],
            times_ns: vec![0..=17, 5_000_000_000_000..=u64::MAX],
            events: Vec::new(),
        };
        let names = NameFilter {
            dsos: vec!["libc.so.6".to_owned(), r"/opt/a,\b/lib.so".to_owned()],
            symbols: vec!["operator,".to_owned(), "main".to_owned()],
            symbol_parts: vec!["al loc&x".to_owned()],
            named: true,
            focus: vec![pattern("^a+b$")],
            ignore: vec![pattern("x")],
        };
        let transforms = vec![
            Transform::ShowFrom(Functions::Matching(pattern("^main$"))),
            Transform::Hide(Functions::Matching(pattern("a"))),
            Transform::Hide(Functions::Matching(pattern("b"))),
            Transform::Show(Functions::Matching(pattern("c"))),
            Transform::CollapseBinaries(vec!["a,b".to_owned(), "c".to_owned()]),
            Transform::CollapseRecursion,
            Transform::DropPrefix("app::".to_owned()),
        ];
        let selection = Selection { weight: Weight::Samples, samples, names, transforms };
        let got = state(Query::of(std::slice::from_ref(&selection)).to_string().strip_prefix('?').unwrap())
            .unwrap();
        assert_eq!(got.weight, Weight::Samples);
        // Steps of one kind, one after the other, choose what one step with all of them does.
        let (mut samples, mut names, mut transforms) =
            (SampleFilter::default(), NameFilter::default(), Vec::new());
        for step in got.steps {
            match step {
                Step::Samples(one) => {
                    let SampleFilter { comms, pids, tids, cpus, times_ns, events: _ } = one;
                    samples.comms.extend(comms);
                    samples.pids.extend(pids);
                    samples.tids.extend(tids);
                    samples.cpus.extend(cpus);
                    samples.times_ns.extend(times_ns);
                }
                Step::Names(one) => {
                    let NameFilter { dsos, symbols, symbol_parts, named, focus, ignore } = one;
                    names.dsos.extend(dsos);
                    names.symbols.extend(symbols);
                    names.symbol_parts.extend(symbol_parts);
                    names.named |= named;
                    names.focus.extend(focus);
                    names.ignore.extend(ignore);
                }
                Step::Stacks(transform) => transforms.push(transform),
            }
        }
        assert_eq!(Selection { weight: Weight::Samples, samples, names, transforms }, selection);
    }

    #[test]
    fn the_query_of_a_selection() {
        let pattern = |text| readperf_profile::pattern(text).unwrap();
        assert_eq!(Query::of(&[]).to_string(), "");
        let samples = SampleFilter {
            events: vec!["sched:sched_switch".to_owned(), "cycles".to_owned()],
            cpus: vec![1..=1, 4..=7],
            ..SampleFilter::default()
        };
        let names = NameFilter { focus: vec![pattern("(?i)a"), pattern("b|c")], ..NameFilter::default() };
        let query = Query::of(&[Selection { samples, names, ..Selection::default() }]);
        assert_eq!(
            query.to_string(),
            "?event=sched%3Asched_switch&cpu=1%2C4-7&focus=%28%3F%3A%28%3Fi%29a%29%7C%28%3F%3Ab%7Cc%29"
        );
    }

    #[test]
    fn steps_stand_in_the_order_of_the_address() {
        let got =
            state("focus=^a%2Bb%24&view=tree&tid=12&from=5&hide=x&to=9&event=1&weight=samples").unwrap();
        assert_eq!((got.event, got.weight), (1, Weight::Samples));
        let expected = [
            Step::focus("^a+b$").unwrap(),
            Step::thread(12),
            Step::time(1005..=1009),
            Step::Stacks(Transform::Hide(Functions::Matching(readperf_profile::pattern("x").unwrap()))),
        ];
        assert_eq!(got.steps, expected);
        assert_eq!(state("to=7").unwrap().steps, [Step::time(1000..=1007)]);
        assert_eq!(state("from=7").unwrap().steps, [Step::time(1007..=u64::MAX)]);
        let below = state("comm=a&subtree=1.2+main&comm=b").unwrap().steps;
        assert_eq!(
            below,
            [Step::comm(b"a"), Step::comm(b"1.2 main"), Step::comm(b"b")],
            "of what stands before it"
        );
        assert_eq!(state("view=flame&zoom=1.2").unwrap(), State::default());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for query in [
            "tid=x",
            "event=-1",
            "weight=pounds",
            "focus=(",
            "from=1s",
            "hide=[",
            "cpu=3-2",
            "time=1-",
            "pid=1,,2",
        ] {
            let error = state(query).unwrap_err();
            assert!(error.starts_with(query.split('=').next().unwrap()), "{query}: {error}");
        }
    }
}
