//! How far the reading of a recording has come.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between who reads and who tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<State>);

#[derive(Debug, Default)]
struct State {
    done: AtomicU64,
    all: AtomicU64,
    comparing: AtomicBool,
    ready: AtomicBool,
}

impl Progress {
    /// So many bytes have been read, of so many.
    pub(crate) fn set(&self, (done, all): (u64, u64)) {
        self.0.done.store(done, Ordering::Relaxed);
        self.0.all.store(all, Ordering::Relaxed);
    }

    /// What is read now is the recording to compare with.
    pub(crate) fn compare(&self) {
        self.0.comparing.store(true, Ordering::Relaxed);
    }

    /// Everything is known.
    pub(crate) fn finish(&self) {
        self.0.ready.store(true, Ordering::Release);
    }

    /// For the page.
    pub(crate) fn to_json(&self) -> String {
        let (done, all) = (self.0.done.load(Ordering::Relaxed), self.0.all.load(Ordering::Relaxed));
        let mib = |bytes: u64| format!("{} MiB", bytes >> 20);
        let text = match all {
            _ if self.0.comparing.load(Ordering::Relaxed) => {
                "reading the recording to compare with…".to_owned()
            }
            0 => "reading…".to_owned(),
            all if done >= all => "looking up names…".to_owned(),
            all => format!("reading: {} of {}", mib(done), mib(all)),
        };
        json!({"ready": self.0.ready.load(Ordering::Acquire), "text": text}).to_string()
    }
}
