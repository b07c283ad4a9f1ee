//! The page in which a recording is looked at, and the server behind it.
//!
//! One thread answers requests ([`server`](serve)), another has the profile and makes the views that are asked for. Numbers come from
//! [`readperf_explore`]; here they become JSON, and in the page pictures. The state of the page is its address, which comes with every
//! question: the server keeps nothing that a question depends on.
#![forbid(unsafe_code)]

mod answers;
mod assets;
mod guard;
mod page;
mod progress;
mod query;
mod server;
mod worker;

pub use answers::{Outside, Part};
pub use guard::Token;

use answers::Answers;
use perffile::Recording;
use progress::Progress;
use readperf_explore::{Explorer, Opening};
use readperf_symbols::Files;
use server::Site;
use std::net::TcpListener;
use worker::Answer;

/// What is served, and how it was asked for.
pub struct Serving<'s> {
    /// Where requests come in.
    pub listener: TcpListener,
    /// The secret part of the address.
    pub token: Token,
    /// What is looked at.
    pub recording: &'s Recording,
    /// How it is read, and what is looked at where the address says nothing.
    pub opening: &'s Opening,
    /// What the page is called.
    pub title: String,
    /// What is not in the profile.
    pub outside: &'s dyn Outside,
}

/// Reads a recording and serves the page about it, for as long as the process lives. Requests are answered from the beginning on: until
/// the recording is read with how far that is.
///
/// # Errors
/// If it cannot be read, or the listener fails.
pub fn serve<E: From<perffile::Error> + From<std::io::Error>>(serving: Serving<'_>) -> Result<(), E> {
    let Serving { listener, token, recording, opening, title, outside } = serving;
    let (asker, worker) = worker::channel();
    let progress = Progress::default();
    let site = Site { token, asker, progress: progress.clone() };
    let server = std::thread::Builder::new().name("server".to_owned()).spawn(move || server::serve(listener, site))?;
    let files = Files::new();
    let explorer = Explorer::open(&files, recording, opening, |read| progress.set(read.bytes))?;
    let mut answers = Answers::new(explorer, title, outside);
    progress.finish();
    worker.run(|question| match question.view.as_str() {
        "page" => answers.page(question),
        _ => answers.answer(question),
    });
    match server.join() {
        Ok(ended) => Ok(ended?),
        Err(_) => Err(std::io::Error::other("the server has ended").into()),
    }
}

impl Answers<'_, '_> {
    /// The document.
    fn page(&mut self, question: &worker::Question) -> Answer {
        // A state that is wrong is said by the views.
        let _ = self.go(&query::Query::parse(&question.query));
        Answer::Page(page::with_functions(self).into_bytes())
    }
}
