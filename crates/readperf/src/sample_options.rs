//! Which samples count: the flags that report, script and the exports share.

use crate::suggestion::hint;
use crate::time_range::TimeRanges;
use clap::{Args, ValueEnum};
use perffile::wire::attr::SampleType;
use perffile::{Recording, Schema};
use readperf::profile::{NameFilter, SampleFilter};
use regex::Regex;
use std::ops::RangeInclusive;

/// What a sample counts for.
#[derive(ValueEnum, Clone, Copy, Debug)]
pub(crate) enum Weight {
    /// The events that a sample stands for
    Period,
    /// Each sample once
    Samples,
}

impl From<Weight> for readperf::profile::Weight {
    fn from(weight: Weight) -> Self {
        match weight {
            Weight::Period => Self::Period,
            Weight::Samples => Self::Samples,
        }
    }
}

/// The options.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Which samples")]
pub(crate) struct SampleOptions {
    /// Only samples of these events, by name
    #[arg(long = "event", value_name = "NAME")]
    events: Vec<String>,

    /// Only threads with these names
    #[arg(short = 'c', long = "comm", alias = "comms", value_name = "NAME", value_delimiter = ',')]
    comms: Vec<String>,

    /// Only these processes
    #[arg(long = "pid", value_name = "PID", value_delimiter = ',')]
    pids: Vec<u32>,

    /// Only these threads
    #[arg(long = "tid", value_name = "TID", value_delimiter = ',')]
    tids: Vec<u32>,

    /// Only these CPUs: numbers and ranges, as 0,2-3
    #[arg(long = "cpu", short = 'C', value_name = "LIST", value_delimiter = ',', value_parser = cpu_range)]
    cpus: Vec<RangeInclusive<u32>>,

    /// Only this time: FROM,TO or FROM-TO in seconds (12.5,13), in nanoseconds (12500000000ns,) or in percent of the time between first and
    /// last sample (10%-20%); either end may be left out. 10%/2 is the second tenth. Several parts are separated by commas
    /// (0%-10%,30%-40%), ranges with a comma by spaces. May be given more than once
    #[arg(long = "time", value_name = "FROM,TO", value_parser = TimeRanges::parse)]
    times: Vec<TimeRanges>,
}

/// Which samples count, by names.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = "Which samples")]
pub(crate) struct NameOptions {
    /// Only samples in these binaries, by name or path
    #[arg(short = 'd', long = "dso", alias = "dsos", value_name = "NAME", value_delimiter = ',')]
    dsos: Vec<String>,

    /// Only samples in this function
    #[arg(long = "symbol", value_name = "NAME")]
    symbol_names: Vec<String>,

    /// Only samples in these functions
    #[arg(short = 'S', value_name = "NAMES", value_delimiter = ',')]
    symbol_list: Vec<String>,

    /// Only samples in functions whose name contains this text
    #[arg(long, value_name = "TEXT")]
    symbol_filter: Vec<String>,

    /// Only samples with a function in their stack that matches this pattern
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    focus: Vec<Regex>,

    /// No samples with a function in their stack that matches this pattern
    #[arg(long, value_name = "REGEX", value_parser = pattern)]
    ignore: Vec<Regex>,
}

impl SampleOptions {
    /// The options that choose samples and were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let SampleOptions { events, comms, pids, tids, cpus, times } = self;
        named([
            ("--event", events.is_empty()),
            ("--comm", comms.is_empty()),
            ("--pid", pids.is_empty()),
            ("--tid", tids.is_empty()),
            ("--cpu", cpus.is_empty()),
            ("--time", times.is_empty()),
        ])
    }

    /// The wanted events.
    #[cfg(feature = "sql")]
    pub(crate) fn events(&self) -> &[String] {
        &self.events
    }

    /// The wanted names of threads.
    pub(crate) fn comms(&self) -> impl Iterator<Item = &str> {
        self.comms.iter().map(String::as_str)
    }

    /// The filter for a recording. Percentages of its time are worked out here, from its header or by reading it once.
    pub(crate) fn filter(&self, recording: &Recording) -> anyhow::Result<SampleFilter> {
        let ranges = self.times.iter().flat_map(TimeRanges::iter);
        let times = ranges.map(|range| Ok(range.times(recording)?.range()));
        Ok(SampleFilter {
            comms: self.comms.iter().map(|name| name.as_bytes().into()).collect(),
            pids: self.pids.clone(),
            tids: self.tids.clone(),
            cpus: self.cpus.clone(),
            times_ns: times.collect::<anyhow::Result<_>>()?,
            events: self.events.clone(),
        })
    }

    /// Says what a recording does not have of that by which samples are chosen, now that all of its events are known.
    pub(crate) fn missing(&self, schema: &Schema) -> Option<String> {
        let has_cpus = || schema.events().iter().any(|event| event.attr.sample_type.has(SampleType::CPU));
        let without_cpus = !self.cpus.is_empty() && !schema.events().is_empty() && !has_cpus();
        let no_cpus = "--cpu: samples of this recording have no CPU; record with -a or --sample-cpu";
        unknown_event(&self.events, schema).or_else(|| without_cpus.then(|| no_cpus.to_owned()))
    }
}

/// Names of the options that are not empty.
pub(crate) fn named<const N: usize>(
    options: [(&'static str, bool); N],
) -> impl Iterator<Item = &'static str> {
    options.into_iter().filter_map(|(option, is_empty)| (!is_empty).then_some(option))
}

/// Says which of the wanted events a recording does not have.
pub(crate) fn unknown_event(wanted: &[String], schema: &Schema) -> Option<String> {
    let names = || schema.events().iter().map(|event| event.name.as_str());
    let unknown = wanted.iter().find(|wanted| !names().any(|name| name == wanted.as_str()))?;
    // Behind the name stand the modifiers that perf has added (`cycles:P`).
    let with_modifiers = names().find(|name| name.rsplit_once(':').is_some_and(|(name, _)| name == *unknown));
    let hint = match with_modifiers {
        Some(name) => format!(" (did you mean {name}?)"),
        None => hint(unknown, names()),
    };
    Some(format!("no event of the recording is called {unknown}{hint}"))
}

impl NameOptions {
    /// The options that choose samples by name and were given.
    pub(crate) fn given(&self) -> impl Iterator<Item = &'static str> {
        let NameOptions { dsos, symbol_names, symbol_list, symbol_filter, focus, ignore } = self;
        named([
            ("--dso", dsos.is_empty()),
            ("--symbol", symbol_names.is_empty()),
            ("-S", symbol_list.is_empty()),
            ("--symbol-filter", symbol_filter.is_empty()),
            ("--focus", focus.is_empty()),
            ("--ignore", ignore.is_empty()),
        ])
    }

    /// Whether the answer depends on whole stacks.
    pub(crate) fn needs_stacks(&self) -> bool {
        !self.focus.is_empty() || !self.ignore.is_empty()
    }

    /// The filter.
    pub(crate) fn filter(&self) -> NameFilter {
        NameFilter {
            dsos: self.dsos.clone(),
            symbols: self.symbol_names.iter().chain(&self.symbol_list).cloned().collect(),
            symbol_parts: self.symbol_filter.clone(),
            named: false,
            focus: self.focus.clone(),
            ignore: self.ignore.clone(),
        }
    }
}

fn cpu_range(text: &str) -> Result<RangeInclusive<u32>, String> {
    let number =
        |text: &str| text.trim().parse::<u32>().map_err(|_| format!("{text} is no CPU: expected 3 or 0-3"));
    match text.split_once('-') {
        Some((from, to)) => match number(from)?..=number(to)? {
            range if range.is_empty() => Err(format!("{text}: that range ends before it begins")),
            range => Ok(range),
        },
        None => number(text).map(|cpu| cpu..=cpu),
    }
}

/// A pattern of names.
pub(crate) fn pattern(text: &str) -> Result<Regex, String> {
    readperf::profile::pattern(text)
}
