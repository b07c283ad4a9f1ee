//! The browser in the terminal: rows, their calls, code, a flame graph and time.
//!
//! Two layers. An [`App`] is the state of the screen: [`App::handle`] takes keys, clicks and sizes, and asks the explorer for tables.
//! [`draw`] shows it, and decides nothing. What is done outside, files and other commands, is the [`Host`]'s.
#![forbid(unsafe_code)]

mod act;
mod app;
mod code;
mod draw;
mod early;
mod flame;
mod host;
mod keys;
mod list;
mod menu;
mod page;
mod prompt;
mod row_text;
mod rows;
mod terminal;
mod theme;
mod time;
mod zoom;

pub use app::{App, Look};
pub use draw::draw;
pub use early::{Early, draw_early};
pub use host::{Host, PrintForm};
pub use keys::{BINDINGS, Binding, View};
pub use terminal::{Opened, restore, run};
