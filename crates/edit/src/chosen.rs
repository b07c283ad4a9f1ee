//! Samples chosen by names: of threads and binaries, as they were at the time of the sample.

use perffile::wire::record::kind;
use perffile::{Ordering, Recording, Result};
use readperf_session::{Moment, SampleMoment, Session};

/// Which samples stay, by names. Lists that are empty let everything through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Names of threads.
    pub comms: Vec<Box<[u8]>>,
    /// Short names or paths of the binaries that samples were taken in.
    pub dsos: Vec<Box<[u8]>>,
}

impl Names {
    /// Whether all pass.
    pub fn is_open(&self) -> bool {
        self.comms.is_empty() && self.dsos.is_empty()
    }

    fn passes(&self, session: &Session, sample: &SampleMoment<'_>) -> bool {
        let binary = || session.binary(sample.code.binary?);
        let among = |list: &[Box<[u8]>], name: &[u8]| list.iter().any(|wanted| **wanted == *name);
        (self.comms.is_empty() || among(&self.comms, session.comm(sample.comm)))
            && (self.dsos.is_empty()
                || binary().is_some_and(|binary| {
                    among(&self.dsos, &binary.short_name) || among(&self.dsos, &binary.name)
                }))
    }

    /// The samples of a recording that pass: all of it is read for that.
    ///
    /// # Errors
    /// A stream that has been read already.
    pub fn choose(&self, recording: &Recording) -> Result<Chosen> {
        let mut session = Session::new(recording.metadata());
        let (mut chosen, mut told) = (Chosen::default(), 0);
        let mut batches = recording.batches(Ordering::Time)?;
        while let Some(batch) = batches.next() {
            let features = &batches.metadata().features;
            // Build-ids of a pipe may come at any time; names do not depend on what is told twice.
            let bits = features.bits().count();
            if bits != std::mem::replace(&mut told, bits) {
                session.learn(features);
            }
            for event in batch.iter() {
                if let Moment::Sample(sample) = session.apply(&event)
                    && event.head().kind == kind::SAMPLE
                    && self.passes(&session, &sample)
                {
                    chosen.add(event.index());
                }
            }
        }
        Ok(chosen)
    }
}

/// Numbers of records, a bit each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    words: Vec<u64>,
}

impl Chosen {
    fn add(&mut self, index: u64) {
        let Ok(at) = usize::try_from(index / 64) else { return };
        if self.words.len() <= at {
            self.words.resize(at + 1, 0);
        }
        if let Some(word) = self.words.get_mut(at) {
            *word |= 1 << (index % 64);
        }
    }

    /// Whether the record with this number is one of them.
    pub fn has(&self, index: u64) -> bool {
        let word = usize::try_from(index / 64).ok().and_then(|at| self.words.get(at));
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}
