//! What of a jitdump file is of no use, in words.

use super::{JitDamage, JitDump};
use crate::machine::Machine;

/// `EM_NONE` of the ELF specification.
const NOT_TOLD: u32 = 0;

impl JitDump {
    /// Whether the code is for a machine. A dump that does not tell (CPython 3.13.0 leaves the field zero) is of a process that was
    /// recorded, so it is for the machine of the recording.
    pub fn is_for(&self, machine: Machine) -> bool {
        self.machine() == NOT_TOLD || machine.is_number(self.machine())
    }

    /// What of the file is not used and why: a phrase each, none if all is. `machines` are those of which recorded stacks may be,
    /// which are unwound by what the file tells of frames; empty if there are no such stacks.
    pub fn unused(&self, machines: &[Machine]) -> Vec<String> {
        let mut phrases = self.damage.phrases();
        let is_other = !machines.is_empty() && !machines.iter().any(|machine| self.is_for(*machine));
        if is_other && self.functions.iter().any(|function| function.unwinding.is_some()) {
            let number = self.machine();
            phrases.push(format!(
                "its call frame information is for another machine (ELF machine {number}) than the recording's"
            ));
        }
        phrases
    }
}

impl JitDamage {
    /// A phrase for each kind of damage.
    fn phrases(&self) -> Vec<String> {
        let counts = [
            (self.damaged_records, "damaged record", "damaged records"),
            (self.unknown_records, "record of an unknown kind", "records of unknown kinds"),
            (
                self.moves_of_nothing,
                "move of code that was never loaded",
                "moves of code that was never loaded",
            ),
            (
                self.unused_details,
                "record of source lines or frames that belongs to no code",
                "records of source lines or frames that belong to no code",
            ),
            (
                self.damaged_lines,
                "record of source lines with damaged names of files",
                "records of source lines with damaged names of files",
            ),
        ];
        let told = counts.into_iter().filter(|(count, ..)| *count > 0);
        let mut phrases: Vec<String> = told
            .map(|(count, one, many)| format!("{count} {}", if count == 1 { one } else { many }))
            .collect();
        if self.is_cut {
            phrases.push("the file ends within a record".to_owned());
        }
        phrases
    }
}
