//! SIGBUS: a page of a mapped file that is not there any more. The one place of the program where `unsafe` is allowed.

use std::fs;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::mem::size_of;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::OnceLock;

/// Where the handler tells of faults.
static TOLD_TO: OnceLock<PipeWriter> = OnceLock::new();

/// Faults, as the handler tells of them.
pub(super) struct Faults(PipeReader);

impl Faults {
    /// Takes the signal from now on.
    pub(super) fn register() -> io::Result<Faults> {
        let (reader, writer) = io::pipe()?;
        TOLD_TO.get_or_init(|| writer);
        take_signal()?;
        Ok(Faults(reader))
    }

    /// Waits for a fault, and says what happened. `None` if it is no fault of a file.
    pub(super) fn next(mut self) -> io::Result<Option<String>> {
        let mut address = [0; size_of::<usize>()];
        self.0.read_exact(&mut address)?;
        Ok(what_happened(&fs::read_to_string("/proc/self/maps")?, usize::from_ne_bytes(address)))
    }
}

/// Has the signal handled by [`on_fault`], and by nothing else: the handler that the standard library has for it, which looks
/// for overflows of the stack (they raise SIGSEGV on Linux), would bring back the default at the first fault, and so a second
/// thread that meets it would end the program before anything is said. That is why no library that chains handlers will do.
#[allow(unsafe_code)]
fn take_signal() -> io::Result<()> {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_fault;
    // SAFETY: all bits zero is a valid `sigaction`; its handler has the type that SA_SIGINFO asks for, and lives as long as the
    // program; a null pointer says that the old action is not wanted.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGBUS, &action, std::ptr::null_mut())
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Tells the address, and does not return to where the page is missing. Calls only what a handler may call: an atomic load,
/// write(2) and pause(2).
#[allow(unsafe_code)]
extern "C" fn on_fault(_: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: with SA_SIGINFO the system hands over a valid `siginfo_t`, whose address is set if the code is above zero.
    let (is_fault, address) = unsafe { ((*info).si_code > 0, (*info).si_addr() as usize) };
    let address = if is_fault { address } else { 0 };
    let fd = TOLD_TO.get().map_or(-1, |writer| writer.as_raw_fd());
    // SAFETY: the pointer and the length are those of a local array.
    unsafe { libc::write(fd, (&raw const address).cast(), size_of::<usize>()) };
    if !is_fault {
        // It was sent, and interrupts nothing that cannot go on.
        return;
    }
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
