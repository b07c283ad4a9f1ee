//! A sample's recorded call chain, or what the hardware tells in its place.

use crate::addresses::Lookup;
use crate::contexts::Context;
use crate::recorded_chains::RecordedChain;
use perffile::wire::attr::{BranchSampleType, EventAttr, SampleType};
use perffile::wire::head::CpuMode;
use readperf_session::{self as session, RawChain, RawEntry, SampleMoment};

/// Which address stands for a caller, whose return address is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallerAddress {
    /// The byte before the return address, which lies in the call. Function, inlined functions and line are those of the call.
    #[default]
    Call,
    /// The return address itself, where perf looks. What is inlined behind the call would count as the caller there, and if a
    /// call is the last instruction of its function, the next function would. Only for text that is to be perf's.
    Return,
}

impl CallerAddress {
    /// The address to look up for an entry of a chain.
    #[inline]
    fn of(self, ip: u64, exact: bool) -> u64 {
        match self {
            CallerAddress::Call if !exact => ip.saturating_sub(1),
            _ => ip,
        }
    }
}

/// Appends the look-ups of the places of a sample, and says how many of them are its recorded call chain, the innermost first. If
/// that does not begin where the sample was taken, this follows behind it. `context` is that of the chain.
pub(crate) fn append_all(
    lookups: &mut Vec<Lookup>,
    chain: &RecordedChain<'_>,
    context: &Context,
    callers: CallerAddress,
) -> usize {
    let start = lookups.len();
    let mut last = Lookup::new(context, context.mode, chain.ip);
    let taken_at = last;
    let len = chain.words.len().saturating_sub(context.branches as usize);
    entries(chain.words, len, context.mode, |ip, mode, exact| {
        if mode != last.mode {
            last = Lookup::new(context, mode, ip);
        }
        lookups.push(last.at(callers.of(ip, exact)));
    });
    let len = lookups.len() - start;
    // Chains mostly begin where the sample was taken.
    let begins_there = |place: &Lookup| (place.ip, place.mode) == (taken_at.ip, taken_at.mode);
    if !lookups.get(start).is_some_and(begins_there) {
        lookups.push(taken_at);
    }
    len
}

/// For each place of the recorded call chain of a sample whether it is a return address, and so, with [`CallerAddress::Call`], one
/// higher than what was looked up.
pub fn return_addresses(moment: &SampleMoment<'_>, attr: &EventAttr) -> Vec<bool> {
    let (mut words, mut are_returns) = (Vec::new(), Vec::new());
    let len = append_words(&mut words, moment, attr);
    entries(&words, len, moment.mode, |_, _, exact| are_returns.push(!exact));
    are_returns
}

/// Shows the entries of a recorded call chain: the address, the mode in which it ran, and whether it is the place itself and not
/// where a call returns to. Behind so many words are where the hardware's branches were.
#[inline]
fn entries(words: &[u64], len: usize, mode: CpuMode, mut push: impl FnMut(u64, CpuMode, bool)) {
    let (chain, branches) = words.split_at_checked(len).unwrap_or((words, &[]));
    for entry in RawChain::new(chain.iter().copied(), mode) {
        if let RawEntry::Address { ip, mode, exact } = entry {
            // No call returns to 0: what is not a return address is shown as it is.
            push(ip, mode, exact || ip == 0);
        }
    }
    // A branch is the call itself, not where it returns to.
    branches.iter().for_each(|ip| push(*ip, CpuMode::User, true));
}

/// Appends the words of the recorded call chain of a sample, and says how many are entries of a chain; behind these are where
/// the hardware's branches were, if they are the chain. Nothing if there is none.
#[inline(always)]
pub(crate) fn append_words(words: &mut Vec<u64>, moment: &SampleMoment<'_>, attr: &EventAttr) -> usize {
    let start = words.len();
    moment.sample.callchain().unwrap_or_default().append_to(words);
    match is_call_stack(attr) {
        true => put_hardware_stack(words, start, moment),
        false => words.len() - start,
    }
}

/// Puts the hardware's branches in place of the user's part of a chain, which begins there. Says how many words are before them.
#[cold]
fn put_hardware_stack(words: &mut Vec<u64>, start: usize, moment: &SampleMoment<'_>) -> usize {
    let len = before_user(words.get(start..).unwrap_or_default(), moment.mode);
    words.truncate(start + len);
    append_hardware_stack(words, moment);
    len
}

/// Whether the branch stack is the call stack as the hardware keeps it (`--call-graph lbr`).
fn is_call_stack(attr: &EventAttr) -> bool {
    attr.sample_type.has(SampleType::BRANCH_STACK)
        && attr.branch_sample_type.has(BranchSampleType::CALL_STACK)
}

/// How many words of a chain come before those of the user's part.
fn before_user(words: &[u64], mode: CpuMode) -> usize {
    let of_kernel = |entry: &RawEntry| {
        !matches!(
            entry,
            RawEntry::Marker(session::Context::User) | RawEntry::Address { mode: CpuMode::User, .. }
        )
    };
    let words_of =
        |entry| if matches!(entry, RawEntry::Marker(session::Context::UserDeferred(_))) { 2 } else { 1 };
    let len: usize = RawChain::new(words.iter().copied(), mode).take_while(of_kernel).map(words_of).sum();
    len.min(words.len())
}

/// The kernel's part is in the call chain; of the user's part the first address is where the last branch went, and its
/// callers are where the branches came from.
fn append_hardware_stack(words: &mut Vec<u64>, moment: &SampleMoment<'_>) {
    let decoded = moment.sample.decode().ok().and_then(|(sample, _)| sample.branch_stack);
    let Some(branches) = decoded else { return };
    for (nr, branch) in branches.entries.iter().enumerate() {
        if nr == 0 {
            words.push(branch.to);
        }
        words.push(branch.from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_looked_up_in_the_call_if_wanted() {
        assert_eq!(CallerAddress::Return.of(0x1005, false), 0x1005);
        assert_eq!(CallerAddress::Call.of(0x1005, false), 0x1004);
        assert_eq!(CallerAddress::Call.of(0x1005, true), 0x1005, "where the sample was taken is no caller");
    }

    #[test]
    fn of_a_chain_the_kernels_part_comes_before_the_branches() {
        const KERNEL: u64 = 0xffff_ffff_ffff_ff80;
        const USER: u64 = 0xffff_ffff_ffff_fe00;
        const DEFERRED: u64 = 0xffff_ffff_ffff_fd80;
        assert_eq!(before_user(&[KERNEL, 1, 2, USER, 3], CpuMode::Kernel), 3);
        assert_eq!(before_user(&[1, 2], CpuMode::User), 0);
        assert_eq!(before_user(&[KERNEL, 1, DEFERRED, 7, 3], CpuMode::User), 4);
        assert_eq!(before_user(&[KERNEL, 1, DEFERRED], CpuMode::User), 3);
    }

    #[test]
    fn a_branch_is_an_address_whatever_its_value() {
        let mut shown = Vec::new();
        entries(&[5, u64::MAX, 9], 1, CpuMode::Kernel, |ip, mode, exact| shown.push((ip, mode, exact)));
        assert_eq!(
            shown,
            [(5, CpuMode::Kernel, true), (u64::MAX, CpuMode::User, true), (9, CpuMode::User, true)]
        );
    }
}
