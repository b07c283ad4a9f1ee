//! Signals that the program raises itself: SIGBUS, where a page of a mapped file is not there any more, and SIGABRT, where there is
//! no stack left, or no memory for the C library; and the end of memory. With the allocator the one place of the program where `unsafe` is allowed.

use crate::memory::end_if_none_is_left;
use crate::outcome::FAILED;
use libc::{SA_ONSTACK, SA_SIGINFO, SIGABRT, SIGBUS, c_int, c_void, siginfo_t};
use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::mem::size_of;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;

/// Where the handler tells of signals.
static TOLD_TO: OnceLock<PipeWriter> = OnceLock::new();

/// The thread that is told.
static WATCHER: OnceLock<libc::pid_t> = OnceLock::new();

/// What the handler tells: a signal, and the address that it is about.
type Told = [usize; 2];

/// Signals, as the handler tells of them.
pub(super) struct Faults(PipeReader);

/// What happened.
pub(super) enum Fault {
    /// A file is not what it was; in words.
    File(String),
    /// There is no memory left. It has been said.
    Memory,
    /// Something else.
    Signal(i32),
}

/// What is told as a signal where there is no memory left.
const NO_MEMORY: usize = 0;

impl Faults {
    /// Takes the signals from now on, on this thread.
    #[allow(unsafe_code)]
    pub(super) fn register() -> io::Result<Faults> {
        let (reader, writer) = io::pipe()?;
        TOLD_TO.get_or_init(|| writer);
        // SAFETY: it has no arguments, and only tells which thread this is.
        WATCHER.get_or_init(|| unsafe { libc::gettid() });
        take(SIGBUS)?;
        take(SIGABRT)?;
        Ok(Faults(reader))
    }

    /// Waits for one.
    pub(super) fn next(mut self) -> io::Result<Fault> {
        let mut word = || {
            let mut bytes = [0; size_of::<usize>()];
            self.0.read_exact(&mut bytes).map(|()| usize::from_ne_bytes(bytes))
        };
        let (signal, address) = (word()?, word()?);
        if signal == NO_MEMORY {
            return Ok(Fault::Memory);
        }
        let signal = i32::try_from(signal).unwrap_or(SIGBUS);
        let file = match signal {
            SIGBUS => what_happened(&fs::read_to_string("/proc/self/maps")?, address),
            _ => None,
        };
        Ok(file.map_or(Fault::Signal(signal), Fault::File))
    }
}

/// Has a signal handled by [`on_signal`], and by nothing else: the handler that the standard library has for SIGBUS, which looks for
/// overflows of the stack (on Linux they raise SIGSEGV), would bring back the default at the first fault, and so a second thread
/// that meets it would end the program before anything is said. That is why no library that chains handlers will do.
#[allow(unsafe_code)]
fn take(signal: c_int) -> io::Result<()> {
    let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = on_signal;
    // SAFETY: all bits zero is a valid `sigaction`; its handler has the type that SA_SIGINFO asks for, and lives as long as the
    // program; a null pointer says that the old action is not wanted.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        libc::sigaction(signal, &action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Tells of the signal, and does not go on where there is no going on. Calls only what a handler may call: atomic operations,
/// mmap(2), write(2) and pause(2).
#[allow(unsafe_code)]
extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, _: *mut c_void) {
    if signal == SIGABRT {
        end_if_none_is_left();
    }
    // SAFETY: with SA_SIGINFO the system hands over a valid `siginfo_t`, whose address is set if the code is above zero.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
    tell([usize::try_from(signal).unwrap_or(0), if is_fault { address } else { 0 }]);
    // A SIGBUS that was sent interrupts nothing that cannot go on. And where tidying up fails, too, abort(3) is to end the program as
    // it does.
    if signal == SIGBUS && !is_fault || is_watcher() {
        return;
    }
    wait();
}

/// Ends the program where there is no memory left, which has been said. Asks for none.
#[allow(unsafe_code)]
pub(crate) fn without_memory() -> ! {
    if !is_watcher() && tell([NO_MEMORY, 0]) {
        wait();
    }
    // SAFETY: it has no conditions, and does not come back.
    unsafe { libc::_exit(i32::from(FAILED)) }
}

/// Tells the thread that watches; `false` if there is none.
#[allow(unsafe_code)]
fn tell(told: Told) -> bool {
    let fd = TOLD_TO.get().map_or(-1, |writer| writer.as_raw_fd());
    // SAFETY: the pointer and the length are those of a local array.
    let written = unsafe { libc::write(fd, (&raw const told).cast(), size_of::<Told>()) };
    written > 0
}

/// Whether this is the thread that watches.
#[allow(unsafe_code)]
fn is_watcher() -> bool {
    // SAFETY: it has no arguments, and only tells which thread this is.
    WATCHER.get() == Some(&unsafe { libc::gettid() })
}

/// Waits for the end of the program.
#[allow(unsafe_code)]
fn wait() -> ! {
    loop {
        // SAFETY: it has no arguments, and does nothing but wait.
        unsafe { libc::pause() };
    }
}

/// Which file is mapped at an address, and what must have become of it; by `/proc/PID/maps`.
fn what_happened(maps: &str, address: usize) -> Option<String> {
    let hex = |text: &str| usize::from_str_radix(text, 16).ok();
    maps.lines().find_map(|line| {
        let mut words = line.splitn(6, ' ');
        let (start, end) = words.next()?.split_once('-')?;
        if !(hex(start)?..hex(end)?).contains(&address) {
            return None;
        }
        let offset = hex(words.nth(1)?)?.checked_add(address.checked_sub(hex(start)?)?)?;
        let inode: u64 = words.nth(1)?.parse().ok()?;
        let path = words.next()?.trim_start();
        if !path.starts_with('/') {
            return None;
        }
        let is_there = fs::metadata(path)
            .is_ok_and(|file| file.ino() == inode && file.len() > u64::try_from(offset).unwrap_or(u64::MAX));
        Some(match is_there {
            true => format!("{path} could not be read to its end: its disk, or what it came from, failed"),
            false => format!("{path} became shorter while it was read"),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_the_one_mapped_at_the_address() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a file");
        fs::write(&path, [0; 0x1800]).unwrap();
        let (name, inode) = (path.display(), fs::metadata(&path).unwrap().ino());
        let maps = format!(
            "10000-20000 r--p 00000000 08:01 77                         /elsewhere\n\
             20000-24000 r--p 00000000 08:01 {inode}                    {name}\n\
             24000-26000 r--p 00001000 08:01 {inode}                    {name}\n\
             30000-40000 rw-p 00000000 00:00 0                          [heap]\n\
             40000-50000 rw-p 00000000 00:00 0 \n"
        );
        let told = |address| what_happened(&maps, address).unwrap_or_default();
        let (shorter, failed) =
            (format!("{name} became shorter while it was read"), format!("{name} could not be read"));
        assert_eq!(told(0x22000), shorter);
        assert!(told(0x21000).starts_with(&failed), "the page is still within the file");
        assert_eq!(told(0x25000), shorter);
        assert!(told(0x24000).starts_with(&failed));
        assert_eq!(told(0x12345), "/elsewhere became shorter while it was read");
        for address in [0, 0x35000, 0x45000, 0x60000] {
            assert_eq!(told(address), "", "{address:x}");
        }
    }
}
