//! The terminal: taken for as long as the browser runs, and given back as it was. Keys come from the terminal itself if the recording
//! comes on standard input.

use crate::app::App;
use crate::draw::draw;
use crate::early::{Early, draw_early};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{
    self, DisableMouseCapture, EnableMouseCapture, Event, KeyCode, KeyModifiers,
};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, Stdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// How often it is looked whether a key was pressed while the recording is read.
const WHILE_READING: Duration = Duration::from_millis(20);

/// What the thread that reads the recording sends.
#[derive(Debug)]
pub enum Opened<T> {
    /// How far it has come.
    Early(Early),
    /// All is read.
    Ready(Box<T>),
}

/// Gives the terminal back, whoever asks for it and however often.
pub fn restore() {
    // Nobody is left to tell.
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), DisableMouseCapture, LeaveAlternateScreen, Show);
}

/// The terminal while it is ours.
struct Taken(Terminal<CrosstermBackend<Stdout>>);

impl Taken {
    fn new() -> io::Result<Taken> {
        enable_raw_mode()?;
        let taken = execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        taken.map(Taken).inspect_err(|_| restore())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        restore();
    }
}

/// Shows what is known of the recording while it is read, then the browser that `make` makes of it, until the user ends it. Returns
/// whether there was a browser: the user may end it before.
///
/// # Errors
/// What the terminal says.
pub fn run<'f, T>(
    opened: &Receiver<Opened<T>>,
    name: &str,
    color: bool,
    make: impl FnOnce(T, (u16, u16)) -> App<'f>,
) -> io::Result<bool> {
    let mut terminal = Taken::new()?;
    let mut typed = Vec::new();
    let Some(ready) = wait(&mut terminal.0, opened, name, color, &mut typed)? else { return Ok(false) };
    let size = terminal.0.size()?;
    let mut app = make(ready, (size.width, size.height));
    // What was typed while there were no rows is meant for them.
    for event in &typed {
        app.handle(event);
    }
    while !app.is_done() {
        terminal.0.draw(|frame| draw(&app, frame))?;
        // What is left to do is done while nothing is typed, a part at a time.
        if !event::poll(Duration::ZERO)? && app.work() {
            continue;
        }
        // What has been typed meanwhile is taken in before the screen is drawn again.
        let mut changed = app.handle(&event::read()?);
        while !app.is_done() && (!changed || event::poll(Duration::ZERO)?) {
            changed |= app.handle(&event::read()?);
        }
    }
    Ok(true)
}

/// Waits for the recording. Nothing comes if the user does not, or if it cannot be read.
fn wait<T>(
    terminal: &mut Terminal<CrosstermBackend<Stdout>>,
    opened: &Receiver<Opened<T>>,
    name: &str,
    color: bool,
    typed: &mut Vec<Event>,
) -> io::Result<Option<T>> {
    let mut early = Early::default();
    loop {
        match opened.recv_timeout(WHILE_READING) {
            Ok(Opened::Ready(ready)) => return Ok(Some(*ready)),
            Ok(Opened::Early(next)) => early = next,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
        terminal.draw(|frame| draw_early(&early, name, color, frame))?;
        while event::poll(Duration::ZERO)? {
            let event = event::read()?;
            if let Event::Key(key) = &event {
                let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
                if key.code == KeyCode::Char('q') || is_control && key.code == KeyCode::Char('c') {
                    return Ok(None);
                }
                typed.push(event);
            }
        }
    }
}
