//! Adding up on a thread of its own, beside the one that reads.

use crate::block::Block;
use crate::gathered::{Gathered, Gathering};
use crate::rows::Origins;
use std::io;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Blocks on the way: enough that neither side waits for the other when one block takes longer.
const ON_THE_WAY: usize = 8;

/// The other thread.
#[derive(Debug)]
pub(crate) struct AddingUp {
    /// Full blocks go there; there are no more when this end is gone.
    full: SyncSender<Block>,
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
        let (full, blocks) = sync_channel(ON_THE_WAY);
        let (done, empty) = channel();
        let (origins, last) = channel();
        let work = move || {
            add_up(&mut gathering, &blocks, &done);
            gathering.finish(last.recv().unwrap_or_default())
        };
        let thread = thread::Builder::new().name("adding up".to_owned()).stack_size(2 << 20).spawn(work)?;
        Ok(AddingUp { full, empty, origins, thread })
    }

    /// Hands a block over, and leaves an empty one in its place.
    pub(crate) fn take_in(&self, block: &mut Block) {
        let full = std::mem::replace(block, self.empty.try_recv().unwrap_or_default());
        // That there is nobody to take it shows when the thread is joined.
        let _ = self.full.send(full);
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

fn add_up(gathering: &mut Gathering, blocks: &Receiver<Block>, done: &Sender<Block>) {
    for mut block in blocks {
        gathering.take_in(&mut block);
        // Nobody wants the last ones back.
        let _ = done.send(block);
    }
}
