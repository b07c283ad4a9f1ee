//! Call chains whose user part comes later: PERF_RECORD_CALLCHAIN_DEFERRED, Linux 6.19.
//!
//! With `attr.defer_callchain` the kernel may leave out the user part of a chain and take it when the thread returns to user
//! mode, once for all samples it took meanwhile. Such a chain ends with a marker and a cookie
//! ([`deferred_cookie`](crate::wire::callchain::deferred_cookie)); a later record of the same thread brings the user part
//! under the same cookie. [`Joiner`] holds samples back until then.
//!
//! In order of time all this is done already: [`Batches`](crate::Batches) delivers such samples whole
//! ([`Event::was_joined`]), where their user part comes, which is also the moment whose mappings it needs. In the order of the
//! file the records are as they lie there.

use crate::event::Event;
use crate::wire::callchain::{self, Marker};
use crate::wire::record::{Record, kind};
use crate::wire::words::U64s;
use std::collections::{BTreeMap, VecDeque};

/// Most samples that are held back; the oldest is given up first.
const MOST_HELD: usize = 1 << 16;

/// What a [`Joiner`] does with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role<'b> {
    /// A sample whose user part comes later: to be held back.
    Waits {
        /// Its thread.
        tid: u32,
        /// The cookie that its user part will have.
        cookie: u64,
    },
    /// A user part: it releases the samples of its thread.
    Brings {
        /// Its thread.
        tid: u32,
        /// Its cookie.
        cookie: u64,
        /// The addresses, innermost first.
        user: U64s<'b>,
    },
    /// The end of a thread: its samples that still wait will get no user part.
    Ends {
        /// The thread.
        tid: u32,
    },
    /// Any other record: delivered as it is.
    Other,
}

impl<'b> Role<'b> {
    /// The role of a record, in the order of delivery. A sample without a thread id is not held back: nothing could release it.
    pub fn of(event: &Event<'b>) -> Role<'b> {
        match event.head().kind {
            kind::SAMPLE => Self::of_sample(event),
            kind::CALLCHAIN_DEFERRED => Self::of_user_part(event),
            kind::EXIT => Self::of_exit(event),
            _ => None,
        }
        .unwrap_or(Role::Other)
    }

    fn of_sample(event: &Event<'b>) -> Option<Role<'b>> {
        let sample = event.sample()?;
        let cookie = callchain::deferred_cookie(&event.event()?.attr, sample.callchain()?)?;
        Some(Role::Waits { tid: sample.tid()?, cookie })
    }

    fn of_exit(event: &Event<'b>) -> Option<Role<'b>> {
        let Ok((Record::Exit(exit), _)) = event.record() else { return None };
        Some(Role::Ends { tid: exit.tid })
    }

    fn of_user_part(event: &Event<'b>) -> Option<Role<'b>> {
        let Ok((Record::CallchainDeferred(part), _)) = event.record() else { return None };
        Some(Role::Brings { tid: event.sample_id()?.tid?, cookie: part.cookie, user: part.ips })
    }
}

/// Samples that wait for the user part of their chains. `T` is whatever the reader keeps of a sample.
///
/// All samples of a thread are released by its next CALLCHAIN_DEFERRED record: a cookie that is not met there will not come
/// any more.
#[derive(Debug)]
pub struct Joiner<T> {
    /// By thread id, in the order of their arrival; each with its number among all arrivals.
    held: BTreeMap<u32, VecDeque<HeldSample<T>>>,
    /// Thread id of every arrival that may still be held, oldest first.
    arrivals: VecDeque<(u64, u32)>,
    count: usize,
    next: u64,
    most: usize,
}

#[derive(Debug)]
struct HeldSample<T> {
    arrival: u64,
    cookie: u64,
    item: T,
}

/// A sample that is no longer held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released<'u, T> {
    /// What the reader kept of it.
    pub item: T,
    /// The user part of its chain, innermost first; `None` if it never came.
    pub user: Option<U64s<'u>>,
}

impl<T> Default for Joiner<T> {
    fn default() -> Self {
        Self::with_limit(MOST_HELD)
    }
}

impl<T> Joiner<T> {
    /// Holds back at most so many samples (at least one).
    pub fn with_limit(most: usize) -> Self {
        Joiner { held: BTreeMap::new(), arrivals: VecDeque::new(), count: 0, next: 0, most: most.max(1) }
    }

    /// How many samples wait.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no sample waits.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Holds a sample of a thread back. Gives up the oldest one if too many wait.
    pub fn hold(&mut self, tid: u32, cookie: u64, item: T) -> Option<Released<'static, T>> {
        let given_up = if self.count >= self.most { self.give_up_oldest() } else { None };
        let arrival = self.next;
        self.next += 1;
        self.held.entry(tid).or_default().push_back(HeldSample { arrival, cookie, item });
        self.arrivals.push_back((arrival, tid));
        self.count += 1;
        given_up
    }

    /// A CALLCHAIN_DEFERRED record of a thread: releases all its samples, in the order of their arrival; those with the
    /// record's cookie get its chain.
    pub fn release<'u>(&mut self, tid: u32, cookie: u64, user: U64s<'u>) -> Vec<Released<'u, T>> {
        let held = self.held.remove(&tid).unwrap_or_default();
        self.count -= held.len();
        self.forget_released();
        held.into_iter()
            .map(|held| Released { item: held.item, user: (held.cookie == cookie).then_some(user) })
            .collect()
    }

    /// The end of a thread: releases all its samples, in the order of their arrival, without user part.
    pub fn end(&mut self, tid: u32) -> Vec<Released<'static, T>> {
        let held = self.held.remove(&tid).unwrap_or_default();
        self.count -= held.len();
        self.forget_released();
        held.into_iter().map(|held| Released { item: held.item, user: None }).collect()
    }

    /// The end of the recording: releases all that still wait, in the order of their arrival.
    pub fn finish(&mut self) -> Vec<Released<'static, T>> {
        let mut left: Vec<HeldSample<T>> = std::mem::take(&mut self.held).into_values().flatten().collect();
        left.sort_by_key(|held| held.arrival);
        self.arrivals.clear();
        self.count = 0;
        left.into_iter().map(|held| Released { item: held.item, user: None }).collect()
    }

    /// Gives up the sample that waits longest.
    pub fn give_up_oldest(&mut self) -> Option<Released<'static, T>> {
        while let Some((arrival, tid)) = self.arrivals.pop_front() {
            let Some(queue) = self.held.get_mut(&tid) else { continue };
            if queue.front().is_some_and(|held| held.arrival == arrival) {
                let held = queue.pop_front()?;
                if queue.is_empty() {
                    self.held.remove(&tid);
                }
                self.count -= 1;
                return Some(Released { item: held.item, user: None });
            }
        }
        None
    }

    /// Keeps the list of arrivals from outgrowing what is held.
    fn forget_released(&mut self) {
        if self.arrivals.len() <= 2 * self.count + 64 {
            return;
        }
        let held = &self.held;
        self.arrivals.retain(|(arrival, tid)| {
            let oldest = held.get(tid).and_then(|queue| queue.front());
            oldest.is_some_and(|oldest| *arrival >= oldest.arrival)
        });
    }
}

/// The whole chain of a sample: its own part without marker and cookie, then a marker for user mode and the user part. A
/// sample whose user part never came has its own part only.
pub fn joined_chain<'c>(own: U64s<'c>, user: Option<U64s<'c>>) -> impl Iterator<Item = u64> + use<'c> {
    let own = own.iter().take(own.len().saturating_sub(2));
    // The deferred record begins with its own marker; the kernel may leave it out.
    let begins_with_marker = |user: &U64s<'_>| user.get(0).and_then(Marker::of).is_some();
    let marker = user.filter(|user| !begins_with_marker(user)).map(|_| Marker::USER.0);
    own.chain(marker).chain(user.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::attr::{AttrFlags, EventAttr};
    use crate::wire::endian::{ByteOrder, Le};
    use crate::wire::record::{Record, kind};

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn words(bytes: &[u8]) -> U64s<'_> {
        U64s::new(bytes, ByteOrder::Little)
    }

    /// -128, the context of the kernel, and -640, that of a deferred user part: `perf_event.h`.
    const KERNEL: u64 = 0xffff_ffff_ffff_ff80;
    const DEFERRED: u64 = 0xffff_ffff_ffff_fd80;

    #[test]
    fn a_chain_with_marker_and_cookie_is_deferred() {
        let deferring = EventAttr { flags: AttrFlags::defer_callchain, ..EventAttr::default() };
        let chain = bytes(&[KERNEL, 0x10, DEFERRED, 0xc00c1e]);
        assert_eq!(callchain::deferred_cookie(&deferring, words(&chain)), Some(0xc00c1e));
        // Without the flag the last entry is what it seems to be.
        assert_eq!(callchain::deferred_cookie(&EventAttr::default(), words(&chain)), None);
        for plain in [&[KERNEL, 0x10, 0x20][..], &[DEFERRED], &[]] {
            let plain = bytes(plain);
            assert_eq!(callchain::deferred_cookie(&deferring, words(&plain)), None);
        }
    }

    /// One event with `sample_type` TID, TIME, CALLCHAIN and the flags 18 `sample_id_all` and 38 `defer_callchain`; two
    /// samples of thread 7, of which one waits, and a user part with a trailer.
    fn recording() -> Vec<u8> {
        let attr = [64 << 32 | 1, 0, 1, 0x26, 0, 1 << 38 | 1 << 18, 0, 0];
        let record = |kind: u64, body: &[u64]| {
            let size = 8 + 8 * body.len() as u64;
            [&[size << 48 | 2 << 32 | kind][..], body].concat()
        };
        let thread = 7 << 32 | 7;
        let records = [
            record(9, &[thread, 1000, 4, KERNEL, 0x10, DEFERRED, 0xc00c1e]),
            record(9, &[thread, 1001, 2, KERNEL, 0x10]),
            record(22, &[0xc00c1e, 1, 0x400000, thread, 1002]),
        ]
        .concat();
        let head = [0x3245_4c49_4652_4550, 104, 80, 104, 80, 184, 8 * records.len() as u64, 0, 0, 0, 0, 0, 0];
        bytes(&[&head[..], &attr, &[0, 0], &records].concat())
    }

    #[test]
    fn records_of_a_recording_have_their_roles() {
        let recording = crate::Recording::from_bytes(crate::bytes::Bytes::new(recording())).unwrap();
        let mut roles = Vec::new();
        for batch in recording.batches(crate::Ordering::File).unwrap() {
            roles.extend(batch.iter().map(|event| match Role::of(&event) {
                Role::Brings { tid, cookie, user } => format!("{tid} brings {cookie:#x} {user:?}"),
                other => format!("{other:?}"),
            }));
        }
        assert_eq!(
            roles,
            ["Waits { tid: 7, cookie: 12586014 }", "Other", "7 brings 0xc00c1e [\"0x400000\"]",]
        );
    }

    #[test]
    fn the_record_of_the_thread_joins_by_cookie() {
        let mut joiner = Joiner::default();
        assert!(joiner.hold(7, 1, "old").is_none());
        assert!(joiner.hold(7, 2, "a").is_none());
        assert!(joiner.hold(8, 2, "other thread").is_none());
        assert!(joiner.hold(7, 2, "b").is_none());
        // A record as it lies in a recording: cookie, nr, ips.
        let body = bytes(&[2, 2, 0x400000, 0x400100]);
        let (record, rest) =
            Record::decode::<Le>(kind::CALLCHAIN_DEFERRED, &body, &Default::default(), 2).unwrap();
        let Record::CallchainDeferred(record) = record else { panic!("{record:?}") };
        assert!(rest.is_empty());
        let released = joiner.release(7, record.cookie, record.ips);
        let got: Vec<_> = released.iter().map(|one| (one.item, one.user.is_some())).collect();
        assert_eq!(got, [("old", false), ("a", true), ("b", true)]);
        let own = bytes(&[KERNEL, 0x10, DEFERRED, 2]);
        let chain: Vec<u64> = joined_chain(words(&own), released[1].user).collect();
        assert_eq!(chain, [KERNEL, 0x10, 0xffff_ffff_ffff_fe00, 0x400000, 0x400100]);
        assert_eq!(joined_chain(words(&own), None).collect::<Vec<_>>(), [KERNEL, 0x10]);
        assert_eq!(joiner.len(), 1);
        assert_eq!(joiner.finish(), [Released { item: "other thread", user: None }]);
        assert!(joiner.is_empty() && joiner.finish().is_empty());
    }

    #[test]
    fn a_user_part_with_its_own_marker_gets_no_second_one() {
        let (own, user) = (bytes(&[KERNEL, 0x10, DEFERRED, 2]), bytes(&[0xffff_ffff_ffff_fe00, 0x400000]));
        let chain: Vec<u64> = joined_chain(words(&own), Some(words(&user))).collect();
        assert_eq!(chain, [KERNEL, 0x10, 0xffff_ffff_ffff_fe00, 0x400000]);
    }

    #[test]
    fn the_oldest_is_given_up_first() {
        let mut joiner = Joiner::with_limit(2);
        assert!(joiner.hold(1, 9, 'a').is_none());
        assert!(joiner.hold(2, 9, 'b').is_none());
        let empty = U64s::default();
        assert_eq!(joiner.release(1, 9, empty).len(), 1);
        assert!(joiner.hold(3, 9, 'c').is_none());
        assert_eq!(joiner.hold(3, 9, 'd').map(|given_up| given_up.item), Some('b'));
        assert_eq!(joiner.len(), 2);
        let left: Vec<char> = joiner.finish().into_iter().map(|left| left.item).collect();
        assert_eq!(left, ['c', 'd']);
    }

    #[test]
    fn the_list_of_arrivals_stays_small() {
        let mut joiner = Joiner::default();
        for cookie in 0..10_000 {
            assert!(joiner.hold(1, cookie, cookie).is_none());
            assert_eq!(joiner.release(1, cookie, U64s::default()).len(), 1);
        }
        assert!(joiner.arrivals.len() < 100, "{}", joiner.arrivals.len());
    }
}
