//! Zooms: into the binary, the thread, the command of a row.

use crate::app::{App, Overlay, Screen};
use crate::keys::View;
use crate::list::Cursor;
use crate::menu::{Choice, Menu};
use readperf_explore::Step;
use readperf_output::text::{decoded, seconds, shown, shown_bytes};
use readperf_profile::profile::SampleRow;
use readperf_profile::{Functions, SampleFilter, Transform, Value, Weight};
use readperf_session::{BinaryId, CommId, ThreadId};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::hash::Hash;

/// Most threads or commands in a menu.
const MOST_CHOICES: usize = 500;

impl App<'_> {
    /// The binary that the cursor is on: of the call, of the row, of its function.
    fn binary_here(&self) -> Option<BinaryId> {
        let of_function = |value| match value {
            Some(Value::Function { function, .. }) => self.explorer.totals().function(function)?.binary,
            _ => None,
        };
        match (self.call_here(), self.value_here("dso")) {
            (None, Some(Value::Binary(binary))) => binary,
            _ => of_function(self.function_here()),
        }
    }

    pub(crate) fn zoom_binary(&mut self) {
        let binary = self.binary_here().and_then(|id| self.explorer.session().binary(id));
        match binary.map(|binary| decoded(&binary.name).into_owned()) {
            Some(name) => self.take(Step::binary(&name)),
            None => self.message = "no binary is known here".to_owned(),
        }
    }

    pub(crate) fn zoom_comm(&mut self) {
        match self.value_here("comm") {
            Some(Value::Comm(comm)) => self.take(Step::comm(self.explorer.session().comm(comm))),
            _ => self.choose_comm(),
        }
    }

    pub(crate) fn zoom_thread(&mut self) {
        let session = self.explorer.session();
        let step = match (self.value_here("tid"), self.value_here("pid")) {
            (Some(Value::Thread(id)), _) => session.thread(id).map(|thread| Step::thread(thread.tid)),
            (_, Some(Value::Process(id))) => session.process(id).map(|process| Step::process(process.pid)),
            _ => return self.choose_thread(),
        };
        if let Some(step) = step {
            self.take(step);
        }
    }

    /// Rows do not tell the command: asks which.
    fn choose_comm(&mut self) {
        let choices = self.weighed(|row| Some(row.comm), |_| true);
        let session = self.explorer.session();
        let item = |(comm, share): &(CommId, f64)| {
            let name = session.comm(*comm);
            (format!("{share:>6.2} %  {}", shown_bytes(name)), Choice::Take(Step::comm(name)))
        };
        let items = choices.iter().map(item).collect();
        self.ask_which("which command", items);
    }

    /// Rows do not tell the thread: asks which of those with the command of the row.
    fn choose_thread(&mut self) {
        let comm = match self.value_here("comm") {
            Some(Value::Comm(comm)) => Some(comm),
            _ => None,
        };
        let choices = self.weighed(|row| row.thread, |row| comm.is_none_or(|comm| row.comm == comm));
        let session = self.explorer.session();
        let item = |(id, share): &(ThreadId, f64)| {
            let thread = session.thread(*id)?;
            let name = shown_bytes(session.comm(thread.comm()));
            let label = format!("{share:>6.2} %  {} {name}", thread.tid.cast_signed());
            Some((label, Choice::Take(Step::thread(thread.tid))))
        };
        let items = choices.iter().filter_map(item).collect();
        self.ask_which("which thread", items);
    }

    /// Takes the only one, or asks.
    fn ask_which(&mut self, title: &str, mut items: Vec<(String, Choice)>) {
        match items.len() {
            0 => self.message = "there is nothing to choose from".to_owned(),
            1 => {
                if let Some((_, choice)) = items.pop() {
                    self.choose(choice);
                }
            }
            _ => {
                let (title, cursor) = (title.to_owned(), Cursor::default());
                self.overlay = Some(Overlay::Menu(Menu { title, items, cursor }));
            }
        }
    }

    /// What samples have, the heaviest first, with its share in percent.
    fn weighed<T: Copy + Eq + Hash + Ord>(
        &self,
        of: impl Fn(&SampleRow) -> Option<T>,
        counts: impl Fn(&SampleRow) -> bool,
    ) -> Vec<(T, f64)> {
        let mut sums: FxHashMap<T, u64> = FxHashMap::default();
        for row in self.explorer.samples().filter(|row| counts(row)) {
            if let Some(one) = of(&row) {
                *sums.entry(one).or_default() += Weight::Period.of_row(&row);
            }
        }
        let mut sums: Vec<(T, u64)> = sums.into_iter().collect();
        sums.sort_by_key(|(one, sum)| (Reverse(*sum), *one));
        sums.truncate(MOST_CHOICES);
        let whole = self.explorer.whole_period();
        sums.into_iter().map(|(one, sum)| (one, readperf_output::overview::share(sum, whole))).collect()
    }

    /// A pattern for exactly the function that the cursor is on.
    pub(crate) fn pattern_here(&self) -> String {
        let name = match (self.view(), self.screens.last()) {
            (View::Flame, Some(Screen::Flame(flame))) => flame.function_name(self),
            _ => match self.function_here() {
                Some(Value::Function { function, .. }) => self
                    .explorer
                    .totals()
                    .function(function)
                    .and_then(|function| function.name().map(str::to_owned)),
                _ => None,
            },
        };
        name.map_or(String::new(), |name| format!("^{}$", regex::escape(&name)))
    }

    /// The code of the function that the cursor is on.
    pub(crate) fn show_code(&mut self) {
        let function = match (self.view(), self.screens.last()) {
            (View::Flame, Some(Screen::Flame(flame))) => flame.function(self),
            _ => match self.function_here() {
                Some(Value::Function { function, inlined }) => Some((function, inlined)),
                _ => None,
            },
        };
        match function {
            Some((function, inlined)) => self.show_code_of(function, inlined),
            None => self.message = "no function is known here".to_owned(),
        }
    }
}

/// A step in words.
pub(crate) fn told(step: &Step) -> String {
    match step {
        Step::Samples(filter) => {
            let SampleFilter { comms, pids, tids, cpus, times_ns, events } = filter;
            let mut parts: Vec<String> = Vec::new();
            parts.extend(comms.iter().map(|comm| format!("command {}", shown_bytes(comm))));
            parts.extend(pids.iter().map(|pid| format!("process {}", pid.cast_signed())));
            parts.extend(tids.iter().map(|tid| format!("thread {}", tid.cast_signed())));
            parts.extend(cpus.iter().map(|cpus| format!("cpus {}-{}", cpus.start(), cpus.end())));
            let time = |range: &std::ops::RangeInclusive<u64>| {
                format!("{}–{} s", seconds(*range.start()), seconds(*range.end()))
            };
            parts.extend(times_ns.iter().map(time));
            parts.extend(events.iter().map(|event| format!("event {}", shown(event))));
            parts.join(", ")
        }
        Step::Names(filter) => {
            let mut parts: Vec<String> = Vec::new();
            parts.extend(
                filter.dsos.iter().map(|dso| format!("in {}", shown(dso.rsplit('/').next().unwrap_or(dso)))),
            );
            parts.extend(filter.symbols.iter().map(|name| format!("in {}", shown(name))));
            parts.extend(filter.symbol_parts.iter().map(|part| format!("in *{}*", shown(part))));
            parts.extend(filter.named.then(|| "with a name".to_owned()));
            parts.extend(filter.focus.iter().map(|pattern| format!("focus {}", shown(pattern.as_str()))));
            parts.extend(filter.ignore.iter().map(|pattern| format!("ignore {}", shown(pattern.as_str()))));
            parts.join(", ")
        }
        Step::Stacks(transform) => {
            let functions = |functions: &Functions| match functions {
                Functions::Matching(pattern) => shown(pattern.as_str()).into_owned(),
                Functions::These(these) => format!("{} functions", these.len()),
            };
            match transform {
                Transform::Hide(these) => format!("without {}", functions(these)),
                Transform::Show(these) => format!("only {}", functions(these)),
                Transform::ShowFrom(these) => format!("from {}", functions(these)),
                Transform::Subtree(path) => format!("below {} functions", path.len()),
                Transform::CollapseRecursion => "recursion once".to_owned(),
                Transform::CollapseBinaries(names) => format!("collapsed {}", shown(&names.join(", "))),
                Transform::DropPrefix(prefix) => format!("without {}", shown(prefix)),
            }
        }
    }
}
