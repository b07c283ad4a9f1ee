//! CPU_TOPOLOGY (13): which CPUs share a package, a die, a core.
//!
//! Three forms, each the start of the next, and nothing says which one it is: lists only (until Linux 4.3), then a core
//! and a socket of each CPU, then dies too (5.2 and later). How many CPUs have an entry is not stored either: it is the
//! number available of NRCPUS. Where that is unknown, or does not fit, a number that does is looked for.

use crate::wire::declare::fields;
use crate::wire::endian::ByteOrder;
use crate::wire::list::List;
use crate::wire::pass::{CpuCounts, Element, Fields, Pass, Step};
use crate::wire::text::HeaderString;

/// How the CPUs belong together. Lists of CPUs are written as the kernel does: `0-3,8`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CpuTopology<'a> {
    /// CPUs of each package ("sibling sockets"; "sibling cores" once).
    pub cores: Vec<HeaderString<'a>>,
    /// CPUs of each core ("sibling threads").
    pub threads: Vec<HeaderString<'a>>,
    /// Core and socket of each CPU, by its number.
    pub cpus: List<'a, CpuLocation>,
    /// Dies, if the file tells of them.
    pub dies: Option<Dies<'a>>,
}

fields! {
    /// Where a CPU sits. -1 (all bits set) for a CPU that was offline.
    #[derive(Copy)]
    pub struct CpuLocation {
        /// Number of its core, as the machine counts them.
        core_id: u32,
        /// Number of its package.
        socket_id: u32,
    }
}
impl Element for CpuLocation {}

fields! {
    /// The die that a CPU sits on.
    #[derive(Copy)]
    pub struct CpuDie {
        /// Its number; -1 (all bits set) for a CPU that was offline.
        die_id: u32,
    }
}
impl Element for CpuDie {}

/// The dies of a machine.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dies<'a> {
    /// CPUs of each die.
    pub cpus: Vec<HeaderString<'a>>,
    /// Die of each CPU, by its number.
    pub ids: List<'a, CpuDie>,
}

impl<'a> Fields<'a> for CpuTopology<'a> {
    fn fields<P: Pass<'a>>(&mut self, pass: &mut P) -> Step {
        let nr = pass.count_u32("nr_cores", self.cores.len())?;
        pass.strings("cores", nr, &mut self.cores)?;
        let nr = pass.count_u32("nr_threads", self.threads.len())?;
        pass.strings("threads", nr, &mut self.threads)?;
        let decoding = pass.left().is_some();
        let form = if decoding {
            let (tail, order) = pass.ahead();
            Form::of(tail, order, pass.cpu_counts())
        } else {
            Form { cpus: self.cpus.len(), dies: self.dies.is_some() }
        };
        if form.cpus > 0 {
            pass.list("cpus", form.cpus as u64, &mut self.cpus)?;
        }
        if form.dies {
            let dies = self.dies.get_or_insert_default();
            let nr = pass.count_u32("nr_dies", dies.cpus.len())?;
            pass.strings("dies", nr, &mut dies.cpus)?;
            let ids = if decoding { form.cpus } else { dies.ids.len() };
            pass.list("die_ids", ids as u64, &mut dies.ids)?;
        }
        Ok(())
    }
}

/// What lies behind the lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Form {
    /// CPUs with a core and a socket.
    cpus: usize,
    /// Whether dies follow.
    dies: bool,
}

/// No machine that Linux runs on has more CPUs.
const MOST_CPUS: usize = 1 << 16;
/// Strings looked at in search of the number of CPUs; a real file needs a few hundred.
const MOST_STEPS: usize = 1 << 18;

impl Form {
    /// The form of the bytes behind the lists: with a number of CPUs that is told, else with one that fits exactly, else
    /// as many entries as are told, the rest left over.
    fn of(tail: &[u8], order: ByteOrder, told: CpuCounts) -> Form {
        let told = [told.available, told.online].map(|count| count.and_then(|n| usize::try_from(n).ok()));
        let told = || told.into_iter().flatten();
        // In a pipe a word of zeros may fill the record.
        let tails = [Some(tail), tail.strip_suffix(&[0; 4])];
        let tails = || tails.into_iter().flatten();
        let mut steps = MOST_STEPS;
        let fits = |tail| told().find_map(|n| Form::fitting(tail, order, n, &mut steps));
        if let Some(form) = tails().find_map(fits) {
            return form;
        }
        let most = (tail.len() / 12).min(MOST_CPUS);
        let mut with_dies = |tail| (1..=most).find(|n| dies_fit(tail, order, *n, &mut steps));
        if let Some(cpus) = tails().find_map(&mut with_dies) {
            return Form { cpus, dies: true };
        }
        if let Some(pairs) = tails().find(|tail| tail.len().is_multiple_of(8)) {
            return Form { cpus: pairs.len() / 8, dies: false };
        }
        Form { cpus: told().find(|n| n.saturating_mul(8) <= tail.len()).unwrap_or(0), dies: false }
    }

    /// The form with `n` CPUs that uses up the bytes, if there is one.
    fn fitting(tail: &[u8], order: ByteOrder, n: usize, steps: &mut usize) -> Option<Form> {
        if tail.len() == n.checked_mul(8)? {
            return Some(Form { cpus: n, dies: false });
        }
        dies_fit(tail, order, n, steps).then_some(Form { cpus: n, dies: true })
    }
}

/// Whether `n` CPUs, a list of at most `n` dies, and a die of each CPU use up the bytes.
fn dies_fit(tail: &[u8], order: ByteOrder, n: usize, steps: &mut usize) -> bool {
    let word = |at: usize| order.u32_at(tail, at).and_then(|word| usize::try_from(word).ok());
    let Some(mut at) = n.checked_mul(8) else { return false };
    let Some(dies) = word(at) else { return false };
    if dies == 0 || dies > n {
        return false;
    }
    at += 4;
    for _ in 0..dies {
        let Some(len) = word(at) else { return false };
        // A list of CPUs begins with a digit.
        if *steps == 0 || len == 0 || !tail.get(at + 4).is_some_and(u8::is_ascii_digit) {
            return false;
        }
        *steps -= 1;
        at = at.saturating_add(4).saturating_add(len);
    }
    tail.len().checked_sub(at) == n.checked_mul(4)
}
