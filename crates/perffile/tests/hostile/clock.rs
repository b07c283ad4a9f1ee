//! CPU time, which a busy machine does not stretch; and a dog that ends the test program when something hangs.

use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// CPU time of this thread so far.
pub fn cpu_time() -> Duration {
    // The first number is the time on the CPU in ns.
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = stat.split(' ').next().and_then(|word| word.parse().ok());
    ns.map_or_else(|| START.with(Instant::elapsed), Duration::from_nanos)
}

thread_local! {
    static START: Instant = Instant::now();
}

/// Ends the program when it is not petted for too long.
#[derive(Debug)]
pub struct Watchdog(Sender<String>);

impl Watchdog {
    /// A dog that waits so long.
    pub fn new(patience: Duration) -> Watchdog {
        let (sender, receiver) = channel::<String>();
        std::thread::spawn(move || {
            let mut what = String::from("nothing yet");
            loop {
                match receiver.recv_timeout(patience) {
                    Ok(next) => what = next,
                    Err(RecvTimeoutError::Disconnected) => return,
                    Err(RecvTimeoutError::Timeout) => {
                        eprintln!("HANGS for {patience:?}: {what}");
                        std::process::abort();
                    }
                }
            }
        });
        Watchdog(sender)
    }

    /// Says what begins now.
    pub fn pet(&self, what: &str) {
        let _ = self.0.send(what.to_owned());
    }
}
