//! Which answers are put into a file, and what is left out.
//!
//! First what every event shows, then callers, callees and code of the hottest functions, then single processes and threads: as far
//! as there is room.

use crate::answers::{Answers, hottest, with_code};
use crate::worker::{Answer, Question};
use form_urlencoded::Serializer;
use readperf_output::text::grouped;
use serde_json::{Value as Json, json};
use std::io::{self, Write};

/// So much JSON fits into a file, bytes. It becomes a fifth of that or less.
const ROOM: usize = 48 << 20;
/// A flame graph takes no more, bytes: else it is drawn with fewer columns.
const MOST_FLAME: usize = 10 << 20;
/// The listing of a function takes no more, bytes.
const MOST_CODE: usize = 1 << 20;
/// The columns of flame graphs: what is narrower than one is left out.
const COLUMNS: u32 = 20_000;
/// The same of a process or a thread.
const COLUMNS_OF_THREADS: u32 = 5_000;
/// Functions of each event whose callers and callees are in the file.
const SANDWICHES: usize = 200;
/// The same of a process or a thread.
const SANDWICHES_OF_THREADS: usize = 30;
/// Functions of each event whose code is in the file.
const LISTINGS: usize = 30;
/// Most events.
const EVENTS: usize = 8;
/// Most processes and threads of an event.
const THREADS: usize = 16;
/// Parts that time is cut into: the pixels of most screens.
const BUCKETS: u32 = 1000;

/// An answer, and what it is the answer to.
struct One {
    /// Event, and the process (`p7`) or thread (`t7`), if it is of one.
    state: (usize, String),
    view: &'static str,
    /// What else was asked: a function and its binary, a part, whether a graph is turned around.
    of: String,
    json: Vec<u8>,
}

/// The answers of a file.
pub(super) struct Stored {
    list: Vec<One>,
    bytes: usize,
    /// What is not there, in sentences.
    told: Vec<String>,
    event: usize,
}

/// What is asked about.
#[derive(Clone, Debug)]
struct Chosen {
    event: usize,
    thread: String,
}

impl Chosen {
    fn question(&self, view: &str, more: &[(&str, &str)]) -> Question {
        let mut query = Serializer::new(String::new());
        query.append_pair("event", &self.event.to_string());
        match self.thread.split_at_checked(1) {
            Some(("p", pid)) => query.append_pair("pid", pid),
            Some(("t", tid)) => query.append_pair("tid", tid),
            _ => &mut query,
        };
        query.extend_pairs(more);
        Question { view: view.to_owned(), query: query.finish() }
    }
}

impl Stored {
    /// The answers to what is asked most.
    pub(super) fn of(answers: &mut Answers<'_, '_>) -> Result<Stored, String> {
        let event = answers.explorer.state().event;
        let mut stored = Stored { list: Vec::new(), bytes: 0, told: Vec::new(), event };
        let recorded = answers.explorer.whole().recorded();
        let with_samples = |nr: &usize| recorded.get(*nr).is_some_and(|event| event.samples > 0);
        let others = (0..recorded.len()).filter(with_samples).filter(|nr| *nr != event);
        let all: Vec<usize> = std::iter::once(event).chain(others).collect();
        let events: Vec<Chosen> =
            all.iter().take(EVENTS).map(|event| Chosen { event: *event, thread: String::new() }).collect();
        if all.len() > events.len() {
            stored.told.push(format!("{} of {} events are in this file.", events.len(), all.len()));
        }
        for part in ["info", "stats", "check"] {
            let chosen = Chosen { event, thread: String::new() };
            stored.ask(answers, &chosen, "recording", part, &[("part", part)])?;
        }
        for chosen in &events {
            stored.overview(answers, chosen, COLUMNS)?;
        }
        for chosen in &events {
            stored.hottest_functions(answers, chosen)?;
        }
        for chosen in &events {
            stored.threads(answers, chosen)?;
        }
        Ok(stored)
    }

    /// What is seen of some samples at once.
    fn overview(
        &mut self,
        answers: &mut Answers<'_, '_>,
        chosen: &Chosen,
        columns: u32,
    ) -> Result<(), String> {
        self.ask(answers, chosen, "summary", "", &[])?;
        self.ask(answers, chosen, "time", "", &[("buckets", &BUCKETS.to_string())])?;
        self.ask(answers, chosen, "functions", "", &[("rows", "20000")])?;
        for inverted in ["", "1"] {
            let mut columns = columns;
            loop {
                let asked = [("inverted", inverted), ("columns", &*columns.to_string())];
                let json = answered(answers, &chosen.question("flame", &asked))?;
                if json.len() <= MOST_FLAME || columns <= 500 {
                    self.keep(chosen, "flame", inverted, json);
                    break;
                }
                columns /= 2;
            }
        }
        Ok(())
    }

    /// Callers, callees and code of the functions that take most.
    fn hottest_functions(&mut self, answers: &mut Answers<'_, '_>, chosen: &Chosen) -> Result<(), String> {
        answered(answers, &chosen.question("summary", &[]))?;
        let (known, with_code) = (hottest(&answers.explorer, usize::MAX).len(), with_code(&answers.explorer));
        let (calls, code) = (self.sandwiches(answers, chosen, SANDWICHES)?, self.listings(answers, chosen)?);
        let mut told = Vec::new();
        if calls < known {
            told.push(format!(
                "callers and callees of {} of {} functions",
                grouped(calls as u64),
                grouped(known as u64)
            ));
        }
        if code < with_code {
            told.push(format!("the code of {} of {}", grouped(code as u64), grouped(with_code as u64)));
        }
        if !told.is_empty() && chosen.event == self.event {
            self.told.push(format!("It has {}.", told.join(", ")));
        }
        Ok(())
    }

    /// Callers and callees of so many functions; gives how many it has.
    fn sandwiches(
        &mut self,
        answers: &mut Answers<'_, '_>,
        chosen: &Chosen,
        most: usize,
    ) -> Result<usize, String> {
        answered(answers, &chosen.question("summary", &[]))?;
        let mut list = hottest(&answers.explorer, usize::MAX);
        // Those that take most with what they call are as much of interest as those that take most themselves.
        let mut by_total = list.clone();
        by_total.sort_by_key(|row| std::cmp::Reverse(row.total));
        list.truncate(most);
        by_total.truncate(most);
        let mut count = 0;
        for row in list.into_iter().chain(by_total) {
            let of = format!("{}\n{}", row.name, row.binary);
            if self.has(chosen, "sandwich", &of) || self.bytes > ROOM {
                continue;
            }
            let asked = [("function", row.name.as_str()), ("binary", row.binary.as_str())];
            let json = answered(answers, &chosen.question("sandwich", &asked))?;
            self.keep(chosen, "sandwich", &of, json);
            count += 1;
        }
        Ok(count)
    }

    fn listings(&mut self, answers: &mut Answers<'_, '_>, chosen: &Chosen) -> Result<usize, String> {
        answered(answers, &chosen.question("summary", &[]))?;
        let mut count = 0;
        for row in hottest(&answers.explorer, LISTINGS) {
            let of = format!("{}\n{}", row.name, row.binary);
            let asked = [("function", row.name.as_str()), ("binary", row.binary.as_str())];
            if row.own == 0 || self.bytes > ROOM {
                continue;
            }
            let json = answered(answers, &chosen.question("code", &asked))?;
            if json.len() <= MOST_CODE {
                self.keep(chosen, "code", &of, json);
                count += 1;
            }
        }
        Ok(count)
    }

    /// The processes and threads with most samples, where there are several.
    fn threads(&mut self, answers: &mut Answers<'_, '_>, chosen: &Chosen) -> Result<(), String> {
        let summary = answered(answers, &chosen.question("summary", &[]))?;
        let summary: Json = serde_json::from_slice(&summary).map_err(|error| error.to_string())?;
        let list = choices(&summary);
        let mut kept = 0;
        for thread in list.iter().take(THREADS) {
            if self.bytes > ROOM {
                break;
            }
            let of_thread = Chosen { thread: thread.clone(), ..chosen.clone() };
            self.overview(answers, &of_thread, COLUMNS_OF_THREADS)?;
            self.sandwiches(answers, &of_thread, SANDWICHES_OF_THREADS)?;
            kept += 1;
        }
        if kept < list.len() && chosen.event == self.event {
            self.told.push(format!(
                "{kept} of {} processes and threads can be chosen.",
                grouped(list.len() as u64)
            ));
        }
        Ok(())
    }

    fn ask(
        &mut self,
        answers: &mut Answers<'_, '_>,
        chosen: &Chosen,
        view: &'static str,
        of: &str,
        more: &[(&str, &str)],
    ) -> Result<(), String> {
        let json = answered(answers, &chosen.question(view, more))?;
        self.keep(chosen, view, of, json);
        Ok(())
    }

    fn keep(&mut self, chosen: &Chosen, view: &'static str, of: &str, json: Vec<u8>) {
        self.bytes += json.len();
        let state = (chosen.event, chosen.thread.clone());
        self.list.push(One { state, view, of: of.to_owned(), json });
    }

    fn has(&self, chosen: &Chosen, view: &str, of: &str) -> bool {
        let state = (chosen.event, chosen.thread.clone());
        self.list.iter().any(|one| one.state == state && one.view == view && one.of == of)
    }

    /// Writes them as JSON: for each state, view and question the answer.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let told = self.told.join(" ");
        write!(out, "{{\"event\":{},\"told\":{},\"answers\":[", self.event, json!(told))?;
        for (nr, One { state: (event, thread), view, of, json }) in self.list.iter().enumerate() {
            let key = json!([format!("{event}/{thread}"), view, of]).to_string();
            write!(out, "{}[{key},", if nr > 0 { ",\n" } else { "" })?;
            out.write_all(json)?;
            out.write_all(b"]")?;
        }
        out.write_all(b"]}")
    }
}

fn answered(answers: &mut Answers<'_, '_>, question: &Question) -> Result<Vec<u8>, String> {
    match answers.answer(question) {
        Answer::Made(json) => Ok(json),
        Answer::Wrong(why) => Err(why),
    }
}

/// What the list of threads has to choose from, the busiest process first, and behind it its threads.
fn choices(summary: &Json) -> Vec<String> {
    let list = |of: &Json, key: &str| of.get(key).and_then(Json::as_array).cloned().unwrap_or_default();
    let processes = list(summary, "processes");
    let several = processes.len() > 1;
    let mut choices = Vec::new();
    for process in &processes {
        let number = |of: &Json, key: &str| of.get(key).and_then(Json::as_u64).unwrap_or(0);
        if several {
            choices.push(format!("p{}", number(process, "pid")));
        }
        let threads = list(process, "threads");
        if threads.len() > 1 {
            choices.extend(threads.iter().map(|thread| format!("t{}", number(thread, "tid"))));
        }
    }
    choices
}
