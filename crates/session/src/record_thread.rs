//! Which thread a record is about.

use perffile::Event;
use perffile::wire::record::Record;

/// Process and thread that a record is about: what it says itself, else its trailer.
pub fn thread_of(event: &Event<'_>) -> Option<(u32, u32)> {
    if event.is_user_record() {
        return None;
    }
    match event.record().ok()?.0 {
        Record::Mmap(map) => Some((map.pid, map.tid)),
        Record::Mmap2(map) => Some((map.pid, map.tid)),
        Record::Comm(comm) => Some((comm.pid, comm.tid)),
        Record::Fork(task) | Record::Exit(task) => Some((task.pid, task.tid)),
        Record::Namespaces(namespaces) => Some((namespaces.pid, namespaces.tid)),
        _ => {
            let id = event.sample_id()?;
            Some((id.pid?, id.tid?))
        }
    }
}
