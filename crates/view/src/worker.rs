//! The thread that has the profile. It answers one question after the other; questions whose asker has gone are given up.

use std::collections::VecDeque;
use std::sync::mpsc;
use std::time::Duration;
use tokio::sync::oneshot;

/// An answer: what is to be sent, and what it is.
#[derive(Debug)]
pub(crate) enum Answer {
    /// JSON; of the page itself, the document behind its head.
    Made(Vec<u8>),
    /// There is no such thing, or the question is wrong: why.
    Wrong(String),
}

/// The view that is the page itself.
pub(crate) const PAGE: &str = "page";

/// When nothing was asked for so long, nothing else is on its way: a page asks for more when it has drawn its picture.
const CALM: Duration = Duration::from_millis(100);

/// A question: the view that is asked for, and the query with the state.
#[derive(Clone, Debug)]
pub(crate) struct Question {
    pub(crate) view: String,
    pub(crate) query: String,
}

struct Job {
    question: Question,
    answer: oneshot::Sender<Answer>,
}

/// Where questions are put.
#[derive(Clone, Debug)]
pub(crate) struct Asker(mpsc::Sender<Job>);

/// Where they are answered.
#[derive(Debug)]
pub(crate) struct Worker(mpsc::Receiver<Job>);

/// Both ends.
pub(crate) fn channel() -> (Asker, Worker) {
    let (sender, receiver) = mpsc::channel();
    (Asker(sender), Worker(receiver))
}

impl Asker {
    /// The answer to a question; `None` if nobody answers any more.
    pub(crate) async fn ask(&self, question: Question) -> Option<Answer> {
        let (answer, answered) = oneshot::channel();
        self.0.send(Job { question, answer }).ok()?;
        answered.await.ok()
    }
}

impl Worker {
    /// Answers until there is nobody left who could ask. A browser that moves on closes its request: then nobody waits for the
    /// answer, and it is not made. What the page itself waits for is made when nothing else is asked: pictures come first.
    pub(crate) fn run(self, mut answer: impl FnMut(&Question) -> Answer) {
        let mut pages = VecDeque::new();
        loop {
            let asked = match pages.is_empty() {
                true => self.0.recv().ok(),
                false => self.0.recv_timeout(CALM).ok(),
            };
            let job = match asked {
                Some(page) if page.question.view == PAGE => {
                    pages.push_back(page);
                    continue;
                }
                Some(job) => job,
                None => match pages.pop_front() {
                    Some(page) => page,
                    None => return,
                },
            };
            if !job.answer.is_closed() {
                // Who has gone in between gets none.
                let _ = job.answer.send(answer(&job.question));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use std::task::Poll;

    #[test]
    fn pages_come_last() {
        let (asker, worker) = channel();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let seen = std::thread::scope(|scope| {
            let answering = scope.spawn(|| {
                let mut seen = Vec::new();
                worker.run(|question| {
                    seen.push(question.view.clone());
                    Answer::Made(Vec::new())
                });
                seen
            });
            runtime.block_on(async {
                let ask = |view: &str| {
                    let (view, query) = (view.to_owned(), String::new());
                    asker.ask(Question { view, query })
                };
                let answers = tokio::join!(ask(PAGE), ask("one"), ask(PAGE), ask("two"));
                assert!([answers.0, answers.1, answers.2, answers.3].iter().all(Option::is_some));
            });
            drop(asker);
            answering.join().unwrap()
        });
        assert_eq!(seen, ["one", "two", PAGE, PAGE]);
    }

    #[test]
    fn stale_questions_are_not_answered() {
        let (asker, worker) = channel();
        let question = |view: &str| Question { view: view.to_owned(), query: String::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (first, second, answered) = runtime.block_on(async {
            let mut stale = Box::pin(asker.ask(question("stale")));
            let asked = poll_fn(|context| Poll::Ready(stale.as_mut().poll(context).is_pending()));
            assert!(asked.await);
            drop(stale);
            let answering = std::thread::spawn(move || {
                let mut answered = Vec::new();
                worker.run(|question| {
                    answered.push(question.view.clone());
                    Answer::Made(question.view.clone().into_bytes())
                });
                answered
            });
            let (first, second) = (asker.ask(question("first")).await, asker.ask(question("second")).await);
            drop(asker);
            (first, second, answering.join().unwrap())
        });
        assert!(matches!(first, Some(Answer::Made(text)) if text == b"first"));
        assert!(matches!(second, Some(Answer::Made(text)) if text == b"second"));
        assert_eq!(answered, ["first", "second"]);
    }
}
