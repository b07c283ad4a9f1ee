//! Long text on a terminal goes through a pager: `$READPERF_PAGER`, else `$PAGER`, else less.

use crate::out::Output;
use anstream::AutoStream;
use std::io::{self, BufWriter, Write};
use std::process::{Child, Command, Stdio};

/// Ends at once if everything fits on one screen, lets colours through, and leaves the text on the screen.
const DEFAULT: &str = "less -FRX";

/// A pager, and what is written to it.
pub(crate) struct Pager {
    child: Child,
    text: Option<AutoStream<Box<dyn Write + Send>>>,
}

impl Pager {
    /// Starts one if the output is a terminal. `None` if it is not, or if no pager can be started.
    pub(crate) fn start(output: &Output) -> Option<Pager> {
        if !output.is_terminal() {
            return None;
        }
        let named = |name| std::env::var(name).ok();
        let command =
            named("READPERF_PAGER").or_else(|| named("PAGER")).unwrap_or_else(|| DEFAULT.to_owned());
        if command.trim().is_empty() || command.trim() == "cat" {
            return None;
        }
        // As other programs do, so that the variable may hold options.
        let mut child = Command::new("sh").arg("-c").arg(&command).stdin(Stdio::piped()).spawn().ok()?;
        let text = BufWriter::with_capacity(1 << 16, child.stdin.take()?);
        Some(Pager {
            child,
            text: Some(AutoStream::new(Box::new(text) as Box<dyn Write + Send>, output.color_choice())),
        })
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text.as_mut().map_or(Ok(bytes.len()), |text| text.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.text.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        // Its end of the pipe closes, then it may stay as long as the user reads.
        drop(self.text.take());
        let _ = self.child.wait();
    }
}
