//! Whether the running kernel is the recorded one, for recordings without a build-id of it.
//!
//! perf looks build-ids up when it has finished a file, so what it wrote into a pipe or compressed has none. What such a
//! recording does have: the name of its machine, the release of its kernel, and where the code of the kernel began and ended.
//!
//! What that is worth: release and name alone are worth little, since a kernel may be built anew under its release. The end of
//! the code is its size to the byte, which another build hardly ever has. And where the kernel is put at a random place by each
//! boot, its beginning tells one boot from another: by chance it is the same once in some hundred boots on x86-64, far more
//! rarely elsewhere. All of it together is asked for; how much of it there was is said with the names.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};

use rustix::system::uname;

use crate::build_id::BuildId;
use crate::kernel_doubt::KernelDoubt;
use crate::reason::Reason;
use crate::source::running_kernel;

/// What a recording tells of its kernel beside a build-id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RecordedKernel {
    /// Name of the machine (`uname -n`).
    pub hostname: String,
    /// Release of the kernel (`uname -r`).
    pub release: String,
    /// Kind of machine (`uname -m`, or perf's own name of it).
    pub machine: String,
    /// The symbol by which the kernel's position was recorded, and its address.
    pub reference: (String, u64),
    /// Where the mapping of the kernel's code ended.
    pub end: u64,
}

/// That the running kernel is the recorded one, and by what that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SameKernel {
    recorded: RecordedKernel,
    is_at_random: bool,
}

impl SameKernel {
    /// The build-id of the running kernel, which is that of the recorded one.
    pub fn build_id(&self) -> Option<BuildId> {
        running_kernel::build_id()
    }
}

impl fmt::Display for SameKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RecordedKernel { hostname, release, reference: (_, start), end, .. } = &self.recorded;
        write!(
            f,
            "the recording has no build-id of its kernel; it is taken for the running one, which has the same host name \
             ({hostname}), release ({release}) and machine, and code from {start:#x} to {end:#x} as recorded"
        )?;
        f.write_str(if self.is_at_random {
            " (each boot puts it elsewhere, so this is the same boot)"
        } else {
            " (not put at a random place, so another boot looks the same; another build would differ in size)"
        })
    }
}

impl RecordedKernel {
    /// Whether it is the kernel that runs here.
    ///
    /// # Errors
    /// Why it may be another one, or why that cannot be seen.
    pub fn is_running(&self) -> Result<SameKernel, Reason> {
        let uname = uname();
        let words = [uname.nodename(), uname.release(), uname.machine()];
        self.is_at(words.map(|word| word.to_string_lossy().into_owned()), || {
            Ok(BufReader::with_capacity(1 << 16, File::open("/proc/kallsyms")?))
        })
    }

    /// Whether it is the kernel with such a name, release and machine and such a list of symbols.
    fn is_at<L: BufRead>(
        &self,
        [hostname, release, machine]: [String; 3],
        list: impl FnOnce() -> io::Result<L>,
    ) -> Result<SameKernel, Reason> {
        let doubt = |doubt| Err(Reason::KernelUnproven { doubt });
        let is_here = self.hostname == hostname
            && self.release == release
            && (self.machine == machine || self.machine == name_in_perf(&machine));
        if !is_here {
            return doubt(KernelDoubt::Elsewhere {
                recorded: format!("{} ({}, {})", self.hostname, self.release, self.machine),
                running: format!("{hostname} ({release}, {machine})"),
            });
        }
        let (symbol, start) = &self.reference;
        if *start == 0 {
            return doubt(KernelDoubt::AddressHidden);
        }
        let Ok(Bounds { reference: Some(running), ends }) =
            list().and_then(|list| Bounds::read(list, symbol))
        else {
            return doubt(KernelDoubt::NotListed);
        };
        if running == 0 {
            return Err(Reason::KernelAddressesHidden);
        }
        if running != *start {
            return doubt(KernelDoubt::Moved { symbol: symbol.clone(), recorded: *start, running });
        }
        if ends.is_empty() {
            return doubt(KernelDoubt::NotListed);
        }
        if !ends.contains(&self.end) {
            return doubt(KernelDoubt::OtherSize { recorded: self.end });
        }
        let is_at_random = is_random(&machine, *start);
        Ok(SameKernel { recorded: self.clone(), is_at_random })
    }
}

/// perf's own name of a machine, which its newest versions write in place of that of `uname`.
fn name_in_perf(machine: &str) -> &str {
    const NAMES: [(&str, &str); 10] = [
        ("x86_64", "x86"),
        ("i", "x86"),
        ("aarch64", "arm64"),
        ("arm", "arm"),
        ("s390", "s390"),
        ("ppc", "powerpc"),
        ("riscv", "riscv"),
        ("loongarch", "loongarch"),
        ("mips", "mips"),
        ("sparc", "sparc"),
    ];
    NAMES.iter().find(|(start, _)| machine.starts_with(start)).map_or(machine, |(_, name)| name)
}

/// Whether the kernel's code begins where a boot that puts it at a random place has put it, as far as that can be told: it is
/// not where it is linked for.
fn is_random(machine: &str, start: u64) -> bool {
    match machine {
        "x86_64" => start != 0xffff_ffff_8100_0000,
        // ABI: `KIMAGE_VADDR` lies at a multiple of 128 MiB, and has lain at several.
        "aarch64" => !start.is_multiple_of(0x800_0000),
        _ => false,
    }
}

/// What the list of a kernel's symbols tells of the extent of its code.
#[derive(Debug, Default)]
struct Bounds {
    /// Address of the reference symbol.
    reference: Option<u64>,
    /// Where recorders let the mapping of the kernel end: at the end of its data, or of its code if the data is not listed.
    ends: Vec<u64>,
}

impl Bounds {
    /// Reads as much of a list as is needed: the kernel takes long to print it.
    fn read(list: impl BufRead, reference: &str) -> io::Result<Bounds> {
        let mut bounds = Bounds::default();
        for line in list.split(b'\n') {
            let line = line?;
            let mut words = line.split(|byte| *byte == b' ');
            let (Some(address), Some(_), Some(name), None) =
                (words.next(), words.next(), words.next(), words.next())
            else {
                continue;
            };
            let address = || u64::from_str_radix(std::str::from_utf8(address).ok()?, 16).ok();
            if name == reference.as_bytes() && bounds.reference.is_none() {
                bounds.reference = address();
            }
            if name == b"_etext" || name == b"_edata" {
                bounds.ends.extend(address());
            }
            // The end of the data is the last that counts.
            if name == b"_edata" && bounds.reference.is_some() {
                break;
            }
        }
        Ok(bounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u64 = 0xffff_ffff_9a60_0000;
    const END: u64 = 0xffff_ffff_9b80_bb08;

    fn recorded() -> RecordedKernel {
        RecordedKernel {
            hostname: "alpha".to_owned(),
            release: "6.1.0-13-amd64".to_owned(),
            machine: "x86_64".to_owned(),
            reference: ("_text".to_owned(), START),
            end: END,
        }
    }

    fn list(start: u64, end: u64) -> String {
        format!(
            "0000000000000000 A fixed_percpu_data\n{start:016x} T _stext\n{start:016x} T _text\n\
             {end:016x} T _etext\nffffffffc0a3f000 t _etext\t[odd]\n"
        )
    }

    fn asked(recorded: &RecordedKernel, uname: [&str; 3], list: &str) -> Result<SameKernel, Reason> {
        recorded.is_at(uname.map(str::to_owned), || Ok(list.as_bytes()))
    }

    const HERE: [&str; 3] = ["alpha", "6.1.0-13-amd64", "x86_64"];

    fn doubt(answer: Result<SameKernel, Reason>) -> KernelDoubt {
        match answer {
            Err(Reason::KernelUnproven { doubt }) => doubt,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_boot_is_known_by_where_the_kernel_is() {
        let same = asked(&recorded(), HERE, &list(START, END)).unwrap();
        assert!(same.to_string().contains("(alpha), release (6.1.0-13-amd64) and machine"), "{same}");
        assert!(same.to_string().ends_with("this is the same boot)"), "{same}");
        let newest = RecordedKernel { machine: "x86".to_owned(), ..recorded() };
        assert!(asked(&newest, HERE, &list(START, END)).is_ok(), "perf's own name of the machine");
        let data = RecordedKernel { end: END + 0x100_0000, ..recorded() };
        let both = format!("{}{:016x} D _edata\n", list(START, END), END + 0x100_0000);
        assert!(asked(&data, HERE, &both).is_ok(), "the mapping ends with the data");
    }

    /// Where no boot moves the kernel, its place tells nothing of the boot, and that is said.
    #[test]
    fn a_kernel_that_is_not_moved_is_known_by_its_size_alone() {
        let start = 0xffff_ffff_8100_0000;
        let fixed = RecordedKernel { reference: ("_text".to_owned(), start), ..recorded() };
        let same = asked(&fixed, HERE, &list(start, END)).unwrap();
        assert!(same.to_string().contains("another boot looks the same"), "{same}");
        let rebuilt = asked(&fixed, HERE, &list(start, END + 16));
        assert_eq!(doubt(rebuilt), KernelDoubt::OtherSize { recorded: END });
    }

    #[test]
    fn what_differs_is_told() {
        for other in
            [["beta", HERE[1], HERE[2]], [HERE[0], "6.1.0-14-amd64", HERE[2]], [HERE[0], HERE[1], "i686"]]
        {
            let doubt = doubt(asked(&recorded(), other, &list(START, END)));
            let said = doubt.to_string();
            assert!(
                matches!(doubt, KernelDoubt::Elsewhere { .. }) && said.contains("alpha (6.1.0-13-amd64"),
                "{said}"
            );
        }
        let moved = asked(&recorded(), HERE, &list(START + 0x20_0000, END + 0x20_0000));
        assert!(matches!(doubt(moved), KernelDoubt::Moved { .. }));
        let hidden = RecordedKernel { reference: ("_text".to_owned(), 0), ..recorded() };
        assert_eq!(doubt(asked(&hidden, HERE, &list(START, END))), KernelDoubt::AddressHidden);
    }

    /// Addresses that are hidden here are all zero: equal to nothing, and no proof.
    #[test]
    fn a_list_without_addresses_proves_nothing() {
        assert_eq!(asked(&recorded(), HERE, &list(0, 0)), Err(Reason::KernelAddressesHidden));
        assert_eq!(doubt(asked(&recorded(), HERE, "")), KernelDoubt::NotListed);
        assert_eq!(doubt(asked(&recorded(), HERE, &format!("{START:x} T _text\n"))), KernelDoubt::NotListed);
        let unreadable =
            recorded().is_at(HERE.map(str::to_owned), || Err::<&[u8], _>(io::Error::other("no")));
        assert_eq!(doubt(unreadable), KernelDoubt::NotListed);
    }
}
