//! The stack that the program runs on, however small a stack the system gives (`ulimit -s`).

use std::panic::resume_unwind;
use std::thread::Builder;

/// Sizes to try. Reading nested names and parsing the command line recurse; only what is used is paid for.
const SIZES: [usize; 2] = [16 << 20, 2 << 20];

/// Runs the program on a stack of known size; if the system gives no thread, on the one that there is.
pub(crate) fn on_own_stack<T: Send>(program: impl Fn() -> T + Sync) -> T {
    for size in SIZES {
        let done = std::thread::scope(|scope| {
            let thread = Builder::new().name("main".to_owned()).stack_size(size);
            let thread = thread.spawn_scoped(scope, &program).ok()?;
            Some(thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        if let Some(done) = done {
            return done;
        }
    }
    program()
}
