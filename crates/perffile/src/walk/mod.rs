//! The one path from streams of bytes to batches of records, for every kind of recording.

mod apply;
mod astray;
mod batches;
mod body;
mod census;
mod chunks;
mod compressed;
mod cursor;
mod decompress;
mod event_names;
mod expansion;
mod frame;
mod joined;
mod own_record;
mod rounds;
mod samples;
mod scan;
mod stray_times;
mod touched;
mod window;

pub use batches::Batches;
pub(crate) use body::is_checked;
