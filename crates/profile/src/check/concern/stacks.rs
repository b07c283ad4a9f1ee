//! Copies of the user stack, for unwinding: cut, or not there.
//!
//! ABI: `size` is what was asked for, `dyn_size` what could be copied. Where both are the same the stack went on.

use super::Concern;
use crate::check::end::End;
use crate::check::finding::{Finding, FindingKind};
use crate::check::seen::Seen;
use crate::check::tally::Tally;
use crate::check::wording::{grouped, part, percent, plural};
use perffile::wire::attr::SampleType;
use readperf_session::SampleMoment;

const CUT_USER_STACKS: FindingKind = FindingKind::advice("cut_user_stacks");

/// The largest copy that perf takes: a record has less than 64 KiB.
const LARGEST: usize = 65_528;

/// Counts of stacks.
#[derive(Default)]
pub(crate) struct Stacks {
    stacks: u64,
    cut: Tally,
    largest: usize,
}

impl Concern for Stacks {
    fn sample(&mut self, sample: &SampleMoment<'_>, seen: &Seen<'_, '_>) {
        let copied =
            seen.event_of(sample).is_some_and(|event| event.attr.sample_type.has(SampleType::STACK_USER));
        if copied
            && let Ok((fields, _)) = sample.sample.decode()
            && let Some(stack) = fields.stack_user.filter(|stack| !stack.data.is_empty())
        {
            self.stacks += 1;
            self.largest = self.largest.max(stack.data.len());
            if stack.dyn_size >= stack.data.len() as u64 {
                self.cut.add(seen.event);
            }
        }
    }

    fn finish(&mut self, _end: &End<'_>, findings: &mut Vec<Finding>) {
        if !self.cut.any() {
            return;
        }
        let share = part(self.cut.count, self.stacks);
        let message = format!(
            "{} of user stacks, {} of all, {} the whole {} bytes asked for: callers further out may be cut off.",
            plural(self.cut.count, "A copy", &format!("{} copies", grouped(self.cut.count))),
            percent(share),
            plural(self.cut.count, "fills", "fill"),
            self.largest
        );
        let advice = if self.largest >= LARGEST / 2 {
            "Compile with frame pointers and record with --call-graph fp: larger copies are not possible."
        } else {
            "Record with larger copies (--call-graph dwarf,32768) and a lower frequency, or compile with frame pointers and use \
             --call-graph fp."
        };
        findings.push(Finding::new(CUT_USER_STACKS, &self.cut, message, advice).share(share));
    }
}
