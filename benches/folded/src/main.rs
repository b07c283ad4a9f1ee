//! Folded stacks beside those of inferno: `compare-folded READPERF RECORDING…`
//!
//! inferno reads the text of `perf script`. Where that text, or what inferno makes of it, is known to be wrong, the stack is
//! set aside and counted by reason; everything else has to be the same, stack by stack, weight by weight:
//!
//! * a caller at the very first byte of a function: the call was the last thing that the function before it did, and perf
//!   looks the return address up as it is. readperf looks the call up;
//! * names that begin with a parenthesis (`(anonymous namespace)::f`): inferno drops the frame; `operator()`: it cuts it;
//! * no frames at all: perf gives a whole chain up when a word in it looks like a context marker and is none (-1, mostly);
//! * `@plt`: an entry of the procedure linkage table whose function perf does not find;
//! * no name in a binary that is itself named in brackets: inferno writes `[[vdso]]`, readperf `[vdso]`; generated code:
//!   `[perf-123.map]` and `[JIT] tid 123`. These are only spelled differently and are compared;
//! * periods: where perf pads them, as it does with several events, inferno does not see them and counts samples. The padding is
//!   taken away before it reads the text;
//! * marks: inferno takes `[vdso]` for the kernel.

use inferno::collapse::Collapse as _;
use inferno::collapse::perf::{Folder, Options};
use std::collections::BTreeMap;
use std::process::{Command, ExitCode};

type Folded = BTreeMap<String, u64>;

/// Ways to fold: the arguments of readperf, the options of inferno, and whether the text has periods.
fn modes() -> Vec<(Vec<&'static str>, Options, bool)> {
    let plain = Options::default;
    let with = |change: fn(&mut Options)| {
        let mut options = plain();
        change(&mut options);
        options
    };
    vec![
        (vec![], plain(), true),
        (vec!["--weight", "samples"], plain(), false),
        (vec!["--with-pid"], with(|o| o.include_pid = true), true),
        (vec!["--with-tid"], with(|o| o.include_tid = true), true),
        (
            vec!["--annotate"],
            with(|o| {
                o.annotate_kernel = true;
                o.annotate_jit = true;
            }),
            true,
        ),
    ]
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let readperf = words.next().expect("usage: compare-folded READPERF RECORDING...");
    let mut differs = false;
    for recording in words {
        for (arguments, options, period) in modes() {
            let (right, aside, event) = theirs(&recording, &options, period);
            let ours = parse(&run(
                &readperf,
                &[
                    &["export", "-f", "folded", "--no-inline", "--no-progress", "--event", &event],
                    &arguments[..],
                    &[&recording],
                ]
                .concat(),
            ));
            differs |= !compare(&recording, &arguments, &right, aside, ours);
        }
    }
    ExitCode::from(u8::from(differs))
}

fn run(program: &str, words: &[&str]) -> String {
    let output =
        Command::new(program).args(words).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn parse(text: &str) -> Folded {
    let mut folded = Folded::new();
    for line in text.lines() {
        let (stack, weight) = line.rsplit_once(' ').expect("a weight");
        *folded.entry(same_spelling(stack)).or_default() += weight.parse::<u64>().expect("a weight");
    }
    folded
}

/// What inferno makes of perf's text: of the samples that perf is right about, and of the others.
fn theirs(recording: &str, options: &Options, period: bool) -> (Folded, u64, String) {
    let fields = format!("comm,pid,tid,time,{}event,ip,sym,symoff,dso", if period { "period," } else { "" });
    let script = run("perf", &["script", "--no-inline", "-i", recording, "-F", &fields]);
    let (mut right, mut aside) = (String::new(), 0);
    let mut first_event = None;
    for sample in script.split("\n\n").map(|sample| sample.trim_start_matches('\n')) {
        // comm pid/tid time: period event: — inferno takes the event that comes first.
        let mut head = sample.lines().next().unwrap_or_default().split_whitespace().rev();
        let Some(event) = head.next() else { continue };
        let shown = *first_event.get_or_insert(event) == event;
        if !is_doubtful(sample) {
            right.push_str(&unpadded(sample));
            right.push_str("\n\n");
        } else if shown {
            aside +=
                if period { head.next().and_then(|word| word.parse().ok()).expect("a period") } else { 1 };
        }
    }
    let mut folded = Vec::new();
    if !right.is_empty() {
        Folder::from(options.clone()).collapse(right.as_bytes(), &mut folded).expect("inferno folds");
    }
    let event = first_event.unwrap_or_default().trim_end_matches(':').to_owned();
    (parse(&String::from_utf8_lossy(&folded)), aside, event)
}

/// The sample with one space between period and event, however many events there are.
fn unpadded(sample: &str) -> String {
    let (head, frames) = sample.split_once('\n').unwrap_or((sample, ""));
    match head.trim_end().rsplit_once(' ') {
        Some((before, event)) => format!("{} {event} \n{frames}", before.trim_end()),
        None => sample.to_owned(),
    }
}

/// Whether perf, or inferno, is known to be wrong about a sample.
fn is_doubtful(sample: &str) -> bool {
    let doubtful = |(nr, frame): (usize, &str)| {
        let (_, name) = frame.split_once(' ').unwrap_or_default();
        let name_is_lost =
            name.starts_with("(anonymous") || name.contains("operator()") || name.starts_with("@plt");
        (nr > 0 && name.contains("+0x0 (")) || name_is_lost
    };
    let mut frames = sample.lines().skip(1).map(str::trim).enumerate().peekable();
    frames.peek().is_none() || frames.any(doubtful)
}

fn same_spelling(stack: &str) -> String {
    let level = |level: &str| {
        let level = level.replace("[vdso]_[k]", "[vdso]").replace("[[", "[").replace("]]", "]");
        match level.strip_prefix("[perf-").and_then(|rest| rest.split_once(".map]")) {
            Some((pid, mark)) => format!("[JIT] tid {pid}{mark}"),
            None => level,
        }
    };
    stack.split(';').map(level).collect::<Vec<_>>().join(";")
}

/// Whether every stack that is right in perf's text has at least that weight here, and what is more here is what was set aside.
fn compare(recording: &str, arguments: &[&str], right: &Folded, set_aside: u64, mut ours: Folded) -> bool {
    let mut missing = Vec::new();
    let mut same = 0;
    for (stack, weight) in right {
        let here = ours.get_mut(stack);
        let found = here.as_deref().copied().unwrap_or(0).min(*weight);
        same += found;
        if let Some(here) = here {
            *here -= found;
        }
        if found < *weight {
            missing.push((stack, weight - found));
        }
    }
    let more: u64 = ours.values().sum();
    let whole: u64 = right.values().sum::<u64>() + set_aside;
    let fine = missing.is_empty() && more == set_aside;
    println!(
        "{}: {recording} {}: {} stacks, {:.3} % of the weight the same, {:.3} % set aside; of these readperf has {:.3} %",
        if fine { "same" } else { "DIFFERENT" },
        arguments.join(" "),
        right.len(),
        percent(same, whole),
        percent(set_aside, whole),
        percent(more, whole)
    );
    missing.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
    for (stack, weight) in missing.iter().take(5) {
        println!("  only inferno: {weight} {stack}");
    }
    if !fine {
        let mut left: Vec<_> = ours.iter().filter(|(_, weight)| **weight > 0).collect();
        left.sort_by_key(|(_, weight)| std::cmp::Reverse(**weight));
        left.iter().take(5).for_each(|(stack, weight)| println!("  more here: {weight} {stack}"));
    }
    fine
}

#[allow(clippy::cast_precision_loss)]
fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}
