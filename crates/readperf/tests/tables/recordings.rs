//! Recordings made by hand for the tests of tables.

use crate::handmade::{Attr, CODE, KERNEL_CODE, PID, Pipe, Sample};
use std::collections::BTreeSet;

/// A recording with a function a page, named after its binary: `[a]`, `[b]` and so on.
pub(crate) fn pages(chains: &[&str]) -> Pipe {
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "work");
    let at = |name: char| CODE + 0x10_0000 * (u64::from(u32::from(name)) - u64::from(u32::from('a')));
    let names: BTreeSet<char> = chains.concat().chars().collect();
    names.iter().for_each(|name| pipe.map(PID, at(*name), &format!("/bin/{name}"), None, 0));
    for (nr, chain) in (1..).zip(chains) {
        let mut entries = vec![-512i64 as u64];
        entries.extend(chain.chars().rev().map(|name| at(name) + 0x10));
        pipe.sample(&Sample {
            ip: entries[1],
            chain: entries,
            time: nr * 1_000_000_000,
            ..Sample::default()
        });
    }
    pipe
}

pub(crate) const NAME: &str = "\u{1b}[2J\u{9b}\";]}&lt;</b>\\N\\,\n";

/// Names that are markup, JSON, commands of terminals, escapes of graphviz, and separators of all four.
pub(crate) fn hostile() -> Pipe {
    let mut pipe = Pipe::new(&[Attr::default()]);
    pipe.comm(PID, PID, "\u{1b}\",;\nfn=1");
    pipe.map(PID, CODE, &format!("/bin/{}", NAME.replace('/', "|")), None, 0);
    pipe.map(PID, CODE + 0x10_0000, "/bin/(7)", None, 0);
    let chain = vec![-512i64 as u64, CODE + 0x10, CODE + 0x10_0020];
    pipe.sample(&Sample { chain, ..Sample::default() });
    pipe
}

/// Two threads, two events, a call chain and a sample without one.
pub(crate) fn small() -> Pipe {
    let faults = Attr { config: 2, ids: vec![2], ..Attr::default() };
    let mut pipe = Pipe::sound(&[Attr::default(), faults]);
    pipe.comm(PID, PID + 1, "helper");
    pipe.samples(2, &Sample::default());
    pipe.sample(&Sample { tid: PID + 1, time: 1_000_500_000, cpu: 1, ..Sample::default() });
    let (ip, time) = (KERNEL_CODE + 0x40, 1_000_700_000);
    let chain = vec![-128i64 as u64, ip, -512i64 as u64, CODE + 0x30];
    pipe.sample(&Sample { mode: 1, ip, chain, time, id: 2, ..Sample::default() });
    pipe.sample(&Sample { ip: 0x99, chain: Vec::new(), time: 1_003_000_000, ..Sample::default() });
    pipe
}
