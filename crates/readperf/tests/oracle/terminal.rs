//! A terminal in which programs run: keys are sent by tmux, and the screen is read.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a screen may take on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A terminal in which a shell runs.
pub(crate) struct Terminal {
    socket: String,
}

impl Terminal {
    pub(crate) fn new(name: &str, size: (u16, u16), dir: &Path) -> Terminal {
        let socket = format!("readperf-{name}-{}", std::process::id());
        let terminal = Terminal { socket };
        let (columns, lines) = (size.0.to_string(), size.1.to_string());
        let made = terminal
            .tmux(&[
                "-f",
                "/dev/null",
                "new-session",
                "-d",
                "-x",
                &columns,
                "-y",
                &lines,
                "env",
                "PS1=ready>",
                "sh",
            ])
            .current_dir(dir)
            .status();
        assert!(made.is_ok_and(|status| status.success()), "tmux starts no terminal");
        terminal.wait("ready>");
        terminal
    }

    pub(crate) fn tmux(&self, words: &[&str]) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-L", &self.socket]).args(words).env("LC_ALL", "C.UTF-8").env_remove("NO_COLOR");
        command.stdin(Stdio::null());
        command
    }

    /// Types a command, as soon as the shell asks for one. Typed earlier it would be echoed twice, and the
    /// prompt after it would not stand at the start of a line.
    #[track_caller]
    pub(crate) fn run(&self, command: &str) {
        self.wait_for_shell();
        self.enter(command);
    }

    /// Types a line for what runs, a shell or a program with a prompt of its own.
    pub(crate) fn enter(&self, line: &str) {
        // At its end tmux takes a semicolon for its own.
        let escaped = line.strip_suffix(';').map(|start| format!("{start}\\;"));
        let line = escaped.as_deref().unwrap_or(line);
        assert!(self.tmux(&["send-keys", "-l", line]).status().unwrap().success());
        self.keys(&["Enter"]);
    }

    /// Presses keys, by tmux's names of them.
    pub(crate) fn keys(&self, keys: &[&str]) {
        for key in keys {
            assert!(self.tmux(&["send-keys", key]).status().unwrap().success());
            // Followed at once by a letter it would be that letter with Alt.
            if *key == "Escape" {
                std::thread::sleep(Duration::from_millis(200));
            }
        }
    }

    pub(crate) fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p"]).output().unwrap().stdout).unwrap()
    }

    /// Waits for a text on the screen.
    #[track_caller]
    pub(crate) fn wait(&self, text: &str) {
        let begun = Instant::now();
        while !self.screen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text:?} does not come:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until a text is gone from the screen.
    #[track_caller]
    pub(crate) fn wait_without(&self, text: &str) {
        let begun = Instant::now();
        while self.screen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "{text:?} stays:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the shell asks for a command.
    #[track_caller]
    pub(crate) fn wait_for_shell(&self) {
        let begun = Instant::now();
        while self.screen().trim_end().lines().last() != Some("ready>") {
            assert!(begun.elapsed() < PATIENCE, "no shell:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// The line that the cursor is on, as tmux shows what is reversed.
    pub(crate) fn cursor(&self) -> String {
        let screen = self.tmux(&["capture-pane", "-p", "-e"]).output().unwrap().stdout;
        let screen = String::from_utf8(screen).unwrap();
        let lines: Vec<&str> = screen.lines().collect();
        let is_reversed =
            |line: &&&str| line.starts_with("\u{1b}[7m") || line.contains(";7m") || line.contains("[7m");
        lines[2..lines.len() - 1].iter().find(is_reversed).map_or(String::new(), |line| (*line).to_owned())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.tmux(&["kill-server"]).status();
    }
}
