//! Whether all can be used of what runtimes dumped of the code they generated (jitdump files).

use super::Concern;
use crate::check::end::{End, UnusedDump};
use crate::check::finding::{Finding, FindingKind};
use crate::check::wording::{list, plural};

const UNUSED_DUMPS: FindingKind = FindingKind::loss("unused_dumps");
const NO_DUMPS_HERE: FindingKind = FindingKind::note("no_dumps_here");

/// All is asked for at the end.
#[derive(Default)]
pub(crate) struct Dumps;

impl Concern for Dumps {
    fn finish(&mut self, end: &End<'_>, findings: &mut Vec<Finding>) {
        let Some(lookup) = end.surroundings.dumps else { return };
        let (here, absent): (Vec<UnusedDump>, Vec<UnusedDump>) =
            lookup(end.session, end.metadata).into_iter().partition(|dump| dump.is_here);
        let advice = "Let the runtime end in good order before its files are copied; see whether a newer one writes what is missing.";
        findings.extend(finding(UNUSED_DUMPS, &here, "not all can be used", advice));
        let advice = "Keep these files with the recording, and give their directory with --symbols.";
        findings.extend(finding(NO_DUMPS_HERE, &absent, "nothing can be used", advice));
    }
}

fn finding(kind: FindingKind, dumps: &[UnusedDump], how_much: &str, advice: &str) -> Option<Finding> {
    let count = u64::try_from(dumps.len()).unwrap_or(u64::MAX);
    let told: Vec<String> =
        dumps.iter().map(|dump| format!("{} ({})", dump.path, dump.what.join("; "))).collect();
    let message = format!(
        "Of {} of generated code {how_much}: {}.",
        plural(count, "a dump", &format!("{count} dumps")),
        list(&told)
    );
    (count > 0).then(|| Finding::whole(kind, count, message, advice))
}
