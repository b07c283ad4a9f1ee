//! The thread that has the profile. It answers one question after the other; questions whose asker has gone are given up.

use std::sync::mpsc;
use tokio::sync::oneshot;

/// An answer: what is to be sent, and what it is.
#[derive(Debug)]
pub(crate) enum Answer {
    /// JSON.
    Json(Vec<u8>),
    /// The page itself.
    Page(Vec<u8>),
    /// There is no such thing, or the question is wrong: why.
    Wrong(String),
}

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
    /// answer, and it is not made.
    pub(crate) fn run(self, mut answer: impl FnMut(&Question) -> Answer) {
        for job in self.0 {
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
    use std::cell::RefCell;

    #[test]
    fn questions_are_answered_in_turn_and_stale_ones_are_not() {
        let (asker, worker) = channel();
        let question = |view: &str| Question { view: view.to_owned(), query: String::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (first, second) = (asker.ask(question("first")), asker.ask(question("second")));
        let third = asker.ask(question("third"));
        let mut waiting = Box::pin(second);
        let answered = RefCell::new(Vec::new());
        let answers = runtime.block_on(async {
            // Asked, then given up.
            let asked = std::future::poll_fn(|context| std::task::Poll::Ready(waiting.as_mut().poll(context).is_pending()));
            assert!(asked.await);
            drop(waiting);
            drop(asker);
            let answering = async {
                // The futures put their questions when they are polled first: then it is the worker's turn.
                tokio::task::yield_now().await;
                worker.run(|question| {
                    answered.borrow_mut().push(question.view.clone());
                    Answer::Json(question.view.clone().into_bytes())
                });
            };
            tokio::join!(first, third, answering)
        });
        assert!(matches!(answers.0, Some(Answer::Json(text)) if text == b"first"));
        assert!(matches!(answers.1, Some(Answer::Json(text)) if text == b"third"));
        assert_eq!(*answered.borrow(), ["first", "third"]);
    }
}
