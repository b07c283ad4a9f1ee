//! One piece of work a call, so that a script can time them in turn: `compare WORK FILE [OUT]`.
//!
//! The sums that are printed have to be equal wherever the work is the same.

mod collapse;
mod heads;
mod ours;
mod private_memory;
mod swap;
mod theirs;
mod unpack;

use std::process::ExitCode;

/// What is added up over all samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    samples: u64,
    ip: u64,
    pid: u64,
    tid: u64,
    time: u64,
    period: u64,
    chain_entries: u64,
    chain: u64,
    /// Changes whenever the order of the samples does.
    in_order: u64,
}

impl Sums {
    #[inline(always)]
    fn add(&mut self, ip: u64, pid: u32, tid: u32, time: u64, period: u64) {
        self.samples += 1;
        self.ip = self.ip.wrapping_add(ip);
        self.pid += u64::from(pid);
        self.tid += u64::from(tid);
        self.time = self.time.wrapping_add(time);
        self.period = self.period.wrapping_add(period);
        self.in_order = self.in_order.rotate_left(1) ^ time;
    }

    #[inline(always)]
    fn add_chain(&mut self, entries: u64, sum: u64) {
        self.chain_entries += entries;
        self.chain = self.chain.wrapping_add(sum);
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let outcome = match words[..] {
        [_, "ours", file] => ours::run(file),
        [_, "theirs", file] => theirs::run(file),
        [_, "collapse"] => collapse::run(),
        [_, "heads", file] => heads::run(file),
        [_, "unpack", file] => unpack::run(file),
        [_, "swap", file, out] => swap::run(file, out),
        _ => {
            Err("compare ours|theirs|heads|unpack FILE, compare swap FILE OUT, or compare collapse <TEXT"
                .into())
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
