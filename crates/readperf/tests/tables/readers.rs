//! Readers of callgrind, dot, JSON lines and CSV that have nothing to do with readperf.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Command, Stdio};

/// Whether a program can be started.
pub(crate) fn installed(program: &str, arguments: &[&str]) -> bool {
    // callgrind_annotate says its version on stderr, with status 255.
    Command::new(program).args(arguments).output().is_ok()
}

/// What a program makes of a text.
fn filtered(command: &mut Command, input: &str) -> String {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    let output = command.arg(file.path()).stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && told.is_empty(), "{command:?}: {}, {told}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

/// What callgrind_annotate says of costs.
#[derive(Debug)]
pub(crate) struct Annotated {
    pub(crate) total: u64,
    /// By `file:function [object]`.
    pub(crate) costs: BTreeMap<String, u64>,
    functions: Vec<((String, String), u64)>,
}

impl Annotated {
    pub(crate) fn of(text: &str, inclusive: bool) -> Annotated {
        let inclusive = if inclusive { "--inclusive=yes" } else { "--inclusive=no" };
        let mut command = Command::new("callgrind_annotate");
        let said =
            filtered(command.args(["--threshold=100", "--auto=no", "--show-percs=no", inclusive]), text);
        let number = |text: &str| text.replace(',', "").parse::<u64>().ok();
        let mut annotated = Annotated { total: 0, costs: BTreeMap::new(), functions: Vec::new() };
        for line in said.lines() {
            let Some((cost, what)) = line.trim().split_once(' ') else { continue };
            let cost = if cost == "." { Some(0) } else { number(cost) };
            let Some(cost) = cost else { continue };
            let what = what.trim();
            if what == "PROGRAM TOTALS" {
                annotated.total = cost;
                continue;
            }
            let (function, _object) = what.rsplit_once(" [").expect("an object");
            let (file, name) = function.split_once(':').expect("a file");
            annotated.functions.push(((file.to_owned(), name.to_owned()), cost));
            assert!(annotated.costs.insert(function.to_owned(), cost).is_none(), "{function} twice");
        }
        annotated
    }

    /// Costs by name, whatever the file; only what costs.
    pub(crate) fn by_name(&self) -> BTreeMap<String, u64> {
        let mut costs = BTreeMap::new();
        for ((_, name), cost) in self.functions.iter().filter(|(_, cost)| *cost > 0) {
            *costs.entry(name.clone()).or_default() += cost;
        }
        costs
    }

    /// Functions whose name no other has: file and name.
    pub(crate) fn unique(&self) -> Vec<((String, String), u64)> {
        let same = |name: &str| self.functions.iter().filter(|((_, other), _)| other == name).count();
        self.functions.iter().filter(|((_, name), _)| same(name) == 1).cloned().collect()
    }
}

/// A graph as a small reader understands it.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Own weight and weight with all it calls, by whole name.
    pub(crate) nodes: BTreeMap<String, (u64, u64)>,
    /// The names as they are shown.
    pub(crate) labels: Vec<String>,
    /// Weight, and whether it is dashed, by names.
    pub(crate) edges: BTreeMap<(String, String), (u64, bool)>,
}

impl Graph {
    pub(crate) fn of(text: &str) -> Graph {
        let mut graph = Graph::default();
        let mut names = BTreeMap::new();
        assert!(text.starts_with("digraph \"") && text.ends_with("\n}\n"), "{text}");
        for line in text.lines().filter(|line| line.starts_with('N')) {
            let (id, attributes) = line.split_once(" [").expect("attributes");
            let label = attribute(attributes, "label");
            match id.split_once(" -> ") {
                None => {
                    // The name, maybe shortened, and what it cost, rounded; in the hint whole and exactly.
                    let (shown, _) = label.split_once('\n').expect("a name and a weight");
                    let hint = attribute(attributes, "tooltip");
                    let (whole, exact) = hint.rsplit_once('\n').expect("a name and exact weights");
                    let (name, binary) = whole.rsplit_once(" (").expect("a binary");
                    let name = if shown.ends_with(&format!(" ({binary}")) { whole } else { name };
                    let (own, total) = exact.split_once(" of ").expect("exact weights");
                    let costs = (number(own), number(total));
                    assert!(graph.nodes.insert(name.to_owned(), costs).is_none(), "{name} twice");
                    graph.labels.push(shown.to_owned());
                    names.insert(id.to_owned(), name.to_owned());
                }
                Some((from, to)) => {
                    let call = (names[from].clone(), names[to].clone());
                    let dashed = attributes.contains("style=dashed");
                    assert!(
                        graph
                            .edges
                            .insert(call, (number(&attribute(attributes, "tooltip")), dashed))
                            .is_none(),
                        "{line} twice"
                    );
                }
            }
        }
        graph
    }
}

fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap_or_else(|_| panic!("{text:?} is no number"))
}

/// The value of a quoted attribute, as graphviz understands it.
fn attribute(attributes: &str, key: &str) -> String {
    let (_, rest) = attributes.split_once(&format!("{key}=\"")).expect("the attribute");
    let mut value = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next().expect("the end of the value") {
            '"' => break,
            '\\' => match chars.next().expect("an escape") {
                'n' => value.push('\n'),
                c @ ('"' | '\\') => value.push(c),
                c => panic!("\\{c} means something else"),
            },
            c => value.push(c),
        }
    }
    value.replace("&amp;", "&")
}

/// The texts in the picture that graphviz draws.
pub(crate) fn drawn(text: &str) -> BTreeSet<String> {
    let svg = filtered(Command::new("dot").arg("-Tsvg"), text);
    let plain = |text: &str| {
        let text = text.replace("&#45;", "-").replace("&#160;", " ").replace("&quot;", "\"");
        text.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'").replace("&amp;", "&")
    };
    let texts = svg.split("<text ").skip(1);
    texts.filter_map(|text| Some(plain(text.split_once('>')?.1.split_once("</text>")?.0))).collect()
}

/// Width and height of the picture that graphviz draws, in points: what a browser shows it in.
pub(crate) fn size(text: &str) -> (f64, f64) {
    let svg = filtered(Command::new("dot").arg("-Tsvg"), text);
    let of = |key: &str| {
        let (_, rest) = svg.split_once(&format!("{key}=\"")).expect("a size");
        rest.split_once("pt\"").expect("points").0.parse().expect("a number")
    };
    (of("width"), of("height"))
}

/// Where the uppermost box and the text below the graph that begins so stand from above, in the picture that graphviz draws.
pub(crate) fn rows(text: &str, below: &str) -> (f64, f64) {
    let svg = filtered(Command::new("dot").arg("-Tsvg"), text);
    let rows = |wanted: &dyn Fn(&str) -> bool| {
        let texts = svg.split("<text ").skip(1).filter(|text| {
            wanted(text.split_once('>').and_then(|(_, rest)| rest.split_once('<')).expect("text").0)
        });
        let row = |text: &str| text.split_once(" y=\"")?.1.split_once('"')?.0.parse::<f64>().ok();
        texts.filter_map(row).collect::<Vec<f64>>()
    };
    let legend = |text: &str| text.replace("&#45;", "-").starts_with(below);
    let boxes = rows(&|text| text.contains(" %)"));
    (boxes.into_iter().fold(f64::MAX, f64::min), rows(&legend).into_iter().fold(f64::MAX, f64::min))
}

/// What identifies a sample: event, time, comm, pid, tid, cpu (-1 if not recorded), period.
pub(crate) type Head = (String, u64, String, u64, u64, i64, u64);

/// Samples as Python reads them.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    pub(crate) heads: Vec<Head>,
    /// Samples and their periods.
    pub(crate) by_event: BTreeMap<String, (u64, u64)>,
    /// Folded stacks with the comm.
    pub(crate) stacks: BTreeMap<String, BTreeMap<String, u64>>,
}

/// Reads one form and writes another: fields between tabs.
const PYTHON: &str = r#"
import csv, json, sys
form, path = sys.argv[1:]
def name(level):
    if level["symbol"] is not None:
        return level["symbol"].replace(";", ":")
    int(level["address"], 16)
    return level["dso"] if level["dso"].startswith("[") else "[" + level["dso"] + "]"
with open(path, newline="", encoding="utf-8") as f:
    if form == "csv":
        rows = [dict(row, stack=row["stack"].split(";")) for row in csv.DictReader(f, strict=True)]
        for row in rows:
            # Where the sample was taken has a name or an address.
            assert row["dso"] and row["symbol"], row
    else:
        rows = [json.loads(line) for line in f]
        for row in rows:
            assert row["stack"], row
            assert not row["stack"][-1]["inlined"], row
            assert all(level["kind"] in ("user", "kernel", "jit", "unknown") for level in row["stack"])
            assert all(level["line"] is None or level["line"] > 0 for level in row["stack"])
            row["stack"] = [name(level) for level in reversed(row["stack"])]
for row in rows:
    cpu = row["cpu"]
    head = [row["event"], int(row["time_ns"] or 0), row["comm"], int(row["pid"]), int(row["tid"]), -1 if cpu in (None, "") else int(cpu), int(row["period"])]
    print(*head, ";".join([row["comm"].replace(" ", "_")] + row["stack"]), sep="\t")
"#;

impl Rows {
    pub(crate) fn of(format: &str, text: &str) -> Rows {
        let said = filtered(Command::new("python3").args(["-c", PYTHON, format]), text);
        let mut rows = Rows::default();
        for line in said.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [event, time, comm, pid, tid, cpu, period, stack] = fields[..] else { panic!("{line}") };
            let number = |text: &str| text.parse::<u64>().unwrap();
            let (event, period) = (event.to_owned(), number(period));
            let total = rows.by_event.entry(event.clone()).or_default();
            *total = (total.0 + 1, total.1 + period);
            let stacks = rows.stacks.entry(event.clone()).or_default();
            *stacks.entry(stack.to_owned()).or_default() += period;
            let cpu = cpu.parse().unwrap();
            rows.heads.push((event, number(time), comm.to_owned(), number(pid), number(tid), cpu, period));
        }
        rows
    }
}

/// Samples as `perf script` prints them: `comm pid/tid [cpu] seconds: period event: …`.
pub(crate) fn perf_samples(script: &str) -> Vec<Head> {
    let pattern = regex::Regex::new(
        r"^\s*(\S.*?)\s+(\d+)/(\d+)\s+(?:\[(\d+)\]\s+)?(\d+)\.(\d{9}):\s+(\d+)\s+(\S+):(?:\s|$)",
    )
    .unwrap();
    let head = |line: &str| {
        let found = pattern.captures(line)?;
        let number = |group: usize| found[group].parse::<u64>().unwrap();
        let cpu = found.get(4).map_or(-1, |cpu| cpu.as_str().parse().unwrap());
        let time = number(5) * 1_000_000_000 + number(6);
        Some((found[8].to_owned(), time, found[1].to_owned(), number(2), number(3), cpu, number(7)))
    };
    script.lines().filter_map(head).collect()
}
