//! For those who can wait a little for where samples were taken: what was looked up since they asked last, here or on a thread of its own.

use crate::addresses::{AddressId, Addresses};
use crate::codes::{Codes, CodesSlice};
use crate::interner::Store;
use crate::known_chains::ChainId;
use crate::locator::Locator;
use crate::recorded_chains::RecordedChains;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Pieces of work on the way: enough that neither side waits for the other when one takes longer.
const ON_THE_WAY: usize = 8;

/// If no more than one chain of so many is new, those who ask for a chain are told what names it.
const REPEATED: usize = 4;

/// The number of a sample in [`Located`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocatedId {
    piece: u32,
    nr: u32,
}

impl LocatedId {
    /// That of a sample behind this one, which went the same way.
    #[inline]
    pub fn behind(self, samples: usize) -> LocatedId {
        LocatedId { nr: self.nr.saturating_add(number(samples)), ..self }
    }

    /// How many samples it is behind one that went the same way.
    #[inline]
    pub fn since(self, first: LocatedId) -> u32 {
        self.nr.saturating_sub(first.nr)
    }
}

/// Where some samples were taken, in the pieces that were looked up at once, and the places among these that nobody had met before.
#[derive(Debug, Default)]
pub struct Located {
    pieces: Vec<Piece>,
    new: Codes,
}

/// Where the samples of a piece were taken, in their order.
#[derive(Debug, Default)]
struct Piece {
    samples: Vec<LocatedSample>,
    /// What names the stacks, if they have names.
    chains: Vec<ChainId>,
    /// Whether stacks come again and again.
    has_repeats: bool,
    /// The stacks of all, one after the other.
    stacks: Vec<AddressId>,
    /// The addresses of those in the stacks where nothing is mapped.
    unmapped: Vec<u64>,
}

/// Where a sample was taken, and where in the piece its stack and the addresses of that end. They begin where those of the sample before end.
#[derive(Clone, Copy, Debug)]
struct LocatedSample {
    taken_at: AddressId,
    stack_end: u32,
    unmapped_end: u32,
}

impl Piece {
    fn clear(&mut self) {
        self.samples.clear();
        self.chains.clear();
        self.stacks.clear();
        self.unmapped.clear();
    }

    fn size(&self) -> usize {
        let samples = size_of_val(&*self.samples) + size_of_val(&*self.chains);
        samples + size_of_val(&*self.stacks) + size_of_val(&*self.unmapped)
    }

    /// Where what so many samples have ends.
    #[inline]
    fn ends(&self, samples: usize) -> Option<(usize, usize)> {
        let Some(last) = samples.checked_sub(1) else { return Some((0, 0)) };
        let LocatedSample { stack_end, unmapped_end, .. } = self.samples.get(last)?;
        Some((*stack_end as usize, *unmapped_end as usize))
    }

    /// The stacks of some samples, and the addresses of those among them where nothing is mapped.
    #[inline]
    fn stacks(&self, samples: Range<usize>) -> Option<(&[AddressId], &[u64])> {
        let (start, end) = (self.ends(samples.start)?, self.ends(samples.end)?);
        Some((self.stacks.get(start.0..end.0)?, self.unmapped.get(start.1..end.1)?))
    }

    /// Takes in the samples at hand there.
    fn take_in(&mut self, locator: &Locator) {
        self.chains.extend_from_slice(locator.chains());
        self.has_repeats = locator.finds_all_but_one_of(REPEATED);
        for places in (0..).map_while(|nr| locator.recorded(nr)) {
            self.stacks.extend_from_slice(places.stack);
            if !places.unmapped.is_empty() {
                self.unmapped.extend_from_slice(places.unmapped);
            }
            self.samples.push(LocatedSample {
                taken_at: places.address,
                stack_end: number(self.stacks.len()),
                unmapped_end: number(self.unmapped.len()),
            });
        }
    }
}

impl Located {
    /// The number of the sample behind so many that are to be [taken in](Located::take_in) next.
    pub fn id_of_next(&self, samples_before: usize) -> LocatedId {
        let known = self.pieces.last().map_or(0, |piece| piece.samples.len());
        LocatedId { piece: number(self.pieces.len().saturating_sub(1)), nr: number(known + samples_before) }
    }

    /// Takes in the samples at hand there.
    pub fn take_in(&mut self, locator: &Locator) {
        match self.pieces.last_mut() {
            Some(piece) => piece.take_in(locator),
            None => {
                let mut piece = Piece::default();
                piece.take_in(locator);
                self.pieces.push(piece);
            }
        }
    }

    /// Forgets all, and keeps memory for others.
    pub fn clear(&mut self) {
        self.pieces.truncate(1);
        self.pieces.iter_mut().for_each(Piece::clear);
        self.new.clear();
    }

    /// How much it holds of samples, roughly, in bytes.
    pub fn size(&self) -> usize {
        self.pieces.iter().map(Piece::size).sum()
    }

    /// How many samples.
    pub fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.samples.len()).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where a sample was taken.
    #[inline]
    pub fn taken_at(&self, id: LocatedId) -> Option<&AddressId> {
        Some(&self.pieces.get(id.piece as usize)?.samples.get(id.nr as usize)?.taken_at)
    }

    /// What names the stack of a sample, if stacks come again and again: under the same name it is the same.
    #[inline]
    pub fn chain(&self, id: LocatedId) -> Option<ChainId> {
        let piece = self.pieces.get(id.piece as usize).filter(|piece| piece.has_repeats)?;
        piece.chains.get(id.nr as usize).copied()
    }

    /// The stack of a sample, the innermost place first, which is empty if it has none; and the addresses of those of it, or of where the
    /// sample was taken if it has none, that are [`AddressId::UNMAPPED`], in their order.
    #[inline]
    pub fn stack(&self, id: LocatedId) -> (&[AddressId], &[u64]) {
        self.stacks(id, 1)
    }

    /// The same of so many samples from one on, which went the same way.
    #[inline]
    pub fn stacks(&self, first: LocatedId, samples: usize) -> (&[AddressId], &[u64]) {
        let start = first.nr as usize;
        let piece = self.pieces.get(first.piece as usize);
        piece.and_then(|piece| piece.stacks(start..start + samples)).unwrap_or_default()
    }

    /// The new places, in the order of their numbers.
    pub fn new_places(&self) -> CodesSlice<'_> {
        self.new.as_slice()
    }

    /// Takes the new places away.
    pub fn take_new_places(&mut self) -> Codes {
        std::mem::take(&mut self.new)
    }

    /// Says which places are new, in place of those that were said to be.
    pub fn set_new_places(&mut self, new: CodesSlice<'_>) {
        self.new.clear();
        self.new.extend(new.iter());
    }
}

/// Memory is at its end before the numbers are.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// What goes to the other thread, and comes back.
#[derive(Debug, Default)]
struct Work {
    chains: RecordedChains,
    piece: Piece,
    new: Codes,
}

/// The other thread. What is handed over comes back in its order, so numbers do not depend on it.
#[derive(Debug)]
pub struct Locating {
    /// Work goes there; there is no more when this end is gone.
    work: SyncSender<Work>,
    done: Receiver<Work>,
    on_the_way: usize,
    /// What has come back since the last time.
    located: Located,
    /// Memory to be used again.
    chains: Vec<RecordedChains>,
    pieces: Vec<Piece>,
    thread: JoinHandle<(Locator, Addresses)>,
}

impl Locating {
    /// Starts it, with these; what has been located since the last time comes before what it will locate. `None`, and all stay, if the system has no
    /// thread for it.
    pub fn start(
        locator: &mut Locator,
        addresses: &mut Addresses,
        located: &mut Located,
    ) -> Option<Locating> {
        let (work, to_do) = sync_channel::<Work>(ON_THE_WAY);
        let (give_back, done) = channel();
        let (begin, first) = channel();
        let thread = move || {
            let (mut locator, mut addresses): (Locator, Addresses) = first.recv().unwrap_or_default();
            for mut work in to_do {
                let before = addresses.len();
                locator.locate(&mut addresses, &work.chains);
                work.piece.take_in(&locator);
                work.new.extend(addresses.since(before).iter());
                locator.forget();
                work.chains.clear();
                // Nobody waits for it if the reading has failed.
                let _ = give_back.send(work);
            }
            (locator, addresses)
        };
        let builder = thread::Builder::new().name("looking up".to_owned()).stack_size(2 << 20);
        let thread = builder.spawn(thread).ok()?;
        // That there is nobody to take it shows when the thread is joined.
        let _ = begin.send((std::mem::take(locator), std::mem::take(addresses)));
        let (chains, pieces) = (Vec::new(), Vec::new());
        Some(Locating { work, done, on_the_way: 0, located: std::mem::take(located), chains, pieces, thread })
    }

    /// The number of the first sample among these, which are to be handed over next.
    pub fn id_of_next(&self, samples_before: usize) -> LocatedId {
        LocatedId { piece: number(self.located.pieces.len() + self.on_the_way), nr: number(samples_before) }
    }

    /// Hands samples over, and leaves none in their place. If they are few, they wait for more, unless these are the last.
    pub fn hand_over(&mut self, chains: &mut RecordedChains, are_last: bool) {
        if !chains.are_enough(are_last) {
            return;
        }
        while let Ok(work) = self.done.try_recv() {
            self.take_in(work);
        }
        let next = self.chains.pop().unwrap_or_else(|| RecordedChains::new(chains.has_stacks));
        let chains = std::mem::replace(chains, next);
        let work = Work { chains, piece: self.pieces.pop().unwrap_or_default(), new: Codes::default() };
        // That there is nobody to take it shows when the thread is joined.
        self.on_the_way += usize::from(self.work.send(work).is_ok());
    }

    fn take_in(&mut self, work: Work) {
        self.on_the_way -= 1;
        self.located.pieces.push(work.piece);
        self.located.new.extend(work.new.as_slice().iter());
        self.chains.push(work.chains);
    }

    /// Memory for where samples were taken, from those who need no more of it.
    pub fn use_again(&mut self, spent: Located) {
        let Located { mut pieces, .. } = spent;
        pieces.iter_mut().for_each(Piece::clear);
        self.pieces.append(&mut pieces);
    }

    /// Where all samples since the last time were taken; these are the last that wait.
    pub fn take(&mut self, chains: &mut RecordedChains) -> Located {
        self.catch_up(chains);
        std::mem::take(&mut self.located)
    }

    /// How many places are new since the last time, when all is looked up; these are the last that wait.
    pub fn count_new_places(&mut self, chains: &mut RecordedChains) -> usize {
        self.catch_up(chains);
        self.located.new.len()
    }

    fn catch_up(&mut self, chains: &mut RecordedChains) {
        self.hand_over(chains, true);
        while self.on_the_way > 0 {
            // A thread that is gone has panicked: that shows when it is joined.
            let Ok(work) = self.done.recv() else { break };
            self.take_in(work);
        }
    }

    /// Ends it: what it was started with, and where the samples since the last time were taken.
    pub fn end(mut self, chains: &mut RecordedChains) -> (Locator, Addresses, Located) {
        let located = self.take(chains);
        drop(self.work);
        let (locator, addresses) = self.thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        (locator, addresses, located)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use readperf_session::{CodeAddress, CpuMode};

    const SAMPLES: u64 = 500;

    /// The chains of samples by their numbers, of which some come again; every seventh has none.
    fn chains(samples: std::ops::Range<u64>, has_stacks: bool) -> RecordedChains {
        let words: Vec<[u64; 3]> = samples.map(|nr| [nr % 70, nr % 7 + 1, nr % 3 + 1]).collect();
        let depth = |words: &[u64; 3]| if words[0].is_multiple_of(7) { 0 } else { words.len() };
        let chains = words.iter().map(|words| {
            let words: &[u64] = &words[..depth(words)];
            (words.first().copied().unwrap_or(9), CpuMode::User, words, u32::try_from(words.len()).unwrap())
        });
        let chains: Vec<(u64, CpuMode, &[u64], u32)> = chains.collect();
        let mut recorded = RecordedChains::for_test(&chains);
        recorded.has_stacks = has_stacks;
        recorded
    }

    /// Where each sample was taken and its stack, by the places themselves.
    fn of(
        located: &Located,
        ids: &[LocatedId],
        addresses: CodesSlice<'_>,
    ) -> Vec<(CodeAddress, Vec<CodeAddress>)> {
        let code = |id: &AddressId| addresses.get(id.index()).unwrap();
        let one = |id: &LocatedId| {
            (code(located.taken_at(*id).unwrap()), located.stack(*id).0.iter().map(code).collect())
        };
        ids.iter().map(one).collect()
    }

    #[test]
    fn what_comes_back_is_what_is_looked_up_here() {
        let (mut locator, mut addresses) = (Locator::default(), Addresses::default());
        locator.locate(&mut addresses, &chains(0..SAMPLES, true));
        let code = |id: &AddressId| addresses.get(*id).unwrap();
        let here: Vec<(CodeAddress, Vec<CodeAddress>)> = (0..)
            .map_while(|nr| locator.recorded(nr))
            .map(|places| (code(&places.address), places.stack.iter().map(code).collect()))
            .collect();
        assert_eq!(here.len() as u64, SAMPLES);
        assert!(here.iter().any(|(_, stack)| stack.len() == 3));
        for takes in [vec![], vec![1], vec![100, 101, 490], (0..SAMPLES).collect()] {
            let (mut locator, mut beside) = (Locator::default(), Addresses::default());
            let mut locating = Locating::start(&mut locator, &mut beside, &mut Located::default()).unwrap();
            let (mut all, mut new, mut ids) = (Vec::new(), Codes::default(), Vec::new());
            let mut waiting = RecordedChains::new(true);
            for nr in 0..SAMPLES {
                let first = locating.id_of_next(0);
                waiting = match nr % 5 {
                    // Three go together, and two each by itself.
                    0 => chains(nr..nr + 3, true),
                    1 | 2 => continue,
                    _ => chains(nr..nr + 1, true),
                };
                ids.extend((0..waiting.len()).map(|behind| first.behind(behind)));
                locating.hand_over(&mut waiting, true);
                assert!(waiting.is_empty());
                if takes.contains(&nr) {
                    let count = locating.count_new_places(&mut waiting);
                    let mut some = locating.take(&mut waiting);
                    assert_eq!(some.new_places().len(), count);
                    assert_eq!(some.len(), ids.len(), "those since the last time");
                    new.extend(some.take_new_places().as_slice().iter());
                    all.extend(of(&some, &std::mem::take(&mut ids), new.as_slice()));
                    locating.use_again(some);
                }
            }
            let (_, beside, mut rest) = locating.end(&mut waiting);
            new.extend(rest.take_new_places().as_slice().iter());
            all.extend(of(&rest, &ids, new.as_slice()));
            assert_eq!(new.as_slice(), beside.as_slice(), "{takes:?}");
            assert_eq!(beside.as_slice(), addresses.as_slice(), "{takes:?}");
            assert_eq!(all, here, "{takes:?}");
        }
    }

    #[test]
    fn a_few_wait_for_more_unless_they_are_wanted() {
        let (mut locator, mut addresses) = (Locator::default(), Addresses::default());
        let mut locating = Locating::start(&mut locator, &mut addresses, &mut Located::default()).unwrap();
        let mut few = chains(0..5, true);
        locating.hand_over(&mut few, false);
        assert_eq!(few.len(), 5);
        let last = locating.id_of_next(4);
        let located = locating.take(&mut few);
        assert_eq!((located.len(), few.len()), (5, 0));
        assert!(located.taken_at(last).is_some() && located.taken_at(last.behind(1)).is_none());
        let (_, addresses, located) = locating.end(&mut few);
        assert!(located.is_empty() && !addresses.is_empty());
    }
}
