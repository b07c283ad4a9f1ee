//! How the program leaves when it is not for itself to say when: told by a signal, because a file that it had mapped became
//! shorter, or because there is no memory left. Nothing temporary stays.

mod fault;

use crate::outcome::{FAILED, say};
pub(crate) use fault::without_memory;
use fault::{Fault, Faults};
use readperf_files::remove_scratch;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::{emulate_default_handler, exit};
use std::io;
use std::sync::Arc;
#[cfg(feature = "browse")]
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::Builder;

/// Signals that end the program.
const ENDING: [i32; 5] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU];

/// What a shell adds to a signal's number to make an exit status of it.
const BY_SIGNAL: i32 = 128;

/// Sees to it that what is temporary goes with the program, and that it says why it ends where nobody else would.
pub(crate) fn prepare() {
    // With something registered, a write beyond the limit of the size of files (`ulimit -f`) is an error that is told, not the end.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    // Each thread takes its signals itself, so that they still end the program where there is no such thread.
    watch("signals", |ready| {
        let ignored = ignored_signals();
        let wanted = ENDING.iter().filter(|signal| ignored & (1 << (*signal - 1)) == 0);
        let mut signals = Signals::new(wanted)?;
        let _ = ready.send(());
        signals.forever().for_each(end_by);
        Ok(())
    });
    watch("faults", |ready| {
        let faults = Faults::register()?;
        let _ = ready.send(());
        match faults.next()? {
            Fault::File(sentence) => {
                tidy_up();
                say(&format!("error: {sentence}"));
                // At once: a thread of this process waits for a page that is gone.
                exit(i32::from(FAILED))
            }
            Fault::Memory => {
                tidy_up();
                exit(i32::from(FAILED))
            }
            Fault::Signal(signal) => end_by(signal),
        }
        Ok(())
    });
}

/// Starts a thread, and waits until it is ready or has failed. What it watches for is then as without it.
fn watch(name: &str, work: impl FnOnce(SyncSender<()>) -> io::Result<()> + Send + 'static) {
    let (ready, is_ready) = sync_channel(1);
    let started = Builder::new().name(name.to_owned()).spawn(|| work(ready));
    if started.is_ok() {
        let _ = is_ready.recv();
    }
}

/// How the terminal is given back, while it is taken.
#[cfg(feature = "browse")]
static TERMINAL: Mutex<Option<fn()>> = Mutex::new(None);

/// Says that the terminal is taken, and how it is given back: on every end of the program, a panic included.
#[cfg(feature = "browse")]
pub(crate) fn with_terminal(restore: fn()) {
    if let Ok(mut terminal) = TERMINAL.lock() {
        *terminal = Some(restore);
    }
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // Before anything is said, so that it can be read.
        without_terminal();
        told(panic);
    }));
}

/// Gives the terminal back, if it is taken.
#[cfg(feature = "browse")]
pub(crate) fn without_terminal() {
    let restore = TERMINAL.lock().ok().and_then(|mut terminal| terminal.take());
    if let Some(restore) = restore {
        restore();
    }
}

/// Ends the program although threads of it are at work.
#[cfg(feature = "browse")]
pub(crate) fn at_once() -> ! {
    tidy_up();
    exit(0)
}

/// Leaves all as it was: the terminal, and no temporary file.
fn tidy_up() {
    #[cfg(feature = "browse")]
    without_terminal();
    remove_scratch();
}

/// Ends the program as the signal would have, so that whoever started it sees by which.
fn end_by(signal: i32) {
    tidy_up();
    let _ = emulate_default_handler(signal);
    exit(BY_SIGNAL + signal)
}

/// Signals that whoever started the program does not want it to end by, as bits: `nohup` ignores SIGHUP, and a shell SIGINT
/// for what it starts in the background.
fn ignored_signals() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default()
}
