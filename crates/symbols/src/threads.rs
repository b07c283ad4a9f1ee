//! Threads that work together, or what there is instead where the system gives none.

use rayon::{ThreadPool, ThreadPoolBuilder};

/// A pool of so many threads with such a stack each. If the system gives fewer, one does the same work; if it gives none, the calling one does. `None` if
/// that is in a pool already, which then does it.
pub fn thread_pool(threads: usize, stack_bytes: usize) -> Option<ThreadPool> {
    let builder = |threads| ThreadPoolBuilder::new().num_threads(threads).stack_size(stack_bytes);
    let new = builder(threads).build().or_else(|_| builder(1).build());
    new.or_else(|_| builder(1).use_current_thread().build()).ok()
}
