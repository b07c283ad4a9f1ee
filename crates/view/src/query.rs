//! The state in the address: what is chosen, in the order in which it was chosen, and what is asked.

use readperf_explore::{State, Step};
use readperf_profile::{Functions, SampleFilter, Transform, Weight};

/// The pairs of a query, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    /// That of an address, without its question mark.
    pub(crate) fn parse(query: &str) -> Query {
        Query(form_urlencoded::parse(query.as_bytes()).into_owned().collect())
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

    /// The state that is asked for: `start` with what the query chooses. Times are in ns since `origin_ns`; `below` gives the steps that look
    /// at a frame of the flame graph of a state.
    pub(crate) fn state(
        &self,
        start: &State,
        origin_ns: u64,
        mut below: impl FnMut(&State, &str) -> Result<Vec<Step>, String>,
    ) -> Result<State, String> {
        let mut state = start.clone();
        if let Some(event) = self.number("event")? {
            state.event = event;
        }
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
        let number = || value.parse().map_err(|_| wrong(key, value));
        let pattern = || readperf_profile::pattern(value).map_err(|error| format!("{key}={value}: {error}"));
        let functions = || pattern().map(Functions::Matching);
        Ok(Some(match key {
            "from" | "to" => return self.range(key, origin_ns),
            "tid" => Step::thread(number()?),
            "pid" => Step::process(number()?),
            "cpu" => Step::cpu(number()?),
            "comm" => Step::comm(value.as_bytes()),
            "dso" => Step::binary(value),
            "focus" => Step::focus(value).map_err(|error| format!("{key}={value}: {error}"))?,
            "ignore" => Step::ignore(value).map_err(|error| format!("{key}={value}: {error}"))?,
            "hide" => Step::Stacks(Transform::Hide(functions()?)),
            "show" => Step::Stacks(Transform::Show(functions()?)),
            "show-from" => Step::Stacks(Transform::ShowFrom(functions()?)),
            "collapse" => Step::Stacks(Transform::CollapseBinaries(vec![value.to_owned()])),
            "collapse-recursion" => Step::Stacks(Transform::CollapseRecursion),
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

fn wrong(key: &str, value: &str) -> String {
    format!("{key}={value}: not a value of {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(query: &str) -> Result<State, String> {
        Query::parse(query).state(&State::default(), 1000, |state, way| {
            Ok(vec![Step::comm(way.as_bytes()); state.steps.len()])
        })
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
        for query in ["tid=x", "event=-1", "weight=pounds", "focus=(", "from=1s", "hide=["] {
            let error = state(query).unwrap_err();
            assert!(error.starts_with(query.split('=').next().unwrap()), "{query}: {error}");
        }
    }
}
