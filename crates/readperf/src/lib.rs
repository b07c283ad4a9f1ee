//! Reads Linux perf.data: who spent the time, in text, CSV and JSON.
//!
//! This is the facade: the crates of the workspace under one roof, on which the program `readperf` is built.
//!
//! A recording becomes a profile with names once, and everything that is shown is a view of that profile. The rows of
//! `readperf report --sort comm,symbol`, with children:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main/perf.data");
//! # let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/main");
//! use readperf::perffile::Recording;
//! use readperf::profile::{Keep, Value, view::{facts::Facts, histogram::*, key, surroundings::Surroundings}};
//! use readperf::{PassOptions, Request, symbols};
//!
//! let request = Request {
//!     keep: Keep { stacks: true, threads: true, ..Keep::default() },
//!     pass: PassOptions { stacks: true, ..PassOptions::default() },
//!     // Where binaries are besides their own places.
//!     symbols: symbols::Options { search_dirs: vec![fixtures.into()], inlines: true, ..symbols::Options::default() },
//!     ..Request::default()
//! };
//! let readperf::Analysis { profile, session, .. } = readperf::analyse(&Recording::open(path)?, &request)?;
//!
//! let keys = ["comm", "symbol"].into_iter().filter_map(key::by_name).map(Into::into).collect();
//! let options = HistogramOptions { keys, children: true, inline: true, ..HistogramOptions::default() };
//! let surroundings = Surroundings::default();
//! let mut histograms = Histograms::new(Facts::new(&profile, &session, &surroundings), &options);
//! let rows = histograms.of_event(0).ok_or("no samples")?.rows;
//! for row in &rows {
//!     let Value::Comm(comm) = histograms.values.value(row.key, 0) else { continue };
//!     let Value::Function { function, .. } = histograms.values.value(row.key, 1) else { continue };
//!     let name = profile.function(function).map(|function| function.label());
//!     println!("{} {name:?}: {} of {}", session.comm(comm).escape_ascii(), row.numbers.self_period, row.numbers.total_period);
//! }
//! # assert!(!rows.is_empty());
//!
//! // Who calls `work`, and how much of the time that is; names are told apart by binary, not by line or inlining.
//! use readperf::profile::{Apart, FrameTable, Weight, view::call_graph::{CallGraph, CallGraphLimits}};
//! let frames = FrameTable::new(&profile, &session, Apart::default());
//! let name = |frame: u32| frames.frames()[frame as usize].label(&profile, &session);
//! let calls = CallGraph::new(
//!     &profile,
//!     0,
//!     Weight::Period,
//!     frames.frames().len(),
//!     |address, stack| stack.extend(frames.at(address).iter().rev().map(|frame| frame.index() as u32)),
//!     CallGraphLimits { least_function: 0, least_call: 0, most_functions: usize::MAX, most_calls: usize::MAX },
//! );
//! let function = |index: usize| name(calls.functions[index].function);
//! for call in calls.calls.iter().filter(|call| function(call.to) == "work") {
//!     println!("{} calls it: {}", function(call.from), call.weight);
//! }
//! # assert!(!calls.functions.is_empty());
//!
//! // The tree of a flame graph, and the time that is below `main`.
//! use readperf::profile::view::flame_tree::FlameTree;
//! let mut tree = FlameTree::default();
//! tree.add(&profile, 0, &frames.levels(), |_| None);
//! let below: u64 = tree.nodes().iter().zip(tree.totals(0))
//!     .filter(|(node, _)| name(node.level.label) == "main")
//!     .map(|(_, total)| total.period)
//!     .sum();
//! # assert!(below <= profile.events()[0].period);
//!
//! // What has changed between two recordings: here nothing, it is the same one twice.
//! use readperf::profile::diff::{DiffKey, Normalize, Tally, compare};
//! let tally = || Tally::of(&profile, &session, &[DiffKey::Function], 0.0);
//! let difference = compare(&[tally()], &[tally()], Normalize::Total);
//! assert!(difference.events[0].rows.iter().all(|row| row.delta() == 0.0));
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub use perffile;
pub use readperf_analysis as analysis;
pub use readperf_analysis::*;
pub use readperf_edit as edit;
pub use readperf_explore as explore;
pub use readperf_output as output;
pub use readperf_profile as profile;
pub use readperf_session as session;
pub use readperf_symbols as symbols;
#[cfg(feature = "tables")]
pub use readperf_tables as tables;
