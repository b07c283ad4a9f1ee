//! What reports of stacks of thousands of functions, each of them another one, hold at their peak beside the profile: by counting
//! bytes. For each function on a stack there is a row, a place in the tree of calls, and a part of a call graph.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test may fail loudly"
)]

mod handmade;
#[path = "../../perffile/tests/hostile/mod.rs"]
mod hostile;

use handmade::deep;
use hostile::allocation;
use perffile::Recording;
use perffile::bytes::Bytes;
use readperf::output::heading::Whole;
use readperf::output::report::{CellStyle, GraphStyle, Report, write_json, write_text};
use readperf::profile::view::column::Column;
use readperf::profile::view::facts::Facts;
use readperf::profile::view::graph::{GraphOptions, GraphOrder};
use readperf::profile::view::histogram::{HistogramOptions, Histograms};
use readperf::profile::view::key::{KeyUse, TraceField, by_name};
use readperf::profile::view::surroundings::Surroundings;
use readperf::profile::{DetailOptions, Keep};
use readperf::symbols::Options;
use readperf::{Analysis, PassOptions, Request};
use std::io;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: allocation::Counting = allocation::Counting;

const SAMPLES: u64 = 20;
const DEPTH: u64 = 2000;

fn analysis(whole_stacks: bool) -> Analysis {
    let bytes = Bytes::new(deep::recording(SAMPLES, DEPTH).bytes);
    let recording = Recording::from_bytes(bytes).unwrap();
    let symbols = Options {
        symfs: Some(Path::new("/nonexistent").to_owned()),
        trust_running_kernel: false,
        ..Options::default()
    };
    let request = Request {
        symbols,
        pass: PassOptions { stacks: true, ..PassOptions::default() },
        keep: Keep { stacks: true, ..Keep::default() },
        ..Request::default()
    };
    let details = DetailOptions { whole_stacks, ..DetailOptions::default() };
    readperf::analyse_detailed::<perffile::Error>(&recording, &request, &details, |_, _| Ok(())).unwrap()
}

/// The bytes at the peak of a report for each function on a stack.
fn bytes_of(graph: Option<GraphOptions>, json: bool) -> u64 {
    let analysis = analysis(graph.is_none());
    let key = |name| KeyUse { key: by_name(name).unwrap(), field: TraceField::default() };
    let totals = analysis.profile.events();
    let options = HistogramOptions {
        keys: vec![key("comm"), key("dso"), key("symbol")],
        children: true,
        inline: true,
        graph,
        whole: totals.iter().map(|total| total.period).collect(),
        ..HistogramOptions::default()
    };
    let surroundings = Surroundings::default();
    let columns = [Column::Children, Column::Overhead, Column::Key(0), Column::Key(1), Column::Key(2)];
    let (rows, bytes) = allocation::peak(|| {
        let facts = Facts::new(&analysis.profile, &analysis.session, &surroundings);
        let mut histograms = Histograms::new(facts, &options);
        let mut shown: Vec<_> = histograms.of_event(0).into_iter().collect();
        shown.iter_mut().for_each(|histogram| {
            histogram.sort(&columns[..1], 0, &histograms.facts, &histograms.values);
        });
        let report = Report {
            histograms: &shown,
            facts: &histograms.facts,
            values: &histograms.values,
            frames: histograms.frames(),
            keys: &options.keys,
            columns: &columns,
            recorded: totals,
            whole: Whole::Chosen,
            percent_limit: 0.0,
            graph: GraphStyle::default(),
            cells: CellStyle::default(),
            width: None,
            widths: &[],
            hierarchy: false,
        };
        match json {
            true => write_json(&mut io::sink(), &report, analysis.issues.iter()).unwrap(),
            false => write_text(&mut io::sink(), &report).unwrap(),
        }
        shown[0].rows.len() as u64
    });
    assert_eq!(rows, SAMPLES * DEPTH, "a row a function");
    bytes as u64 / rows
}

#[test]
fn rows_and_call_graphs_are_small() {
    let _alone = allocation::alone();
    let callees = Some(GraphOptions { order: GraphOrder::Callee, percent: 0.5, ..GraphOptions::default() });
    let callers = Some(GraphOptions { order: GraphOrder::Caller, percent: 0.5, ..GraphOptions::default() });
    let (rows, graphs) = (250, 320);
    let cases = [
        (None, false, rows),
        (None, true, rows),
        (callees, false, graphs),
        (callees, true, graphs),
        (callers, false, graphs),
    ];
    for (graph, json, most) in cases {
        let bytes = bytes_of(graph, json);
        assert!(bytes <= most, "{graph:?}, JSON {json}: {bytes} bytes a row");
    }
}
