//! Code that no file has and of which nobody tells.

use crate::reason::Reason;
use crate::source::{Names, Shared};
use crate::subject::Subject;

pub(crate) fn open<'f>(_: &Shared<'f>, subject: &Subject) -> Option<Result<Box<dyn Names + 'f>, Reason>> {
    match subject {
        Subject::Anonymous => Some(Err(Reason::Anonymous)),
        Subject::Vsyscall => Some(Err(Reason::Vsyscall)),
        _ => None,
    }
}
