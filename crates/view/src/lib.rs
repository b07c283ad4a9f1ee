//! The page in which a recording is looked at, and the server behind it.
//!
//! One thread answers requests ([`server`](serve)), another has the profile and makes the views that are asked for. Numbers come from
//! [`readperf_explore`]; here they become JSON, and in the page pictures. The state of the page is its address, which comes with every
//! question: the server keeps nothing that a question depends on.
#![forbid(unsafe_code)]

mod answers;
mod assets;
mod elsewhere;
mod file;
mod guard;
mod http;
mod page;
mod progress;
mod query;
mod server;
mod worker;

pub use answers::{Outside, Part};
pub use elsewhere::{Served, VIEWERS, Viewer, origin_of, serve_export};
pub use file::write_file;
pub use guard::Token;
pub use query::Query;

use answers::Answers;
use perffile::Recording;
use progress::Progress;
use readperf_analysis::{Analysis, Request, analyse};
use readperf_explore::{Explorer, Opening};
use readperf_symbols::Files;
use server::Site;
use std::net::TcpListener;
use worker::{Answer, PAGE};

/// What is told on the way.
#[derive(Debug)]
pub enum Watch<'w> {
    /// Bytes that have been read, and all.
    Read((u64, u64)),
    /// Everything has been read, and names are known: what is known besides the profile.
    Done(&'w Analysis),
    /// The same of the recording to compare with.
    Base(&'w Analysis),
}

/// A recording to compare with.
#[derive(Clone, Debug)]
pub struct Base<'s> {
    /// It.
    pub recording: &'s Recording,
    /// How it is read: with inlined functions, if the other one is.
    pub request: Request,
}

/// What is looked at.
#[expect(missing_debug_implementations, reason = "it holds what the program provides")]
pub struct Looking<'s> {
    /// The recording.
    pub recording: &'s Recording,
    /// How it is read, and what is looked at where the address says nothing.
    pub opening: &'s Opening,
    /// What it is compared with.
    pub base: Option<Base<'s>>,
    /// What is chosen at first.
    pub first: Query,
    /// What is not in the profile.
    pub outside: &'s dyn Outside,
}

impl<'s> Looking<'s> {
    /// Reads everything.
    fn answers<'f>(
        self,
        files: &'f Files,
        progress: &Progress,
        watch: &mut dyn FnMut(Watch<'_>),
    ) -> perffile::Result<Answers<'s, 'f>> {
        let Looking { recording, opening, base, first: _, outside } = self;
        let mut explorer = Explorer::open(files, recording, opening, |read| {
            progress.set(read.bytes);
            watch(Watch::Read(read.bytes));
        })?;
        watch(Watch::Done(explorer.analysis()));
        if let Some(Base { recording, request }) = base {
            progress.compare();
            let analysis = analyse(recording, &request)?;
            watch(Watch::Base(&analysis));
            explorer.set_base(analysis);
        }
        Ok(Answers::new(explorer, outside, recording))
    }
}

/// What is served, and how.
#[expect(missing_debug_implementations, reason = "it holds what the program provides")]
pub struct Serving<'s> {
    /// Where requests come in.
    pub listener: TcpListener,
    /// The secret part of the address.
    pub token: Token,
    /// What the recording is called until more is known of it.
    pub name: String,
    /// What is looked at.
    pub looking: Looking<'s>,
}

/// Reads a recording and serves the page about it, for as long as the process lives. Requests are answered from the beginning on: until
/// the recording is read with how far that is.
///
/// # Errors
/// If it cannot be read, or the listener fails.
pub fn serve<E: From<perffile::Error> + From<std::io::Error>>(
    serving: Serving<'_>,
    mut watch: impl FnMut(Watch<'_>),
) -> Result<(), E> {
    let Serving { listener, token, name, looking } = serving;
    let (asker, worker) = worker::channel();
    let progress = Progress::default();
    let site = Site { token, name, asker, progress: progress.clone() };
    let server =
        std::thread::Builder::new().name("server".to_owned()).spawn(move || server::serve(listener, site))?;
    let files = Files::new();
    let first = looking.first.clone();
    let mut answers = looking.answers(&files, &progress, &mut watch)?;
    // That is what is asked first. A state that is wrong is said by the views.
    let _ = answers.go(&first);
    answers.make_first();
    progress.finish();
    worker.run(|question| match question.view.as_str() {
        PAGE => answers.page(question),
        _ => answers.answer(question),
    });
    match server.join() {
        Ok(ended) => Ok(ended?),
        Err(_) => Err(std::io::Error::other("the server has ended").into()),
    }
}

impl Answers<'_, '_> {
    /// The document behind its head.
    fn page(&mut self, question: &worker::Question) -> Answer {
        // A state that is wrong is said by the views.
        let _ = self.go(&query::Query::parse(&question.query));
        Answer::Made(page::rest(&page::functions(self)).into_bytes())
    }
}
