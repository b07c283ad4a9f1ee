//! A sample's recorded call chain, or what the hardware tells in its place.

use crate::addresses::Lookup;
use perffile::wire::attr::{BranchSampleType, EventAttr, SampleType};
use perffile::wire::head::CpuMode;
use readperf_session::{Context, RawChain, RawEntry, SampleMoment, Session};

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
/// that does not begin where the sample was taken, this follows behind it.
pub fn append_all(
    lookups: &mut Vec<Lookup>,
    session: &Session,
    moment: &SampleMoment<'_>,
    attr: Option<&EventAttr>,
    callers: CallerAddress,
) -> usize {
    let start = lookups.len();
    if let Some(attr) = attr {
        append(lookups, session, moment, attr, callers);
    }
    let len = lookups.len() - start;
    // Chains mostly begin where the sample was taken.
    let (ip, mode) = (moment.ip, moment.mode);
    if !lookups.get(start).is_some_and(|place| place.ip() == ip && place.mode() == mode) {
        lookups.push(Lookup::new(session, moment.process, mode, ip));
    }
    len
}

/// Appends the look-ups of the recorded call chain of a sample, the innermost place first; nothing if there is none.
fn append(
    lookups: &mut Vec<Lookup>,
    session: &Session,
    moment: &SampleMoment<'_>,
    attr: &EventAttr,
    callers: CallerAddress,
) {
    let mut last = Lookup::new(session, moment.process, moment.mode, 0);
    entries(moment, attr, |ip, mode, exact| {
        if mode != last.mode() {
            last = Lookup::new(session, moment.process, mode, 0);
        }
        lookups.push(last.at(callers.of(ip, exact)));
    });
}

/// For each entry that [`append`] makes of a sample whether it is a return address, and so, with [`CallerAddress::Call`], one
/// higher than what was looked up.
pub fn return_addresses(moment: &SampleMoment<'_>, attr: &EventAttr) -> Vec<bool> {
    let mut are_returns = Vec::new();
    entries(moment, attr, |_, _, exact| are_returns.push(!exact));
    are_returns
}

/// Shows the entries of the recorded call chain of a sample: the address, the mode in which it ran, and whether it is the place
/// itself and not where a call returns to.
#[inline]
fn entries(moment: &SampleMoment<'_>, attr: &EventAttr, mut push: impl FnMut(u64, CpuMode, bool)) {
    if is_call_stack(attr) {
        hardware_call_stack(moment, &mut push);
    } else if let Some(words) = moment.sample.callchain() {
        for entry in RawChain::new(words, moment.mode) {
            if let RawEntry::Address { ip, mode, exact } = entry {
                // No call returns to 0: what is not a return address is shown as it is.
                push(ip, mode, exact || ip == 0);
            }
        }
    }
}

/// Whether the branch stack is the call stack as the hardware keeps it (`--call-graph lbr`).
pub(crate) fn is_call_stack(attr: &EventAttr) -> bool {
    attr.sample_type.has(SampleType::BRANCH_STACK)
        && attr.branch_sample_type.has(BranchSampleType::CALL_STACK)
}

/// The kernel's part is in the call chain; of the user's part the first address is where the last branch went, and its
/// callers are where the branches came from.
fn hardware_call_stack(moment: &SampleMoment<'_>, push: &mut impl FnMut(u64, CpuMode, bool)) {
    for entry in RawChain::new(moment.sample.callchain().unwrap_or_default(), moment.mode) {
        match entry {
            RawEntry::Address { ip, mode, exact } if mode != CpuMode::User => push(ip, mode, exact),
            RawEntry::Marker(Context::User) | RawEntry::Address { .. } => break,
            RawEntry::Marker(_) => {}
        }
    }
    let decoded = moment.sample.decode().ok().and_then(|(sample, _)| sample.branch_stack);
    let Some(branches) = decoded else { return };
    for (nr, branch) in branches.entries.iter().enumerate() {
        if nr == 0 {
            push(branch.to, CpuMode::User, true);
        }
        // The branch is the call itself, not where it returns to.
        push(branch.from, CpuMode::User, true);
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
}
