//! Drafts become text and are written: beside the pass that makes the next ones, if there are threads for it. There their places
//! are named, too.

use super::destination::Destination;
use super::naming::{Naming, Unnamed, fill_in_sources};
use anyhow::Context as _;
use perffile::Schema;
use rayon::prelude::*;
use readperf::output::script::{Completed, Draft, Fillings};
use readperf::profile::Located;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Drafts that each thread completes before what they have become is written: about a MiB of text. The system takes so much at once with less work
/// than a little at a time.
const DRAFTS_AT_ONCE: usize = 20;

/// Lines whose places are not named yet.
pub(super) struct Waiting<'f> {
    pub(super) drafts: Vec<Draft>,
    /// Where the samples were taken whose places came later.
    pub(super) located: Located,
    pub(super) unnamed: Unnamed,
    /// The first ones bring what names them, and those that follow.
    pub(super) naming: Option<Box<Naming<'f>>>,
}

/// Drafts that can be used again, emptied.
pub(super) fn spent(drafts: Vec<Draft>) -> Vec<Draft> {
    drafts.into_iter().filter_map(Draft::emptied).collect()
}

/// What has been written: its memory is used again.
#[derive(Debug, Default)]
pub(super) struct Spent {
    pub(super) drafts: Vec<Draft>,
    pub(super) located: Located,
}

/// Makes text of drafts and writes it.
pub(super) struct Writer<'i> {
    pool: &'i rayon::ThreadPool,
    out: Destination<'i>,
    /// Memory for text.
    texts: Vec<Completed>,
}

/// A writer, here or on a thread of its own.
pub(super) enum Finisher<'s, 'f, 'i> {
    Here(Writer<'i>),
    Beside(Beside<'s, 'f, 'i>),
}

/// A writer on a thread of its own.
pub(super) struct Beside<'s, 'f, 'i> {
    /// Lines go there; there are no more when this end is gone.
    lines: Sender<Waiting<'f>>,
    /// When they are written, their drafts come back.
    written: Receiver<anyhow::Result<Spent>>,
    /// How many flushes it has lines of.
    on_the_way: usize,
    thread: ScopedJoinHandle<'s, Option<Writer<'i>>>,
}

impl<'i> Writer<'i> {
    pub(super) fn new(pool: &'i rayon::ThreadPool, out: Destination<'i>) -> Writer<'i> {
        Writer { pool, out, texts: Vec::new() }
    }

    /// Where it writes.
    pub(super) fn into_out(self) -> Destination<'i> {
        self.out
    }

    /// Writes the lines of a target, in order. Their places have been learned.
    pub(super) fn write(
        &mut self,
        target: usize,
        drafts: &[Draft],
        fillings: &Fillings,
        located: &Located,
    ) -> anyhow::Result<()> {
        let at_once = DRAFTS_AT_ONCE * self.pool.current_num_threads();
        let complete = |draft: &Draft, text: &mut Completed| fillings.complete(draft, located, text);
        drafts.chunks(at_once.max(1)).try_for_each(|some| self.write_some(target, complete, some))
    }

    /// Completes drafts, several threads at once, and writes them.
    fn write_some(
        &mut self,
        target: usize,
        complete: impl Fn(&Draft, &mut Completed) + Sync,
        drafts: &[Draft],
    ) -> anyhow::Result<()> {
        let pieces = drafts.chunks(drafts.len().div_ceil(self.pool.current_num_threads()).max(1));
        self.texts.resize_with(pieces.len().max(self.texts.len()), Completed::default);
        let work: Vec<(&[Draft], &mut Completed)> = pieces.zip(self.texts.iter_mut()).collect();
        let complete_some = |(drafts, text): (&[Draft], &mut Completed)| {
            drafts.iter().for_each(|draft| complete(draft, text));
        };
        self.pool.install(|| work.into_par_iter().for_each(complete_some));
        for text in &mut self.texts {
            self.out.write(target, text.as_slice())?;
            text.clear();
        }
        Ok(())
    }
}

impl<'f> Beside<'_, 'f, '_> {
    /// Has lines named and written while others are made.
    pub(super) fn write(&mut self, lines: Waiting<'f>) {
        // That there is nobody to take it shows when the thread is joined.
        self.on_the_way += usize::from(self.lines.send(lines).is_ok());
    }

    fn wait_for_less_than(&mut self, flushes: usize) -> anyhow::Result<Spent> {
        let mut all = Spent::default();
        while self.on_the_way >= flushes {
            self.on_the_way -= 1;
            // A thread that is gone has panicked: that shows when it is joined.
            let Spent { drafts, located } = self.written.recv().unwrap_or_else(|_| Ok(Spent::default()))?;
            all.drafts.extend(drafts);
            all.located = located;
        }
        Ok(all)
    }
}

impl<'s, 'f, 'i> Finisher<'s, 'f, 'i> {
    /// On a thread of its own, if the system has one for it. Of a destination that has one target.
    pub(super) fn beside(scope: &'s Scope<'s, '_>, writer: Writer<'i>) -> Self
    where
        'f: 's,
        'i: 's,
    {
        let (lines, work) = channel::<Waiting<'f>>();
        let (done, written) = channel();
        // It goes there when the thread has started: with one that does not it would be lost.
        let (give, take) = channel::<Writer<'i>>();
        let write = move || {
            let mut writer = take.recv().ok()?;
            let mut by: Option<Box<Naming<'f>>> = None;
            for Waiting { mut drafts, located, unnamed, naming } in work {
                by = naming.or(by);
                let result = by.as_mut().map_or(Ok(()), |naming| {
                    naming.learn(unnamed);
                    fill_in_sources(&mut naming.sources, &naming.names, &mut drafts);
                    writer.write(0, &drafts, &naming.fillings, &located)
                });
                // Nobody waits for it where the pass has failed.
                let _ = done.send(result.map(|()| Spent { drafts: spent(drafts), located }));
            }
            Some(writer)
        };
        let thread = Builder::new().name("writing".to_owned()).stack_size(2 << 20);
        let Ok(thread) = thread.spawn_scoped(scope, write) else { return Finisher::Here(writer) };
        let _ = give.send(writer);
        Finisher::Beside(Beside { lines, written, on_the_way: 0, thread })
    }

    /// Takes in the events that became known. How many targets there are.
    ///
    /// # Errors
    /// The file of an event cannot be made.
    pub(super) fn learn(&mut self, schema: &Schema) -> anyhow::Result<usize> {
        match self {
            Finisher::Here(writer) => writer.out.learn(schema),
            Finisher::Beside(_) => Ok(1),
        }
    }

    /// Counts a sample of an event.
    pub(super) fn count(&mut self, event: usize) {
        if let Finisher::Here(writer) = self {
            writer.out.count(event);
        }
    }

    /// Waits until there are less than so many flushes on the way. What was written meanwhile.
    pub(super) fn wait_for_less_than(&mut self, flushes: usize) -> anyhow::Result<Spent> {
        match self {
            Finisher::Beside(beside) => beside.wait_for_less_than(flushes),
            Finisher::Here(_) => Ok(Spent::default()),
        }
    }

    /// The writer, when all has been written that was handed over.
    pub(super) fn end(self) -> anyhow::Result<Writer<'i>> {
        match self {
            Finisher::Here(writer) => Ok(writer),
            Finisher::Beside(Beside { lines, thread, .. }) => {
                drop(lines);
                let writer = thread.join().unwrap_or_else(|panic| resume_unwind(panic));
                writer.context("the thread that writes has not begun")
            }
        }
    }
}
