//! From frame to frame.

use std::fmt;

use super::cache::Cache;
use super::fallback::{self, Guess};
use super::registers::Registers;
use super::rule::Failure;
use super::space::{BinaryId, Lookup, Mapping};
use super::stack::{Memory, Stack};
use super::store::Unwinder;
use crate::machine::Convention;

/// Where unwinding ended. Prints as a phrase in plain words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum End {
    /// At the function that started the thread: the stack is complete.
    Bottom,
    /// Above the part of the stack that was recorded.
    StackTruncated,
    /// In code that no table describes and that keeps no frame pointer. [`Unwinder::reason`] may know more.
    NoUnwindInfo {
        /// The binary; `None` for memory that no file backs, as generated code.
        binary: Option<BinaryId>,
    },
    /// At an address where no code is mapped.
    Unmapped,
    /// The frame that came out cannot be one.
    BadFrame,
    /// A register that is needed was not recorded.
    RegisterMissing,
    /// There are more frames than were asked for.
    TooDeep,
}

impl End {
    /// Whether frames are missing.
    pub fn is_truncated(self) -> bool {
        self != End::Bottom
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            End::Bottom => "complete",
            End::StackTruncated => "the recorded part of the stack ends",
            End::NoUnwindInfo { binary: Some(_) } => "no unwind tables for the code, and no frame pointer",
            End::NoUnwindInfo { binary: None } => {
                "generated code without a frame pointer, of whose frames no dump tells"
            }
            End::Unmapped => "no code is mapped at the address",
            End::BadFrame => "the unwind tables do not lead to a frame",
            End::RegisterMissing => "a register that is needed was not recorded",
            End::TooDeep => "more frames than were asked for",
        })
    }
}

impl From<Failure> for End {
    fn from(failure: Failure) -> End {
        match failure {
            Failure::StackTruncated => End::StackTruncated,
            Failure::RegisterMissing => End::RegisterMissing,
            Failure::BadFrame => End::BadFrame,
        }
    }
}

impl Unwinder {
    /// Unwinds a stack: `frames` gets the instruction pointer and then that of each caller, at most `max_frames` in all
    /// (127 is what perf shows by default), and the result says why there are no more.
    ///
    /// An address of a caller is that of the last byte of its call, not the return address behind it, so that it can be
    /// looked up as it is. `stack` begins where the stack pointer in `registers` points to. `lookup` says what code is
    /// mapped; it should not know memory that cannot be executed.
    pub fn unwind(
        &self,
        cache: &mut Cache,
        lookup: &impl Lookup,
        registers: &Registers,
        stack: Stack<'_>,
        max_frames: usize,
        frames: &mut Vec<u64>,
    ) -> End {
        frames.clear();
        let convention = registers.machine().convention();
        let start = registers.get(convention.sp).unwrap_or(0);
        let memory = Memory::new(stack, start, convention.word);
        let mut registers = registers.clone();
        // Whether the frame stands where it was interrupted, rather than behind a call.
        let mut is_exact = true;
        let mut mapping = Mapping { start: 0, end: 0, offset: 0, binary: None };
        loop {
            if frames.len() >= max_frames {
                return End::TooDeep;
            }
            let ip = if is_exact { registers.ip() } else { registers.ip().wrapping_sub(1) };
            frames.push(ip);
            // Callers mostly are in the same binary.
            if !mapping.covers(ip) {
                let Some(found) = lookup.find(ip) else { return End::Unmapped };
                mapping = found;
            }
            let machine = registers.machine();
            let number =
                mapping.binary.and_then(|binary| self.rule(cache, machine, binary, mapping.offset_of(ip)));
            let Some(rule) = number.and_then(|number| cache.rule_at(number)) else {
                match self.guess(cache, lookup, (&mut registers, &convention), &memory) {
                    Guess::Bottom => return End::Bottom,
                    Guess::Nothing => {
                        let binary = mapping.binary.filter(|binary| !self.is_generated(*binary));
                        return End::NoUnwindInfo { binary };
                    }
                    Guess::Caller | Guess::CallerIfDescribed => {}
                }
                is_exact = false;
                continue;
            };
            if rule.is_signal
                && let Some(last) = frames.last_mut()
            {
                // Nobody called it: the address is not that of a call.
                *last = registers.ip();
            }
            match rule.apply(&mut registers, &convention, &memory, is_exact) {
                Ok(Some(())) => is_exact = rule.is_signal,
                Ok(None) => return End::Bottom,
                Err(failure) => return failure.into(),
            }
        }
    }

    /// Follows the chain of frame pointers by one frame, as far as it can be believed.
    fn guess(
        &self,
        cache: &mut Cache,
        lookup: &impl Lookup,
        (registers, convention): (&mut Registers, &Convention),
        memory: &Memory<'_>,
    ) -> Guess {
        let guess = fallback::follow(registers, convention, memory, lookup);
        if guess != Guess::CallerIfDescribed {
            return guess;
        }
        let caller = registers.ip().wrapping_sub(1);
        let rule = lookup.find(caller).and_then(|mapping| {
            self.rule(cache, registers.machine(), mapping.binary?, mapping.offset_of(caller))
        });
        if rule.is_some() { Guess::Caller } else { Guess::Nothing }
    }
}
