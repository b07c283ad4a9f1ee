//! Looking up and adding up on a thread of its own, beside the one that reads.

use crate::addresses::Addresses;
use crate::gathered::Gathered;
use crate::locator::Locator;
use crate::placing::{Noted, Placing};
use crate::recorded_chains::RecordedChains;
use crate::rows::Origins;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

/// Pieces of work on the way: enough that neither side waits for the other when one takes longer.
const ON_THE_WAY: usize = 8;

/// Some samples, and what they recorded of where they were taken.
#[derive(Debug, Default)]
struct Work {
    noted: Noted,
    chains: RecordedChains,
}

/// What looks up and adds up.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    pub(crate) locator: Locator,
    pub(crate) addresses: Addresses,
    pub(crate) placing: Placing,
}

/// What the other thread is to do when it has looked up all.
#[derive(Debug)]
enum Then {
    /// Leave it as it is.
    Stop,
    /// Sort the rows, which come from these.
    Sort(Origins),
}

/// The other thread.
#[derive(Debug)]
pub(crate) struct LookingUp {
    /// Work goes there; there is no more when this end is gone.
    work: SyncSender<Work>,
    /// What was done comes back, to be filled again.
    done: Receiver<Work>,
    then: Sender<Then>,
    /// Where samples were taken, when all have been looked up.
    addresses: Receiver<(Locator, Addresses)>,
    thread: JoinHandle<Result<Gathered, Box<Placing>>>,
}

/// The other thread when it has looked up all.
#[derive(Debug)]
pub(crate) struct LookedUp {
    then: Sender<Then>,
    thread: JoinHandle<Result<Gathered, Box<Placing>>>,
}

/// A thread that sorts what has been added up.
#[derive(Debug)]
pub(crate) struct Sorting(JoinHandle<Result<Gathered, Box<Placing>>>);

impl LookingUp {
    /// Starts it.
    ///
    /// # Errors
    /// The system has no thread for it: the worker comes back.
    pub(crate) fn start(worker: Box<Worker>) -> Result<LookingUp, Box<Worker>> {
        let (work, to_do) = sync_channel(ON_THE_WAY);
        let (give_back, done) = channel();
        let (then, what_then) = channel();
        let (hand_out, addresses) = channel();
        let (begin, first) = channel();
        let thread = move || {
            let worker: Box<Worker> = first.recv().unwrap_or_default();
            let Worker { mut locator, mut addresses, mut placing } = *worker;
            for Work { mut noted, mut chains } in to_do {
                if !placing.add_up(&mut noted, &mut chains, &mut addresses) {
                    locator.locate(&mut addresses, &chains);
                    placing.place(&mut noted, locator.all());
                    locator.forget();
                    chains.clear();
                }
                // Nobody wants the last ones back.
                let _ = give_back.send(Work { noted, chains });
            }
            // Nobody waits for them if the reading has failed.
            let _ = hand_out.send((locator, addresses));
            match what_then.recv() {
                Ok(Then::Sort(origins)) => Ok(placing.end(origins).join()),
                Ok(Then::Stop) | Err(_) => Err(Box::new(placing)),
            }
        };
        let builder = thread::Builder::new().name("looking up".to_owned()).stack_size(2 << 20);
        let Ok(thread) = builder.spawn(thread) else { return Err(worker) };
        // That there is nobody to take it shows when the thread is joined.
        let _ = begin.send(worker);
        Ok(LookingUp { work, done, then, addresses, thread })
    }

    /// Hands samples over, and leaves none in their place. If they are few, they wait for more, unless these are the last.
    pub(crate) fn hand_over(&self, noted: &mut Noted, chains: &mut RecordedChains, are_last: bool) {
        if !chains.are_enough(are_last) {
            return;
        }
        let empty = || Work { noted: Noted::default(), chains: RecordedChains::new(chains.has_stacks) };
        let next = self.done.try_recv().unwrap_or_else(|_| empty());
        let work = Work {
            noted: std::mem::replace(noted, next.noted),
            chains: std::mem::replace(chains, next.chains),
        };
        // That there is nobody to take it shows when the thread is joined.
        let _ = self.work.send(work);
    }

    /// No sample follows: waits until all are looked up.
    pub(crate) fn end(self) -> (Locator, Addresses, LookedUp) {
        let LookingUp { work, done: _, then, addresses, thread } = self;
        drop(work);
        // If it is gone before its time, that shows when it is joined.
        let (locator, addresses) = addresses.recv().unwrap_or_default();
        (locator, addresses, LookedUp { then, thread })
    }
}

impl LookedUp {
    /// What takes samples in, to go on here.
    pub(crate) fn stop(self) -> Placing {
        // That there is nobody to take it shows below.
        let _ = self.then.send(Then::Stop);
        match self.thread.join() {
            Ok(stopped) => *stopped.err().unwrap_or_default(),
            Err(panic) => resume_unwind(panic),
        }
    }

    /// Has it sort the rows, while this thread does something else. `origins` are what these come from.
    pub(crate) fn sort(self, origins: Origins) -> Sorting {
        // That there is nobody to take them shows when the thread is joined.
        let _ = self.then.send(Then::Sort(origins));
        Sorting(self.thread)
    }
}

impl Sorting {
    /// Waits for it.
    pub(crate) fn join(self) -> Gathered {
        match self.0.join() {
            Ok(sorted) => sorted.unwrap_or_default(),
            Err(panic) => resume_unwind(panic),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::addresses::AddressId;
    use crate::build::Keep;
    use crate::codes::Codes;
    use crate::detail::DetailId;
    use crate::placing::How;
    use crate::recorded_chains::{ENOUGH, MOST_WORDS};
    use crate::rows::{NumberedRow, Origin};
    use crate::stacks::StackId;
    use readperf_session::{CpuMode, Session};

    const SAMPLES: u64 = 500;

    fn worker() -> Box<Worker> {
        let keep = Keep { stacks: true, ..Keep::default() };
        Box::new(Worker { placing: Placing::new(How { keep, ..How::default() }), ..Worker::default() })
    }

    fn origins() -> Origins {
        let mut origins = Origins::default();
        let comm = Session::default().add_comm(b"a");
        origins.number(Origin { event: 0, comm, thread: None, cpu: None });
        origins
    }

    /// The samples by their numbers: what is noted of them, and their chains, of which some come again.
    fn work(samples: std::ops::Range<u64>) -> (Noted, RecordedChains) {
        let words: Vec<[u64; 3]> = samples.clone().map(|nr| [nr % 70, nr % 7 + 1, nr % 3 + 1]).collect();
        let chains: Vec<(u64, CpuMode, &[u64], u32)> =
            words.iter().map(|words| (words[0], CpuMode::User, &words[..], 3)).collect();
        let mut noted = Noted::default();
        for period in samples {
            let (stack, address, detail) = (StackId::EMPTY, AddressId::NONE, DetailId::default());
            let row = NumberedRow { origin: 0, stack, address, detail, samples: 1, period };
            noted.push(row, None);
            noted.end_sample();
        }
        (noted, RecordedChains::for_test(&chains))
    }

    /// Looks up and takes in what follows, on this thread.
    fn go_on(worker: &mut Worker, samples: std::ops::Range<u64>) {
        let Worker { locator, addresses, placing } = worker;
        let (mut noted, chains) = work(samples);
        locator.locate(addresses, &chains);
        placing.place(&mut noted, locator.all());
        locator.forget();
    }

    /// What is looked up and added up if another thread does it for the samples in the middle.
    fn result(beside: std::ops::Range<u64>) -> (Codes, Gathered) {
        let mut worker = worker();
        go_on(&mut worker, 0..beside.start);
        let looking_up = LookingUp::start(worker).unwrap();
        for nr in beside.clone() {
            let (mut noted, mut chains) = work(nr..nr + 1);
            looking_up.hand_over(&mut noted, &mut chains, true);
            assert_eq!((noted.samples, noted.rows.len(), chains.len()), (0, 0, 0));
        }
        let (locator, addresses, looked_up) = looking_up.end();
        if beside.end == SAMPLES {
            return (addresses.as_slice().iter().collect(), looked_up.sort(origins()).join());
        }
        let mut worker = Worker { locator, addresses, placing: looked_up.stop() };
        go_on(&mut worker, beside.end..SAMPLES);
        (worker.addresses.as_slice().iter().collect(), worker.placing.end(origins()).join())
    }

    #[test]
    fn it_is_the_same_by_another_thread_all_the_time_or_for_a_while() {
        let (addresses, gathered) = result(0..0);
        assert_eq!(gathered.rows.iter().map(|row| row.samples).sum::<u64>(), SAMPLES);
        assert_eq!(gathered.rows.iter().map(|row| row.period).sum::<u64>(), SAMPLES * (SAMPLES - 1) / 2);
        assert!(gathered.rows.len() < 500, "some come again");
        for beside in [0..SAMPLES, 0..100, 77..300, 100..SAMPLES] {
            let (of_other, other) = result(beside.clone());
            assert_eq!(of_other.as_slice(), addresses.as_slice(), "{beside:?}");
            assert_eq!(other.stacks.nodes(), gathered.stacks.nodes(), "{beside:?}");
            assert!(other.rows.iter().eq(gathered.rows.iter()), "{beside:?}");
        }
    }

    #[test]
    fn a_few_wait_for_more() {
        let looking_up = LookingUp::start(worker()).unwrap();
        let (mut noted, mut chains) = work(0..ENOUGH as u64 - 1);
        looking_up.hand_over(&mut noted, &mut chains, false);
        assert_eq!(noted.samples as usize, ENOUGH - 1);
        let (mut noted, mut chains) = work(0..ENOUGH as u64);
        looking_up.hand_over(&mut noted, &mut chains, false);
        assert_eq!(noted.samples, 0);
        let words = vec![7; MOST_WORDS];
        let (mut noted, _) = work(0..1);
        let mut chains = RecordedChains::for_test(&[(7, CpuMode::User, &words, 1)]);
        looking_up.hand_over(&mut noted, &mut chains, false);
        assert_eq!((noted.samples, chains.len()), (0, 0), "one has very many words");
    }
}
