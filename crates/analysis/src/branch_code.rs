//! The code that ran between recorded branches, instruction by instruction.

use crate::instructions::Instructions;
use crate::named_places::NamedPlaces;
use perffile::wire::branch::BranchFlags;
use readperf_profile::{AddressId, Addresses, Branch};
use readperf_session::{CodeAddress, CpuMode, Session};
use readperf_symbols::Code;

/// What happened on the way to a sample, as far as its branches and the binaries tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodeStep {
    /// An instruction.
    Instruction {
        /// Where it is.
        place: AddressId,
        /// Its bytes; none if there is no instruction.
        bytes: Box<[u8]>,
        /// The branch, if it is one that was recorded.
        jump: Option<Jump>,
        /// Whether its function is told if it is another one than that before.
        named: bool,
    },
    /// The code goes on here.
    At(AddressId),
    /// The instructions do not lead from the one branch to the next: another binary ran.
    Mismatch,
    /// A branch that was not recorded leads away.
    NotReached,
    /// There are more instructions than are shown.
    TooMany,
}

/// A recorded branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jump {
    /// What is known of it.
    pub flags: BranchFlags,
    /// How many instructions ran since the branch before, with this one; 0 if not known.
    pub number: u32,
}

/// Longest piece of code between two branches that is shown, and what is read behind its end, bytes: as perf does it.
const LONGEST: u64 = 16 * 1024 - BEHIND;
const BEHIND: u64 = 15;

/// Most steps to a sample. Hardware keeps some dozen branches; a record has room for thousands, each of which may lead through
/// the longest piece of code.
const MOST_STEPS: usize = 1 << 16;

/// How far behind the last branch the next one is looked for if the sample cannot have come from there, bytes.
const SEARCHED: u64 = 128;

/// Follows samples from branch to branch.
#[derive(Debug)]
pub struct BranchCode {
    instructions: Instructions,
    /// The places of the instructions.
    places: NamedPlaces,
}

/// A piece of code, and how far it goes.
struct Piece<'c> {
    code: &'c Code,
    start: CodeAddress,
    bytes: &'c [u8],
}

impl BranchCode {
    /// One that takes the bytes from here.
    pub fn new(instructions: Instructions) -> BranchCode {
        BranchCode { instructions, places: NamedPlaces::default() }
    }

    /// The places of all steps so far; their names have to be learned.
    pub fn places(&mut self) -> &mut NamedPlaces {
        &mut self.places
    }

    /// The steps that led to a sample: from its oldest branch, or the last few if `most` says so, to where it was taken.
    pub fn steps(
        &mut self,
        session: &Session,
        addresses: &Addresses,
        branches: &[Branch],
        taken_at: CodeAddress,
        most: Option<usize>,
    ) -> Vec<CodeStep> {
        let known = branches.len().min(most.map_or(usize::MAX, |most| most.saturating_add(1)));
        let located = branches.iter().take(known).filter_map(|branch| {
            let (from, to) = (addresses.get(branch.from)?, addresses.get(branch.to)?);
            Some((from, to, branch.flags))
        });
        let located: Vec<(CodeAddress, CodeAddress, BranchFlags)> = located.collect();
        let mut steps = Vec::new();
        let Some((oldest, mut to, flags)) = located.last().copied() else { return steps };
        // Of the oldest branch it is not known how the code got there.
        if let Some(piece) = piece(&mut self.instructions, session, oldest, oldest.ip) {
            piece.step(&mut self.places, 0, Some(Jump { flags, number: 0 }), &mut steps);
        }
        let mut newer = located.iter().rev().skip(1);
        while let Some((mut from, mut next, mut flags)) = newer.next().copied() {
            if steps.len() > MOST_STEPS {
                steps.push(CodeStep::TooMany);
                return steps;
            }
            // Ways into the kernel may be filtered out, of which the ways back are there.
            if is_block(to.ip, from.ip)
                && is_kernel(to.ip) != is_kernel(from.ip)
                && let Some(behind) = newer.next()
            {
                (from, next, flags) = *behind;
            }
            if let Some(piece) = piece(&mut self.instructions, session, to, from.ip) {
                piece.block(&mut self.places, from.ip, flags, &mut steps);
            }
            to = next;
        }
        if let Some((newest, _, flags)) = located.first()
            && newest.ip != taken_at.ip
            && !flags.abort()
        {
            self.last_steps(session, to, taken_at, &mut steps);
        }
        steps
    }

    /// The steps from the newest branch to the sample. Branches may be missing there.
    fn last_steps(
        &mut self,
        session: &Session,
        to: CodeAddress,
        taken_at: CodeAddress,
        steps: &mut Vec<CodeStep>,
    ) {
        let end = if taken_at.ip < to.ip { to.ip.saturating_add(SEARCHED) } else { taken_at.ip };
        let place = self.places.number(to);
        steps.push(CodeStep::At(place));
        let Some(piece_to) = piece(&mut self.instructions, session, to, end) else {
            let at = piece(&mut self.instructions, session, taken_at, taken_at.ip);
            if let Some(at) = at {
                // Its function is not told once more.
                let place = self.places.number(taken_at);
                steps.push(at.instruction(place, 0, None, false));
            }
            return;
        };
        let mut offset = 0;
        while offset <= end - to.ip {
            let place = self.places.number(behind(to, offset));
            let step = piece_to.instruction(place, offset, None, false);
            let CodeStep::Instruction { bytes, .. } = &step else { return };
            let length = bytes.len() as u64;
            let instruction = piece_to.code.first_of(bytes);
            let branches = instruction.is_some_and(|instruction| instruction.flow.leads_elsewhere());
            steps.push(step);
            if length == 0 {
                return;
            }
            if branches && to.ip.wrapping_add(offset) != taken_at.ip {
                steps.push(CodeStep::NotReached);
                return;
            }
            offset += length;
        }
    }
}

impl Piece<'_> {
    /// All instructions up to that of a branch.
    fn block(self, places: &mut NamedPlaces, end: u64, flags: BranchFlags, steps: &mut Vec<CodeStep>) {
        let mut number = 0;
        let mut offset = 0;
        while offset < self.bytes.len() as u64 {
            if self.start.ip.wrapping_add(offset) == end {
                number += 1;
                self.step(places, offset, Some(Jump { flags, number }), steps);
                break;
            }
            let length = self.step(places, offset, None, steps);
            if length == 0 {
                break;
            }
            offset += length;
            number += 1;
        }
        if offset != end - self.start.ip {
            steps.push(CodeStep::Mismatch);
        }
    }

    /// One instruction; says how long it is, 0 if it is none.
    fn step(
        &self,
        places: &mut NamedPlaces,
        offset: u64,
        jump: Option<Jump>,
        steps: &mut Vec<CodeStep>,
    ) -> u64 {
        let place = places.number(behind(self.start, offset));
        let step = self.instruction(place, offset, jump, true);
        let length = if let CodeStep::Instruction { bytes, .. } = &step { bytes.len() } else { 0 };
        steps.push(step);
        length as u64
    }

    fn instruction(
        &self,
        place: readperf_profile::AddressId,
        offset: u64,
        jump: Option<Jump>,
        named: bool,
    ) -> CodeStep {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.bytes.get(offset..));
        let first = self.code.first_of(rest.unwrap_or_default());
        let bytes = first.map_or(&[][..], |instruction| instruction.bytes).into();
        CodeStep::Instruction { place, bytes, jump, named }
    }
}

/// A place behind another, in the same binary.
fn behind(start: CodeAddress, offset: u64) -> CodeAddress {
    CodeAddress { address: start.address.wrapping_add(offset), ip: start.ip.wrapping_add(offset), ..start }
}

/// Kernels have the upper half of the addresses; there is no code to be read where they have not.
fn is_kernel(ip: u64) -> bool {
    ip >> 63 == 1
}

fn is_block(start: u64, end: u64) -> bool {
    start != 0 && end != 0
}

/// The bytes from a place to an address, and some behind.
fn piece<'c>(
    instructions: &'c mut Instructions,
    session: &Session,
    start: CodeAddress,
    end: u64,
) -> Option<Piece<'c>> {
    if !is_block(start.ip, end) || is_kernel(start.ip) != is_kernel(end) || start.mode != CpuMode::User {
        return None;
    }
    let length = end.checked_sub(start.ip).filter(|length| *length <= LONGEST)?;
    let code = instructions.code(session, &start)?;
    let bytes = code.bytes(start.address, length + BEHIND);
    (!bytes.is_empty()).then_some(Piece { code, start, bytes })
}
