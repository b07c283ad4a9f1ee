//! Adding up on a thread of its own, beside the one that reads.

use crate::block::Block;
use crate::gathered::{Gathered, Gathering};
use crate::rows::Origins;
use crate::together::Together;
use std::io;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Blocks on the way: enough that neither side waits for the other when one block takes longer.
const ON_THE_WAY: usize = 8;

/// What the other thread is to do next.
#[derive(Debug)]
enum Work {
    /// Take a block in.
    Block(Block),
    /// Give places their new numbers.
    PutTogether(Arc<Together>),
}

/// The other thread.
#[derive(Debug)]
pub(crate) struct AddingUp {
    /// Full blocks go there; there are no more when this end is gone.
    full: SyncSender<Work>,
    /// Empty ones come back, to be filled again.
    empty: Receiver<Block>,
    /// What rows come from goes there, at the end.
    origins: Sender<Origins>,
    thread: JoinHandle<Gathered>,
}

impl AddingUp {
    /// Starts it.
    ///
    /// # Errors
    /// The system has no thread for it.
    pub(crate) fn start(mut gathering: Gathering) -> io::Result<AddingUp> {
        let (full, to_do) = sync_channel(ON_THE_WAY);
        let (done, empty) = channel();
        let (origins, last) = channel();
        let work = move || {
            add_up(&mut gathering, &to_do, &done);
            gathering.finish(last.recv().unwrap_or_default())
        };
        let thread = thread::Builder::new().name("adding up".to_owned()).stack_size(2 << 20).spawn(work)?;
        Ok(AddingUp { full, empty, origins, thread })
    }

    /// Hands a block over, and leaves an empty one in its place.
    pub(crate) fn take_in(&self, block: &mut Block) {
        let full = std::mem::replace(block, self.empty.try_recv().unwrap_or_default());
        // That there is nobody to take it shows when the thread is joined.
        let _ = self.full.send(Work::Block(full));
    }

    /// Has places get their new numbers.
    pub(crate) fn put_together(&self, together: Arc<Together>) {
        // As above.
        let _ = self.full.send(Work::PutTogether(together));
    }

    /// No block follows: the other thread sorts what it has, while this one does something else. `origins` are what the rows come from.
    pub(crate) fn end(self, origins: Origins) -> Sorting {
        let AddingUp { full, empty: _, origins: last, thread } = self;
        drop(full);
        // That there is nobody to take them shows when the thread is joined.
        let _ = last.send(origins);
        Sorting(thread)
    }
}

/// A thread that sorts what has been gathered.
#[derive(Debug)]
pub(crate) struct Sorting(JoinHandle<Gathered>);

impl Sorting {
    /// Waits for it.
    pub(crate) fn join(self) -> Gathered {
        self.0.join().unwrap_or_else(|panic| resume_unwind(panic))
    }
}

fn add_up(gathering: &mut Gathering, work: &Receiver<Work>, done: &Sender<Block>) {
    for work in work {
        match work {
            Work::Block(mut block) => {
                gathering.take_in(&mut block);
                // Nobody wants the last ones back.
                let _ = done.send(block);
            }
            Work::PutTogether(together) => gathering.put_together(&together),
        }
    }
}
