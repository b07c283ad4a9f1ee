//! Two things at the same time.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, Builder};

/// Does both: at the same time if there may be two threads, else, or if the system has no thread for it, one after the other.
pub fn both(threads: usize, beside: impl FnOnce() + Send, here: impl FnOnce()) {
    let beside = Mutex::new(Some(beside));
    let work = || {
        let work = beside.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(work) = work {
            work();
        }
    };
    thread::scope(|scope| {
        let is_started = threads > 1 && Builder::new().spawn_scoped(scope, work).is_ok();
        here();
        if !is_started {
            work();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_done_once() {
        for threads in 0..3 {
            let (mut beside, mut here) = (0, 0);
            both(threads, || beside += 1, || here += 1);
            assert_eq!((beside, here), (1, 1), "{threads}");
        }
    }
}
